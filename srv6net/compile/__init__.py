"""Services, inventory and allocations to the configuration of each router. Pure."""
