*** Settings ***
Documentation     A password of BGP or key of OSPF is in FRR and in sysrepo's own files, a key of STAMP in the file of
...               srv6-stampd and there, and nowhere else.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; a neighbor of VRF red with a password; OSPF and OSPFv3 in it with keys; a path
...               to pe2 that is measured with a key.
...               User alice of pe1 is of the group srv6mgr.
...               - [Ver] No user without rights finds it in files, shared memory or command lines; it is in no log,
...               no output of srv6ctl and no row of Redis, whatever happens to it.
...               - [Ref] docs/security.md; RFC 8341 section 3.4.5.

Resource          fortress.resource
Library           tests.robot.library.access.Access
Library           tests.robot.library.netconf.Netconf
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

Nobody Finds A Key Of OSPF
    [Setup]    Run Keywords    Start Daemons    pe1    ospfd    ospf6d    AND    Start Netconf    pe1
    Given Run On    pe1    id -u alice || useradd --no-create-home -G srv6mgr alice
    When Set Keys    pe1
    Then FRR Has Keys    pe1
    And The Password Is Nowhere Else
    And No Command Prints Password    pe1
    And Northbounds Show No Password    pe1    alice
    And Support Bundle Has No Password    pe1
    When Vtysh Configures    pe1    interface to-ce-red    no ip ospf message-digest-key 7
    And Run On    pe1    srv6ctl reconcile
    Then FRR Has Keys    pe1
    When Set Keys    pe1    new
    And FRR Has Keys    pe1    new
    And Run On    pe1    srv6ctl rollback
    Then FRR Has Keys    pe1
    And The Password Is Nowhere Else
    [Teardown]    Run Keywords
    ...    Delete Keys    pe1    AND
    ...    Stop Daemons    pe1    ospfd    ospf6d    AND
    ...    Stop Netconf    pe1

Nobody Finds A Key Of STAMP
    [Setup]    A Path Can Be Measured
    Given Run On    pe1    id -u alice || useradd --no-create-home -G srv6mgr alice
    When Set Stamp Keys    pe1    pe2
    Then Stamp Path Is    pe1    up
    And The Password Is Nowhere Else
    And No User Finds Password    pe2
    And No Log Has Password    pe2
    And No Command Prints Password    pe1
    And Northbounds Show No Password    pe1    alice    STAMP
    And Support Bundle Has No Password    pe1
    When Set Stamp Keys    pe1    pe2    new
    And Stamp Path Is    pe1    up
    And Run On    pe1    srv6ctl rollback
    # The reflector has the new key still, and answers nobody with the old one.
    Then Stamp Path Is    pe1    down
    And The Password Is Nowhere Else
    And No Command Prints Password    pe1
    [Teardown]    Nothing Is Measured


*** Keywords ***
The Password Is Nowhere Else
    No User Finds Password    pe1
    No Shared Memory Is Open To All    pe1
    No Log Has Password    pe1
    Redis Has No Password    pe1

A Path Can Be Measured
    Start Service    pe1    srv6-stampd
    Start Service    pe2    srv6-stampd
    Start Netconf    pe1

Nothing Is Measured
    Delete Stamp Keys    pe1    pe2
    Stop Service    pe1    srv6-stampd
    Stop Service    pe2    srv6-stampd
    Stop Netconf    pe1
