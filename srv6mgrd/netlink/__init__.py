"""Netlink: packed messages, the socket, and the links that every reader of the kernel needs."""
