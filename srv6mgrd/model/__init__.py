"""Desired state: what the configuration declares, free of any I/O."""
