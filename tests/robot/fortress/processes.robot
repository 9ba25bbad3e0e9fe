*** Settings ***
Documentation    A process that dies takes no packet and no configuration with it.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] The two-PE VPN; flows of both tenants at 50 packets per second.
...              - [Ver] No packet lost; network and counters as before; the next commit is installed.
...              - [Ref] docs/reconciler.md.

Resource         fortress.resource

Suite Setup      The VPN Is Up
Test Teardown    End All Flows


*** Variables ***
${SID}    fcbb:0:1:70::/64


*** Test Cases ***
All Management Dies At Once And No Packet Is Lost
    Given Remember The Network    pe1
    And Both Tenants Send
    When Kill Service    pe1    srv6mgrd
    And Kill Service    pe1    srv6-gnmid
    And Kill Service    pe1    redis
    And Start Routers    pe1
    Then All Is Installed    pe1
    And The Network Comes Back    pe1
    And No Tenant Lost A Packet
    And Set    pe1    update local-sids/sid[prefix=${SID}] {"locator": "MAIN", "behavior": "End"}
    And Wait For SID    pe1    ${SID}
    [Teardown]    Run Keywords    End All Flows    AND    Set    pe1    delete local-sids/sid[prefix=${SID}]
