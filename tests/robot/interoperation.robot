*** Settings ***
Documentation     VPN routes exchanged with a BGP speaker that is not FRR.
...
...               - [Top] pe1 - p - pe2; at pe2 ExaBGP speaks BGP in the place of FRR, beside pe2's SIDs.
...               - [Cfg] The two-PE VPN. ExaBGP announces red's prefixes of site 2, one with the function of the SID in
...               the label, one with the SID as a whole.
...               - [Ver] What ExaBGP announces is a tunnel to its SID in pe1's VRF, and no other; what pe1 advertises
...               ExaBGP decodes to the declared SID; packets sent by what each has understood arrive and are counted;
...               when its session ends, its tunnels go.
...               - [Ref] RFC 9252 sections 3.2.1 (SID structure), 4 (transposition), 5.1, 5.2; RFC 8950.

Resource          srv6.resource
Library           tests.robot.library.exabgp.Exabgp

Suite Setup       ExaBGP Speaks For PE2
Suite Teardown    FRR Speaks For PE2


*** Variables ***
${PE1}          2001:db8::1
${PE2}          2001:db8::2
${IN_LABEL}     10.2.0.0/24 65000:210 65000:10 ${PE2} fcbb:0:2:: 1600 32,16,16,0,16,48
${AS_WHOLE}     fd00:2::/64 65000:210 65000:10 ${PE2} fcbb:0:2:64:: 3 32,16,16,0,0,0
${NO_TARGET}    192.0.2.0/24 65000:210 65000:99 ${PE2} fcbb:0:2:: 1600 32,16,16,0,16,48


*** Test Cases ***
What It Announces Is A Tunnel To Its SID
    [Template]    The Tunnel Of Red Ends At
    10.2.0.0/24    fcbb:0:2:64::
    fd00:2::/64    fcbb:0:2:64::

What It Announces For Other Targets Is No Tunnel
    ${routes}    Run On    pe1    ip route show table all
    Should Not Contain    ${routes}    192.0.2.0/24

What We Advertise It Decodes To The Declared SID
    [Template]    It Decodes
    # RD         prefix         SID              route target
    65000:110    10.1.0.0/24    fcbb:0:1:64::    65000:10
    65000:110    fd00:1::/64    fcbb:0:1:64::    65000:10
    65000:120    10.1.0.0/24    fcbb:0:1:c8::    65000:20
    65000:120    fd00:1::/64    fcbb:0:1:c8::    65000:20

Packets Pass And Are Counted
    [Documentation]    pe2 sends where ExaBGP says.
    [Setup]    Routes By What ExaBGP Decoded
    [Template]    Red Is Reached And Counted
    ce-red1    ${SITE2}       12    pe2 ${RED2}    pe1 ${RED1}
    ce-red2    ${SITE1_V6}    14    pe1 ${RED1}    pe2 ${RED2}

Another SID Is Told
    When Set
    ...    pe1
    ...    update local-sids/sid[prefix=fcbb:0:1:77::/64] {"locator": "MAIN", "behavior": "End.DT46", "vrf": "red"}
    ...    update vrfs/vrf[name=red]/srv6mgr-bgp:bgp {"export-sid": "fcbb:0:1:77::/64"}
    Then Wait Until Keyword Succeeds    60 s    0.2 s    It Decodes    65000:110    10.1.0.0/24    fcbb:0:1:77::    65000:10
    [Teardown]    Configure    pe1

What It Announces No More Goes
    When End ExaBGP    pe2
    Then Wait For No Tunnel    pe1    red    10.2.0.0/24
    And Wait For No Tunnel    pe1    red    fd00:2::/64


*** Keywords ***
ExaBGP Speaks For PE2
    The VPN Is Up
    Stop Service    pe2    frr
    Wait For No Tunnel    pe1    red    10.2.0.0/24
    Start ExaBGP    pe2    ${PE1}    ${IN_LABEL}    ${AS_WHOLE}    ${NO_TARGET}
    Wait For Tunnels    pe1    red    @{SITE2_PREFIXES}

FRR Speaks For PE2
    [Documentation]    Routes by an interface of the underlay outlive the VRF whose table they are in.
    End ExaBGP    pe2
    Run On    pe2    ip route del 10.1.0.0/24 vrf red ; ip -6 route del fd00:1::/64 vrf red metric 1024 ; true
    Start Service    pe2    frr
    Configure    pe1
    The VPN Has Converged

The Tunnel Of Red Ends At
    [Arguments]    ${prefix}    ${sid}
    ${segments}    Encapsulated To    pe1    red    ${prefix}
    Should Be Equal    ${segments}    ${{[$sid]}}

It Decodes
    [Arguments]    ${rd}    ${prefix}    ${sid}    ${target}
    ${route}    ExaBGP Has Decoded    pe2    ${rd}    ${prefix}
    Should Be Equal    ${route.sid}    ${sid}
    Should Be Equal    ${route.behavior}    0x14
    Should Be Equal    ${route.next_hop}    ${PE1}
    Should Be Equal    ${route.target}    target:${target}

Routes By What ExaBGP Decoded
    ${v4}    ExaBGP Has Decoded    pe2    65000:110    10.1.0.0/24
    ${v6}    ExaBGP Has Decoded    pe2    65000:110    fd00:1::/64
    VAR    ${way}    via inet6 2001:db8:2::2 dev to-p
    Run On    pe2    ip route replace 10.1.0.0/24 vrf red encap seg6 mode encap segs ${v4.sid} ${way}
    Run On    pe2    ip -6 route replace fd00:1::/64 vrf red encap seg6 mode encap segs ${v6.sid} via 2001:db8:2::2 dev to-p

Red Is Reached And Counted
    [Arguments]    ${from}    ${to}    ${packets}    ${request_sid}    ${reply_sid}
    Given Wait For Traffic    ${from}    ${to}
    And Note Counters    ${request_sid}    ${reply_sid}
    When All Pings Arrive    ${from}    ${to}    ${packets}
    Then Counted Since    ${request_sid}    ${packets}
    And Counted Since    ${reply_sid}    ${packets}
