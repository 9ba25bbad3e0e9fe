"""Desired state to ordered actions. Pure: no I/O, no adapter is imported here."""
