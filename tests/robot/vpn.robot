*** Settings ***
Documentation    L3VPN over SRv6: two tenants with the same addresses between two provider edges.
...
...              - [Top] pe1 - p - pe2; tenants red and blue, one customer each at both sites.
...              - [Cfg] One gNMI Set per provider edge: locator, two VRFs with BGP, End.DT46 per VRF.
...              - [Ver] Packets pass per tenant and family, are counted exactly, and never reach the other
...              tenant; BGP carries the declared SIDs; SONiC's tables say the same; the same configuration
...              again writes nothing; a VRF goes and comes back beside a tenant that loses no packet.
...              - [Ref] RFC 8986 section 4.8 (End.DT46), RFC 9252 (BGP overlay services), RFC 4364 (VPN).

Resource         srv6.resource

Suite Setup      There Is No Configuration
Test Teardown    End All Flows


*** Variables ***
# An address of site 2 that exists in blue alone.
${BLUE_ONLY}    10.2.0.99
${RED_VRF}      {"table-id": 10, "interface": ["to-ce-red"], "srv6mgr-bgp:bgp": {"rd": "65000:110",
...             "import-rt": ["65000:10"], "export-rt": ["65000:10"], "export-sid": "${RED1}"}}
${RED_SID}      {"locator": "MAIN", "behavior": "End.DT46", "vrf": "red"}


*** Test Cases ***
One Set Configures Each Provider Edge
    When Configure    pe1
    And Configure    pe2
    Then The VPN Has Converged
    And SIDs In Kernel Are    pe1    ${RED1}    ${BLUE1}
    And SIDs In Kernel Are    pe2    ${RED2}    ${BLUE2}

BGP Advertises Exactly The Declared SID
    [Template]    The Advertised SID Is
    # at    RD           prefix         SID
    pe1     65000:110    10.1.0.0/24    fcbb:0:1:64::
    pe1     65000:110    fd00:1::/64    fcbb:0:1:64::
    pe1     65000:120    10.1.0.0/24    fcbb:0:1:c8::
    pe1     65000:120    fd00:1::/64    fcbb:0:1:c8::
    pe1     65000:210    10.2.0.0/24    fcbb:0:2:64::
    pe1     65000:210    fd00:2::/64    fcbb:0:2:64::
    pe1     65000:220    10.2.0.0/24    fcbb:0:2:c8::
    pe1     65000:220    fd00:2::/64    fcbb:0:2:c8::

Remote Prefixes Go Through The Declared SID
    [Template]    The Tunnel Ends At
    # at    VRF     prefix         SID
    pe1     red     10.2.0.0/24    fcbb:0:2:64::
    pe1     red     fd00:2::/64    fcbb:0:2:64::
    pe1     blue    10.2.0.0/24    fcbb:0:2:c8::
    pe1     blue    fd00:2::/64    fcbb:0:2:c8::
    pe2     red     10.1.0.0/24    fcbb:0:1:64::
    pe2     red     fd00:1::/64    fcbb:0:1:64::
    pe2     blue    10.1.0.0/24    fcbb:0:1:c8::
    pe2     blue    fd00:1::/64    fcbb:0:1:c8::

Packets Pass And Are Counted Exactly
    [Template]    Pings Are Counted
    # from      to             packets    SID of the requests    SID of the replies
    ce-red1     ${SITE2}       25         pe2 ${RED2}            pe1 ${RED1}
    ce-red1     ${SITE2_V6}    17         pe2 ${RED2}            pe1 ${RED1}
    ce-blue1    ${SITE2}       11         pe2 ${BLUE2}           pe1 ${BLUE1}
    ce-blue1    ${SITE2_V6}    30         pe2 ${BLUE2}           pe1 ${BLUE1}
    ce-red2     ${SITE1}       9          pe1 ${RED1}            pe2 ${RED2}
    ce-blue2    ${SITE1_V6}    13         pe1 ${BLUE1}           pe2 ${BLUE2}

Tenants Cannot Reach Each Other
    [Documentation]    pe2 tells red's host that the address is unreachable when it has found no neighbor, 3 s later;
    ...    these errors are packets through red's SID, too.
    Given Run On    ce-blue2    ip address add ${BLUE_ONLY}/32 dev lo
    When All Pings Arrive    ce-blue1    ${BLUE_ONLY}
    ${echoes}    Echoes Received By    ce-blue2
    Then No Ping Arrives    ce-red1    ${BLUE_ONLY}
    And All Pings Arrive    ce-red1    ${SITE2}
    ${after}    Echoes Received By    ce-blue2
    And Should Be Equal    ${after}    ${echoes}
    And Wait Until Holds    pe2    ! ip neighbor show to ${BLUE_ONLY} | grep INCOMPLETE    timeout=20
    [Teardown]    Run On    ce-blue2    ip address del ${BLUE_ONLY}/32 dev lo

Customers Cannot Reach SIDs
    [Documentation]    [Ref] RFC 8754 section 5.1: SIDs are for the SR domain.
    Given Note Counters    pe1 ${RED1}
    When No Ping Arrives    ce-red1    fcbb:0:1:64::
    Then Counted Since    pe1 ${RED1}    0

A Default Route Of The Underlay Leaves The SIDs Alone
    [Documentation]    Without a source address of ours nothing tells what the VRFs encapsulate from the rest.
    [Setup]    Run On    pe1    ip -6 route add default via 2001:db8:1::2
    When Set    pe1    delete encapsulation/source-address
    Then Pings Are Counted    ce-red1    ${SITE2}    5    pe2 ${RED2}    pe1 ${RED1}
    And Pings Are Counted    ce-red2    ${SITE1_V6}    5    pe1 ${RED1}    pe2 ${RED2}
    [Teardown]    Run Keywords
    ...    Run On    pe1    ip -6 route del default via 2001:db8:1::2    AND
    ...    Configure    pe1    AND
    ...    The VPN Has Converged

A Tunnel Leads Into Another VRF Of The Router
    [Documentation]    Red's packets to blue's host at site 2, by way of blue's SID at site 1, where the replies end up.
    Given Note Counters    pe1 ${BLUE1}    pe2 ${BLUE2}
    When Set
    ...    pe1
    ...    update segment-lists/segment-list[name=blue] {"segment": [{"index": 1, "sid": "fcbb:0:1:c8::"}]}
    ...    update vrfs/vrf[name=red] {"srv6mgr-steering:steering": {"route": [{"prefix": "${SITE2}/32", "segment-list": "blue", "behavior": "H.Encaps"}]}}
    And No Ping Arrives    ce-red1    ${SITE2}
    Then Counted Since    pe1 ${BLUE1}    6
    And Counted Since    pe2 ${BLUE2}    3
    [Teardown]    Configure    pe1

SONiC Finds Every SID
    [Template]    SONiC Shows The SID
    # at    SID        VRF
    pe1     ${RED1}    red
    pe1     ${BLUE1}    blue
    pe2     ${RED2}    red
    pe2     ${BLUE2}    blue

The Same Configuration Again Writes Nothing
    Given Remember The Network    pe2
    ${before}    Kernel Counters    pe2    ${RED2}
    And Begin To Listen    pe2
    When Configure    pe2
    Then Nothing Was Written    pe2
    And The Network Is Unchanged    pe2
    ${after}    Kernel Counters    pe2    ${RED2}
    And Should Be Equal    ${after}    ${before}
    And Should Be True    ${after.packets} > 0

A Deleted VRF Is Gone Everywhere
    ${daemons}    FRR Daemons    pe1
    Given Begin Flow    ce-blue1    ${SITE2}
    And Begin Flow    ce-blue1    ${SITE2_V6}
    When Set    pe1    delete vrfs/vrf[name=red]    delete local-sids/sid[prefix=${RED1}]
    Then SIDs In Kernel Are    pe1    ${BLUE1}
    And VRFs In Kernel Are    pe1    blue
    And Ports Of The VRF Are    pe1    red
    And FRR Knows Nothing Of    pe1    vrf red    65000:110
    And Wait For No Row Naming    pe1    red    ${RED1}
    And Wait For No Tunnel    pe2    red    10.1.0.0/24
    And Wait For No Tunnel    pe2    red    fd00:1::/64
    And No Packet Was Lost    ce-blue1    ${SITE2}
    And No Packet Was Lost    ce-blue1    ${SITE2_V6}
    And FRR Has Not Died    pe1    ${daemons}

A VRF That Comes Back Works Again
    Given Begin Flow    ce-blue1    ${SITE2}
    When Set    pe1    update vrfs/vrf[name=red] ${RED_VRF}    update local-sids/sid[prefix=${RED1}] ${RED_SID}
    Then The VPN Has Converged
    And Pings Are Counted    ce-red1    ${SITE2}    10    pe2 ${RED2}    pe1 ${RED1}
    And Pings Are Counted    ce-red1    ${SITE2_V6}    10    pe2 ${RED2}    pe1 ${RED1}
    And No Packet Was Lost    ce-blue1    ${SITE2}

Without Configuration Nothing Of Ours Is Left
    [Documentation]    Not set back are sysctls and the counter that object identifiers are taken from. The kernel
    ...    keeps the rule that came with the first VRF, zebra its next hops for a while.
    When Set    pe1    delete /srv6mgr-srv6:srv6
    Then The Network Comes Back    pe1    sysctls:    VIDCOUNTER    l3mdev    nexthops:

FRR Survives VRFs That Come And Go
    [Documentation]    zebra learns of VRF devices and of routes in two ways; neither order may harm it.
    Given FRR Is Whole    pe1
    ${daemons}    FRR Daemons    pe1
    FOR    ${_}    IN RANGE    5
        When Set    pe1    update vrfs/vrf[name=green] {"table-id": 30}
        And Set    pe1    delete vrfs/vrf[name=green]
    END
    Then FRR Has Not Died    pe1    ${daemons}


*** Keywords ***
There Is No Configuration
    [Documentation]    Nor is any tunnel left, whoever made it.
    Set    pe1    delete /srv6mgr-srv6:srv6
    Set    pe2    delete /srv6mgr-srv6:srv6
    Restart Service    pe1    frr
    Restart Service    pe2    frr
    FOR    ${at}    IN    pe1    pe2
        Wait Until Holds    ${at}    ! ip route show table all | grep -w segs    timeout=30
        Wait Until Holds    ${at}    ! ip -6 route show table all | grep -w segs    timeout=30
    END
    Remember The Network    pe1

SIDs In Kernel Are
    [Arguments]    ${at}    @{prefixes}
    ${found}    SIDs In Kernel    ${at}
    Should Be Equal    ${found}    ${prefixes}

VRFs In Kernel Are
    [Arguments]    ${at}    @{names}
    ${found}    VRF Devices    ${at}
    Should Be Equal    ${found}    ${names}

Ports Of The VRF Are
    [Arguments]    ${at}    ${vrf}    @{interfaces}
    ${found}    Ports Of    ${at}    ${vrf}
    Should Be Equal    ${found}    ${interfaces}

The Advertised SID Is
    [Arguments]    ${at}    ${rd}    ${prefix}    ${sid}
    ${found}    Advertised SIDs    ${at}    ${prefix}    ${rd}
    Should Be Equal    ${found}    ${{[$sid]}}

The Tunnel Ends At
    [Arguments]    ${at}    ${vrf}    ${prefix}    ${sid}
    ${segments}    Encapsulated To    ${at}    ${vrf}    ${prefix}
    Should Be Equal    ${segments}    ${{[$sid]}}

Pings Are Counted
    [Documentation]    So many echo requests have their replies; both SIDs on the way counted them, no more and no less.
    [Arguments]    ${from}    ${to}    ${packets}    ${request_sid}    ${reply_sid}
    Given Note Counters    ${request_sid}    ${reply_sid}
    When All Pings Arrive    ${from}    ${to}    ${packets}
    Then Counted Since    ${request_sid}    ${packets}
    And Counted Since    ${reply_sid}    ${packets}

SONiC Shows The SID
    [Arguments]    ${at}    ${prefix}    ${vrf}
    ${sid}    Evaluate    $prefix.partition("/")[0]
    ${row}    Orchagent Sees    ${at}    ${sid}
    VAR    &{expected}    lengths=32 16 16 0    action=end.dt46    vrf=${vrf}
    Should Be Equal    ${row}    ${expected}
    ${state}    State Row    ${at}    SRV6MGR_SID|${prefix}
    Should Be Equal    ${state}[status]    installed
    SONiC Tells The Same Counters    ${at}    ${prefix}

FRR Knows Nothing Of
    [Arguments]    ${at}    @{words}
    ${configuration}    Running Configuration    ${at}
    FOR    ${word}    IN    @{words}
        Should Not Contain    ${configuration}    ${word}
    END
