"""Access to sysrepo: sessions, changes, and the messages with which it rejects."""
