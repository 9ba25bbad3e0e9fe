*** Settings ***
Documentation     A site behind two provider edges outlives one of them.
...
...               - [Top] ce1 behind pe1 and pe3, ce2 behind pe2, all provider edges at p.
...               - [Cfg] VRF red at each edge, full mesh of BGP with BFD; ce1 speaks BGP with both of its edges, pe3 is the
...               backup by policy.
...               - [Ver] pe1 ends: traffic goes by pe3, both ways; what is lost is counted and bounded by the
...               detection time of BFD. pe1 comes back: nothing is lost.
...               - [Ref] RFC 4364 section 4.1 (route distinguisher of each edge), RFC 5880, RFC 5883.

Resource          srv6.resource
Library           tests.robot.library.full_mesh.FullMesh
Library           tests.robot.library.page.Page
Library           tests.robot.library.service_state.ServiceStates

Suite Setup       The Site Is Behind Both
Suite Teardown    All Is As Before
Test Teardown     End All Flows


*** Variables ***
${SITE}        192.0.2.1
# BFD of FRR: 3 x 300 ms; a busy machine takes its time to go on.
${AT_MOST}     ${5.0}
${DEAF}        SEPARATOR=;
...            nft add table inet deaf
...            nft 'add chain inet deaf in { type filter hook prerouting priority -500 ; }'
...            nft add rule inet deaf in iifname to-pe1 drop
...            nft 'add chain inet deaf out { type filter hook postrouting priority 500 ; }'
...            nft add rule inet deaf out oifname to-pe1 drop
@{CUSTOMER}
...            router bgp 65100
...            bgp router-id 192.0.2.1
...            no bgp ebgp-requires-policy
...            neighbor 10.1.1.1 remote-as 65000
...            neighbor 10.1.1.1 bfd
...            neighbor 10.1.3.1 remote-as 65000
...            neighbor 10.1.3.1 bfd
...            address-family ipv4 unicast
...            network 192.0.2.1/32


*** Test Cases ***
Its Edges Report Nothing
    [Documentation]    The backup of a site is no fault of a service.
    FOR    ${name}    IN    pe1    pe2    pe3
        All Services Are Up    ${name}    60
        Services Stay Up    ${name}    ${3}
    END

A Route Reflector Is As Good As A Full Mesh
    [Documentation]    pe1 and pe3 know each other through pe2 alone.
    [Setup]    Pe2 Reflects
    Wait Until Keyword Succeeds    30 s    0.2 s    Run On    pe1
    ...    vtysh -c 'show bgp ipv4 vpn rd 65000:310 10.1.3.0/24' | grep 'Originator: 10.0.0.3'
    FOR    ${name}    IN    pe1    pe2    pe3
        All Services Are Up    ${name}    60
        Services Stay Up    ${name}    ${3}
    END
    [Teardown]    The Mesh Is Full

The Page That Explains It Is Right
    Follow Page    docs/howto/dual-home-a-site.md

An Edge That Ends Costs No More Than Its Detection
    Given Begin Flow    ce2    ${SITE}
    When The Edge Ends
    Then Wait Until Keyword Succeeds    60 s    0.2 s    The Path Ends At    fcbb:0:3:64::
    And Wait For Traffic    ce2    ${SITE}
    ${flow}    End Flow    ce2    ${SITE}
    Log To Console    \ \ lost ${flow.lost} of ${flow.sent}, ${flow.blocked} s
    And Should Be True    0 < ${flow.blocked} < ${AT_MOST}

An Edge That Comes Back Costs Nothing
    Given Begin Flow    ce2    ${SITE}
    When The Edge Is Back
    Then Wait For Session    pe2    2001:db8::1
    And Wait Until Keyword Succeeds    60 s    0.2 s    The Path Ends At    fcbb:0:1:64::
    And No Packet Was Lost    ce2    ${SITE}


*** Keywords ***
The Site Is Behind Both
    Start Routers    pe3
    FOR    ${name}    IN    pe1    pe2    pe3    ce1
        Start Bfdd    ${name}
    END
    Edges Are In A Full Mesh
    Start Service    ce1    frr
    Vtysh Configures    ce1    @{CUSTOMER}
    The Mesh Has Converged

Edges Are In A Full Mesh
    Configure Edge    ${1}    ${{[2, 3]}}    ${{{"address": "10.1.1.10", "remote-as": 65100, "bfd": True}}}
    Configure Edge    ${2}    ${{[1, 3]}}
    Configure Edge    ${3}    ${{[1, 2]}}    ${{{"address": "10.1.3.10", "remote-as": 65100, "bfd": True, "apply-policy": {"import-policy": "backup"}}}}

The Mesh Has Converged
    Wait For Traffic    ce2    ${SITE}
    Wait For Session    pe3    2001:db8::2
    Wait Until Keyword Succeeds    60 s    0.2 s    The Path Ends At    fcbb:0:1:64::
    BFD Watches All

Pe2 Reflects
    Set    pe1    delete bgp/neighbor[address=2001:db8::3]
    Set    pe3    delete bgp/neighbor[address=2001:db8::1]
    Set    pe2    update bgp/neighbor[address=2001:db8::1] {"route-reflector-client": true}
    Set    pe2    update bgp/neighbor[address=2001:db8::3] {"route-reflector-client": true}

The Mesh Is Full
    Edges Are In A Full Mesh
    The Mesh Has Converged

BFD Watches All
    Wait For Bfd    pe1    ${3}
    Wait For Bfd    pe2    ${2}
    Wait For Bfd    pe3    ${3}
    Wait For Bfd    ce1    ${2}

Start Bfdd
    [Arguments]    ${at}
    Run On    ${at}    mkdir -p /run/frr /var/tmp/frr && chown frr:frr /run/frr
    Run On    ${at}    /usr/lib/frr/bfdd -d --log file:/tmp/bfdd.log </dev/null >/tmp/bfdd.out 2>&1

The Path Ends At
    [Arguments]    ${sid}
    ${segments}    Encapsulated To    pe2    red    ${SITE}
    Should Be Equal    ${segments}    ${{[$sid]}}

The Edge Ends
    [Documentation]    Nothing of it arrives any more, and nothing that is sent to it.
    FOR    ${name}    IN    p    ce1
        Run On    ${name}    ${DEAF}
    END

The Edge Is Back
    FOR    ${name}    IN    p    ce1
        Run On    ${name}    nft delete table inet deaf
    END

All Is As Before
    FOR    ${name}    IN    pe1    pe2    pe3    ce1
        Run On    ${name}    kill $(cat /run/frr/bfdd.pid)
    END
    Stop Service    ce1    frr
    Stop Routers    pe3
