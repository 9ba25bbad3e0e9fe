"""Whether service functions let packets through: what is sent, and what is made of the answers."""
