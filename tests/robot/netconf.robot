*** Settings ***
Documentation     The NETCONF door: an orchestrator (ncclient) on node p, over SSH with a key, port 830.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN, through the candidate of each provider edge.
...               - [Ver] The VPN carries traffic and is counted; what is not confirmed is undone on time, also when
...               srv6-netconfd and srv6mgrd are killed meanwhile, or with its session; gNMI waits for it, and the other
...               way round; refusals in words; strangers don't get in.
...               - [Ref] RFC 6241, RFC 6242; RFC 8341.

Resource          srv6.resource
Library           tests.robot.library.netconf.Netconf
Library           tests.robot.library.transactions.Transactions

Suite Setup       The VPN Is Up Over NETCONF
Suite Teardown    Stop Netconf    pe1    pe2
Test Teardown     End All Flows


*** Variables ***
${SID}      fcbb:0:1:70::/64
${OTHER}    fcbb:0:1:71::/64
${MORE}     update local-sids/sid[prefix=${OTHER}] {"locator": "MAIN", "behavior": "End"}


*** Test Cases ***
The VPN Carries Traffic And Is Counted
    Given Begin Flow    ce-red1    ${SITE2}
    ${before}    Packets By Netconf    pe2    ${RED2}
    When Wait For Traffic    ce-red1    ${SITE2}
    Then All Pings Arrive    ce-red1    ${SITE2}
    And Wait Until Keyword Succeeds    20 s    1 s    Counted More Than    pe2    ${RED2}    ${before}
    And No Packet Was Lost    ce-red1    ${SITE2}

What Is Not Confirmed Is Undone On Time
    Given Begin Flow    ce-red1    ${SITE2}
    And Remember The Network    pe1
    ${number}    A SID Awaits Confirmation    timeout=3
    Then Wait For SID    pe1    ${SID}
    And Set Has To Wait    pe1    it came through srv6-netconfd of root and awaits confirmation    ${MORE}
    And Wait For Transaction Status    pe1    ${number}    rolled-back
    And No SID    pe1    ${SID}
    And The Network Comes Back    pe1    VIDCOUNTER
    And No Packet Was Lost    ce-red1    ${SITE2}

What Is Confirmed Stays
    Given A SID Awaits Confirmation    timeout=600
    When Netconf    pe1    commit
    And Wait For SID    pe1    ${SID}
    Then Startup Has    pe1    ${SID}
    [Teardown]    Set    pe1    delete local-sids/sid[prefix=${SID}]

It Is Undone With Its Session
    ${number}    A SID Awaits Confirmation    timeout=600
    When End Netconf    pe1
    Then Wait For Transaction Status    pe1    ${number}    rolled-back
    And No SID    pe1    ${SID}

It Is Undone On Time When Both Daemons Were Killed
    ${number}    A SID Awaits Confirmation    timeout=4    persist=token
    When Kill Service    pe1    srv6-netconfd
    And Kill Service    pe1    srv6mgrd
    And End Netconf    pe1
    And Start Service    pe1    srv6mgrd
    And Start Service    pe1    srv6-netconfd
    Then Wait For Transaction Status    pe1    ${number}    rolled-back
    And No SID    pe1    ${SID}
    And All Is Installed    pe1

A Commit Of gNMI Is Waited For
    ${tree}    With SID    pe1    ${SID}
    Given Send RPC    pe1    commit    id=one    timeout=${600}    configuration=${tree}
    Then SID Edit Is Rejected    pe1    in-use    it came through rpc and awaits    ${OTHER}
    When Send RPC    pe1    cancel    id=one
    Then No SID    pe1    ${SID}

What Is Refused Changes Nothing
    SID Edit Is Rejected    pe1    operation-failed    outside locator MAIN    fcbb:0:9:1::/64
    No SID    pe1    fcbb:0:9:1::/64
    SID Edit Is Rejected    pe1    invalid-value    prefix 'nonsense' is no IPv6 prefix    nonsense

Strangers Don't Get In
    Login Is Rejected    pe1


*** Keywords ***
The VPN Is Up Over NETCONF
    FRR Is Whole    pe1
    FRR Is Whole    pe2
    Start Netconf    pe1    pe2
    Configure Over Netconf    pe1
    Configure Over Netconf    pe2
    The VPN Has Converged

A SID Awaits Confirmation
    [Arguments]    ${timeout}    ${persist}=${None}
    Edit SID    pe1    ${SID}
    Netconf    pe1    commit    confirmed=${True}    timeout=${timeout}    persist=${persist}
    ${made}    Last Transaction    pe1
    Should Be Equal    ${made}[status]    awaiting-confirmation
    Should Be Equal    ${made}[origin]    srv6-netconfd
    RETURN    ${made}[id]

Counted More Than
    [Arguments]    ${node}    ${prefix}    ${before}
    ${now}    Packets By Netconf    ${node}    ${prefix}
    Should Be True    ${now} > ${before}

No SID
    [Arguments]    ${node}    ${prefix}
    Wait Until Holds    ${node}    ! ip -6 route show table 8986 | grep -q "^${prefix} "    5
