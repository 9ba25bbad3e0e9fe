"""Northbounds into sysrepo: sessions, changes, and the words in which it rejects."""
