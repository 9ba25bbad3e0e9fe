*** Settings ***
Documentation     Who is nobody gets in nowhere, and keeps nobody else out.
...
...               - [Top] pe1 - p - pe2.
...               - [Cfg] The two-PE VPN; on pe1 user alice is of the group srv6mgr, user bob is not; p holds connections
...               that say nothing.
...               - [Ver] Sockets are closed to bob; alice reads and does not write; no name, no service; NETCONF over SSH
...               and gNMI go on beside 99 idle connections to each.
...               - [Ref] docs/security.md; RFC 8341 section 2; gNMI specification 3.1.

Library           tests.robot.library.access.Access
Library           tests.robot.library.credentials.Credentials
Library           tests.robot.library.netconf.Netconf
Resource          fortress.resource

Suite Setup       There Are Users
Suite Teardown    Stop Netconf    pe1


*** Variables ***
${GNMI}       /run/srv6mgr/gnmi.sock
${NETCONF}    /run/srv6mgr/netconf.sock


*** Test Cases ***
A User Outside The Group Does Not Connect
    [Template]    Socket Is Closed To
    pe1    bob    ${GNMI}
    pe1    bob    ${NETCONF}
    pe1    bob    /run/srv6mgr/netconf-tls.sock

A User Of The Group Is Under The Rules
    User Reads And Does Not Write    pe1    alice

Without A Name Nothing Is Served
    Nobody Gets In Without A Name    pe1

A Password Is Right Or Nobody Gets In
    [Documentation]    And guesses keep nobody waiting whose password was right.
    Given Passwords Are Asked For    pe1    carol=of carol
    Then A Password Is Right    pe1    carol    of carol
    And A Password Is Wrong    pe1    carol    of bob
    And A Password Is Wrong    pe1    dave    of carol
    And Guesses Delay Nobody    pe1    carol    of carol
    [Teardown]    Credentials Are As Before    pe1

A Certificate Names A User Or Nobody
    [Documentation]    One without a name is under no rule's user; one that was revoked is out on its open connection, too.
    Given Certificates Are Asked For    pe1    carol    dave
    Then Certificate Names    pe1    carol
    And Certificate Is Rejected    pe1    nobody
    When Revoke Certificate    pe1    carol
    Then Certificate Is Rejected    pe1    carol
    And Certificate Names    pe1    dave
    [Teardown]    Credentials Are As Before    pe1

Idle Connections Lock Nobody Out
    [Documentation]    99 of one host to sshd, and as many to gNMI on pe1 itself.
    Given Hold Idle Connections    pe2    2001:db8::1    830    99
    And Hold Idle Connections    pe1    127.0.0.1    9339    99
    When Netconf    pe1    get_config    source=running
    Then User Reads And Does Not Write    pe1    alice
    And Nobody Gets In Without A Name    pe1
    [Teardown]    Release Idle Connections


*** Keywords ***
There Are Users
    The VPN Is Up
    Start Netconf    pe1
    Add User    pe1    alice    srv6mgr
    Add User    pe1    bob
