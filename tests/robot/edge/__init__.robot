*** Settings ***
Documentation    A provider edge that customers hang on: their sessions, their routes, their interfaces, and policies.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] The two-PE VPN; each file adds to it what it is about.
...              - [Ver] Customers' packets and routes arrive, policies are seen at the peer, restarts lose no packet.
...              - [Ref] RFC 4364, RFC 9067, RFC 4724, RFC 8950.

Test Timeout     4 minutes
