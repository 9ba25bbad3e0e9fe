"""The packages on a whole Debian 13, in a virtual machine: ``make vm``."""
