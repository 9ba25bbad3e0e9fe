"""The network of an intent in the lab: its topology, and who has to reach whom. Pure."""
