"""The apt repository, used by a bare Debian."""
