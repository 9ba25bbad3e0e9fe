"""Alarms (RFC 8632): states of resources that conditions raise and clear."""
