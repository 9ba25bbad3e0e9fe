"""Routers over gNMI: satisfies the Device of the transaction."""
