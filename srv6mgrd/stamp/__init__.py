"""Path measurement with STAMP (RFC 8762): srv6-stampd, and how srv6mgrd works with it."""
