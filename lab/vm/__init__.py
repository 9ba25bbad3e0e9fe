"""A Debian 13 as its installer leaves it, under QEMU: with its kernel and systemd as PID 1."""
