"""Examples that run: configurations as a user would send them, and the demo."""
