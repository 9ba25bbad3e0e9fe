"""Why packets to local SIDs are dropped: eBPF programs that run while errors are counted."""
