"""Replays with SONiC's own code, which is not in this repository."""
