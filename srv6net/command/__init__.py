"""srv6net, the command."""
