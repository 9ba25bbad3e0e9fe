"""A change of many routers: its state machine (pure), the ports that it needs, and its executor."""
