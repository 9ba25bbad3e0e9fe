*** Settings ***
Documentation    Hostile clients, dead processes and full disks: the router goes on, and rejects what it can't serve.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] The two-PE VPN; each file harms pe1 in one way and restores it.
...              - [Ver] No packet lost, no commit half done, clear errors within the deadline, services back by themselves.
...              - [Ref] docs/security.md.

Test Timeout     4 minutes
