*** Settings ***
Documentation    Other implementations of BGP in the place of pe2's FRR: ExaBGP, GoBGP.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] The two-PE VPN, another speaker at pe2.
...              - [Ver] Routes are understood both ways, packets arrive.
...              - [Ref] RFC 9252, RFC 8950.

Test Timeout     4 minutes
