"""srv6ctl: the operator's command line."""
