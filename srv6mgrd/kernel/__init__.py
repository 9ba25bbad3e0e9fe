"""The kernel of one network namespace: the only code that changes it and writes /proc/sys."""
