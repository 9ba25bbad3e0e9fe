"""srv6mgr: a declarative SRv6 service for Linux routers."""

__version__ = "0.2.0"
