"""The services that are wanted, and the routers that there are. Pure."""
