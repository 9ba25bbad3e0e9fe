"""The gNMI server (openconfig/reference, rpc/gnmi/gnmi-specification.md)."""
