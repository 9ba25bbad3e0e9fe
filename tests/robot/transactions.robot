*** Settings ***
Documentation    One commit clock for all doors: confirmed commits, history, rollback, and the configuration that a reboot begins with.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] The two-PE VPN; each test commits one more SID on pe1.
...              - [Ver] What is not confirmed is undone on time, once, also when srv6mgrd is killed meanwhile; edits
...              of others wait; the VPN loses no packet; past configurations are compared and gone back to; what is
...              committed outlives a reboot.
...              - [Ref] RFC 6241 section 8.4; gNMI specification, commit confirmed extension.

Resource         srv6.resource
Library          tests.robot.library.transactions.Transactions

Suite Setup      The VPN Is Up
Test Teardown    End All Flows


*** Variables ***
${SID}      fcbb:0:1:70::/64
${OTHER}    fcbb:0:1:71::/64
${MORE}     update local-sids/sid[prefix=${OTHER}] {"locator": "MAIN", "behavior": "End"}


*** Test Cases ***
What Is Not Confirmed Is Undone On Time
    Given Begin Flow    ce-red1    ${SITE2}
    And Remember The Network    pe1
    ${number}    A SID Awaits Confirmation    one    timeout=3
    Then Wait For SID    pe1    ${SID}
    And Wait For Transaction Status    pe1    ${number}    rolled-back
    And No SID    pe1    ${SID}
    And The Network Comes Back    pe1    VIDCOUNTER
    And No Packet Was Lost    ce-red1    ${SITE2}

What Is Confirmed Stays
    Given A SID Awaits Confirmation    one    timeout=600
    When Send RPC    pe1    confirm    id=one
    And Kill Service    pe1    srv6mgrd
    And Start Service    pe1    srv6mgrd
    Then Wait For SID    pe1    ${SID}
    And Startup Has    pe1    ${SID}
    And RPC Is Rejected    pe1    commit: no commit awaits confirmation    cancel    id=one
    [Teardown]    Set    pe1    delete local-sids/sid[prefix=${SID}]

A Killed Manager Undoes It On Time
    [Template]    It Is Undone When The Manager Was Killed And Came Back
    within the time
    after the time

Edits Of Others Wait
    Given A SID Awaits Confirmation    one    timeout=600
    Then Set Has To Wait    pe1    it came through rpc and awaits confirmation    ${MORE}
    And RPC Is Rejected    pe1    awaits confirmation    commit    id=two    configuration={}
    When Send RPC    pe1    cancel    id=one
    Then No SID    pe1    ${SID}
    And Set    pe1    ${MORE}
    And Wait For SID    pe1    ${OTHER}
    [Teardown]    Set    pe1    delete local-sids/sid[prefix=${OTHER}]

What Is Refused Leaves Nothing Pending
    ${bad}    With SID    pe1    fcbb:0:9:1::/64
    When RPC Is Rejected    pe1    outside locator MAIN    commit    id=one    configuration=${bad}
    Then Set    pe1    ${MORE}
    [Teardown]    Set    pe1    delete local-sids/sid[prefix=${OTHER}]

A Past Configuration Comes Back
    ${before}    Last Transaction    pe1
    Given Set    pe1    ${MORE}
    ${after}    Last Transaction    pe1
    Should Be Equal    ${after}[origin]    srv6-gnmid
    ${told}    Send RPC    pe1    compare    transaction=${before}[id]    other=${after}[id]
    Should Contain    ${told}[change][0][path]    sid[prefix='${OTHER}']
    When Send RPC    pe1    rollback    transaction=${before}[id]
    Then No SID    pe1    ${OTHER}
    And RPC Is Rejected    pe1    its configuration is not known    rollback    transaction=999999

What Is Committed Outlives A Reboot
    [Documentation]    sysrepo's running configuration lives in shared memory, which a reboot clears.
    Given Set    pe1    ${MORE}
    And Startup Has    pe1    ${OTHER}
    When Stop Service    pe1    srv6-gnmid
    And Stop Service    pe1    srv6mgrd
    And Run On    pe1    rm -f /dev/shm/sr_* && ip -6 route flush table 8986
    And Start Service    pe1    srv6mgrd
    And Start Service    pe1    srv6-gnmid
    Then Wait For SID    pe1    ${OTHER}
    And The VPN Has Converged
    [Teardown]    Set    pe1    delete local-sids/sid[prefix=${OTHER}]


*** Keywords ***
A SID Awaits Confirmation
    [Arguments]    ${id}    ${timeout}
    ${tree}    With SID    pe1    ${SID}
    Send RPC    pe1    commit    id=${id}    timeout=${{ int($timeout) }}    configuration=${tree}
    ${made}    Last Transaction    pe1
    Should Be Equal    ${made}[status]    awaiting-confirmation
    RETURN    ${made}[id]

No SID
    [Arguments]    ${node}    ${prefix}
    Wait Until Holds    ${node}    ! ip -6 route show table 8986 | grep -q "^${prefix} "    5

It Is Undone When The Manager Was Killed And Came Back
    [Arguments]    ${when}
    ${number}    A SID Awaits Confirmation    one    timeout=3
    ${now}    Run On    pe1    date +%s
    When Kill Service    pe1    srv6mgrd
    IF    '${when}' == 'after the time'
        Wait Until Holds    pe1    test $(date +%s) -gt $((${now} + 3))    10
    END
    And Start Service    pe1    srv6mgrd
    Then Wait For Transaction Status    pe1    ${number}    rolled-back
    And No SID    pe1    ${SID}
    And All Is Installed    pe1
