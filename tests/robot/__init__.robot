*** Settings ***
Documentation    System suites of srv6mgr.
...
...              - [Top] lab/topologies/two-pe.toml: pe1 - p - pe2, tenants red and blue at both, with the
...              same addresses.
...              - [Cfg] All services run on both provider edges; each suite configures what it needs.
...              - [Ver] See the suites.
...              - [Ref] RFC 8986, RFC 9252, RFC 8754; gNMI specification 0.10.

Resource         srv6.resource

Suite Setup      Start Routers    pe1    pe2
Test Timeout     4 minutes
