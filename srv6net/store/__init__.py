"""Where revisions and transactions are kept."""
