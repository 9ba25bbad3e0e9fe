"""srv6net: a VPN over many provider edges, changed by one transaction (docs/srv6net.md)."""
