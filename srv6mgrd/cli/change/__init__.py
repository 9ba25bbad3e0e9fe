"""Commands that change the configuration, or show what a change would do."""
