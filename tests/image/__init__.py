"""The container image of a router, and the containerlab topology that uses it."""
