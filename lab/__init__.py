"""The lab: networks of Linux routers in a kernel of their own, as an ordinary process."""
