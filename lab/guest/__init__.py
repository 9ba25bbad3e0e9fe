"""What runs inside the lab: start-up, nodes, services. Standard library only."""
