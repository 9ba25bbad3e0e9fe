"""eBPF programs in the kernel: loading, pins, maps as bytes, links to tcx."""
