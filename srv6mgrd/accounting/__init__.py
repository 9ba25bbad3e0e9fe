"""Accounting of tunnelled packets: eBPF programs, their maps and hooks."""
