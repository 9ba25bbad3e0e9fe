"""SR proxies: eBPF programs, their maps and hooks."""
