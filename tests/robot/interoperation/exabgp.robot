*** Settings ***
Documentation     VPN routes exchanged with ExaBGP.
...
...               - [Top] pe1 - p - pe2; at pe2 ExaBGP speaks BGP in the place of FRR, beside pe2's SIDs.
...               - [Cfg] The two-PE VPN. ExaBGP announces red's prefixes of site 2, one with the function of the SID in
...               the label, one with the SID as a whole.
...               - [Ver] What it announces is a tunnel to its SID in pe1's VRF, and no other; what pe1 advertises
...               it decodes to the declared SID; packets sent by what each has understood arrive and are counted;
...               when its session ends, its tunnels go.
...               - [Ref] RFC 9252 sections 3.2.1 (SID structure), 4 (transposition), 5.1, 5.2; RFC 8950.

Resource          interoperation.resource
Library           tests.robot.library.exabgp.Exabgp

Suite Setup       Another Speaks For PE2
Suite Teardown    FRR Speaks For PE2


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
    [Documentation]    pe2 sends where the speaker says.
    [Setup]    Routes By What It Decoded
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
    When End Speaker    pe2
    Then Wait For No Tunnel    pe1    red    10.2.0.0/24
    And Wait For No Tunnel    pe1    red    fd00:2::/64
