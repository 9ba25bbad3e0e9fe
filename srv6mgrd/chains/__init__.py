"""Service function chains: eBPF programs that classify packets into them, their maps and hooks."""
