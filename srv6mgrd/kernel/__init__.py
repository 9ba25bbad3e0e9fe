"""The kernel of one network namespace: the only code that talks netlink and writes /proc/sys."""
