"""Counters and status of every declared object: sampled, accumulated, stored for readers."""
