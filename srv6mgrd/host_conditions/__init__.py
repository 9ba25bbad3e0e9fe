"""Conditions of the host that srv6mgr runs on: files, disks, certificates, daemons, the clock."""
