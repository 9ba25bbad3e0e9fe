"""Clients of a northbound: where it listens for them, how many it takes, and who they are."""
