*** Settings ***
Documentation     A BGP password is in FRR and in sysrepo's own files, and nowhere else.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; a neighbor of VRF red with a password.
...               - [Ver] No user without rights finds it in files, shared memory or command lines; it is in no log,
...               no output of srv6ctl and no row of Redis, whatever happens to it.
...               - [Ref] docs/security.md; RFC 8341 section 3.4.5.

Resource          fortress.resource
Library           tests.robot.library.secrets.Secrets

Suite Setup       The VPN Is Up
Suite Teardown    Set    pe1    delete vrfs/vrf[name=red]/bgp/neighbor[address=10.1.0.10]


*** Test Cases ***
Nobody Finds A Password
    When Set Password    pe1
    Then FRR Has Password    pe1
    And The Password Is Nowhere Else
    And No Command Prints Password    pe1

A Password That Drifts Is Put Back Without A Word Of It
    When Run On    pe1    vtysh -c 'configure' -c 'router bgp 65000 vrf red' -c 'neighbor 10.1.0.10 password Marker-of-a-secret-by-hand'
    And Run On    pe1    srv6ctl reconcile
    Then FRR Has Password    pe1
    And Log Says    pe1    srv6mgrd    repaired: frr bgpd router bgp 65000 vrf red
    And The Password Is Nowhere Else

A Password That Is Rolled Back Is Not Shown
    When Set Password    pe1    -new
    And FRR Has Password    pe1    -new
    And Run On    pe1    srv6ctl rollback
    Then FRR Has Password    pe1
    And The Password Is Nowhere Else

Shared Memory Is Closed After A Restart
    When Restart Service    pe1    srv6mgrd
    And Restart Service    pe1    srv6-gnmid
    Then All Is Installed    pe1
    And No Shared Memory Is Open To All    pe1
    And No User Finds Password    pe1


*** Keywords ***
The Password Is Nowhere Else
    No User Finds Password    pe1
    No Shared Memory Is Open To All    pe1
    No Log Has Password    pe1
    Redis Has No Password    pe1
