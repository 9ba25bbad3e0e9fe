"""Conditions of this host: files, disks, certificates, daemons, tunnels, the clock."""
