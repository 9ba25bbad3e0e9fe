"""Whether each VRF and each SID carries packets, judged from evidence. Pure."""
