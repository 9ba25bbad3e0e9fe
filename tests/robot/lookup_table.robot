*** Settings ***
Documentation     What a VRF encapsulates by a route of BGP leaves the VRF: by rules, or by the table that the route names.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN. FRR is the distribution's, then the patched one, then the other one again.
...               - [Ver] Rules 989 and 990 are there unless each route of BGP names its table, and never come after a
...               route that needs them. Packets arrive either way; with either, srv6mgrd has nothing to write.
...               - [Ref] net/ipv6/seg6_iptunnel.c (SEG6_IPTUNNEL_TABLE), docs/adr/0036.

Resource          srv6.resource

Suite Setup       Run Keywords    Both FRRs Are There    AND    The Kernel Takes Tables    pe1    AND    The VPN Is Up
Suite Teardown    Both Run    stock
Test Teardown     End All Flows


*** Variables ***
${RULES}       ip -6 rule show | grep -q "^989:.*proto 86" && ip -6 rule show | grep -q "^990:.*proto 86"
${NO_RULES}    ! ip -6 rule show | grep -qE "^(989|990):"
${SILENT}      srv6ctl reconcile | grep -q "nothing to repair"
${OFFERED}     srv6ctl show capabilities --json | grep -q '"frr-lookup-table"'


*** Test Cases ***
Stock FRR Needs The Rules
    Run On    pe1    ${RULES}
    Run On    pe2    ${RULES}
    Packets Arrive

Patched FRR Needs No Rules
    When Both Run    patched
    Then The VPN Has Converged
    And Wait Until Holds    pe1    ${NO_RULES}    30
    And Wait Until Holds    pe2    ${NO_RULES}    30
    And Packets Arrive
    And Nothing Is Left To Do
    And Wait Until Holds    pe1    ${OFFERED}    10

A Killed Manager Writes Nothing When It Comes Back
    Given Begin Flow    ce-red1    ${SITE2}
    And Begin To Listen    pe1
    When Kill Service    pe1    srv6mgrd
    And Start Service    pe1    srv6mgrd
    Then All Is Installed    pe1
    And Nothing Was Written    pe1
    And No Packet Was Lost    ce-red1    ${SITE2}

A Killed zebra Has The Rules Come And Go
    [Documentation]    Its routes stay in the kernel until another zebra removes them.
    ${before}    FRR Daemons    pe1
    When Kill Service    pe1    zebra
    And FRR Daemon Runs Again    pe1    zebra    ${before}
    Then The VPN Has Converged
    And Wait Until Holds    pe1    ${NO_RULES}    30
    And Packets Arrive
    And Nothing Is Left To Do

Another FRR Finds The Rules
    [Documentation]    They are back before it has a route that needs them.
    When Stop Service    pe1    frr
    Then Wait Until Holds    pe1    ${RULES}    30
    Given Use FRR    pe1    stock
    When Start Service    pe1    frr
    Then The VPN Has Converged
    And Run On    pe1    ${RULES}
    And Packets Arrive
    And Wait Until Holds    pe1    ! ${OFFERED}    10
    And Nothing Is Left To Do

Another FRR In One Go Gets The Rules First
    Given Use FRR    pe2    stock
    And Begin To Listen    pe2
    When Restart Service    pe2    frr
    Then The VPN Has Converged
    And Was Written Before    pe2    lookup main proto 86    table 10 proto bgp
    And Packets Arrive


*** Keywords ***
Both Run
    [Arguments]    ${which}
    FOR    ${router}    IN    pe1    pe2
        Stop Service    ${router}    frr
        Use FRR    ${router}    ${which}
        Start Service    ${router}    frr
    END

Packets Arrive
    [Documentation]    Of both tenants and families, from both sites.
    All Pings Arrive    ce-red1    ${SITE2}
    All Pings Arrive    ce-red1    ${SITE2_V6}
    All Pings Arrive    ce-blue2    ${SITE1}
    All Pings Arrive    ce-blue2    ${SITE1_V6}

Nothing Is Left To Do
    Run On    pe1    ${SILENT}
    Run On    pe2    ${SILENT}
