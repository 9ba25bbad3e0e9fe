*** Settings ***
Documentation    Routes of a VRF that do not come from BGP: declared through gNMI, carried out by FRR, seen in packets.
...
...              - [Top] The two-PE network; ce-red1 has networks of its own behind it.
...              - [Cfg] VPN of examples/l3vpn, and the routes of each case on pe1.
...              - [Ver] Packets from ce-red2; status over gNMI, sysrepo and srv6ctl; repair; exact words of what is rejected.
...              - [Ref] docs/routing.md; RFC 8349; RFC 5882 section 10.1.

Resource         ../srv6.resource
Library          tests.robot.library.cli.Cli

Suite Setup      The VPN Is Up


*** Variables ***
${RED}              vrfs/vrf[name=red]
${STATIC}           ${RED}/srv6mgr-routing:static-routes
${ROUTE}            ${STATIC}/route[prefix=10.9.0.0/24]
${VIA_CE}           {"next-hop": [{"index": 1, "address": "10.1.0.10"}], "tag": 7}
${VIA_NOBODY}       {"next-hop": [{"index": 1, "address": "10.99.0.1"}]}
${TRACKED}          {"next-hop": [{"index": 1, "address": "10.1.0.10", "bfd": true}]}
${EXPORT_STATIC}    update ${RED}/srv6mgr-bgp:bgp/redistribute {"static": true}
${NO_BFDD}          static route 10.9.0.0/24 of VRF red: FRR refused it: bfdd does not run, which BFD needs; set bfdd=yes in /etc/frr/daemons and restart FRR
${NO_WAY}           next hop 10.99.0.1 is not used: VRF red has no route to it

${BEHIND_BLUE}      update vrfs/vrf[name=blue]/srv6mgr-routing:static-routes/route[prefix=10.8.0.0/24] {"next-hop": [{"index": 1, "address": "10.1.0.10"}]}
${EXPORT_BLUE}      update vrfs/vrf[name=blue]/srv6mgr-bgp:bgp/redistribute {"static": true}
# robocop: off=LEN08
${SETS}             update srv6mgr-routing-policy:routing-policy/defined-sets {"prefix-sets": {"prefix-set": [{"name": "BEHIND", "prefix": [{"ip-prefix": "10.8.0.0/15", "mask-length-upper": 24}]}]}}
${POLICY}           update srv6mgr-routing-policy:routing-policy/policy-definitions/policy-definition[name=BEHIND] {"statement": [{"sequence": 10, "conditions": {"match-prefix-set": "BEHIND"}}, {"sequence": 20, "actions": {"policy-result": "reject-route"}}]}
${FROM_BLUE}        update ${RED}/srv6mgr-routing:route-leaking/import-from[vrf=blue] {"policy": "BEHIND"}
${FROM_RED}         update vrfs/vrf[name=blue]/srv6mgr-routing:route-leaking/import-from[vrf=red] {"policy": "BEHIND"}

${OSPF}             ${RED}/srv6mgr-ospf:ospf
${SPEAK}            update ${OSPF} {"router-id": "10.0.0.1", "interface": [{"name": "to-ce-red", "point-to-point": true}], "redistribute": {"bgp": true}}
${EXPORT_OSPF}      update ${RED}/srv6mgr-bgp:bgp/redistribute {"ospf": true}
${NO_OSPFD}         FRR ospfd 'interface to-ce-red': FRR refused it: ospfd does not run; set ospfd=yes in /etc/frr/daemons and restart FRR
${NO_NEIGHBOR}      no OSPF neighbor at to-ce-red


*** Test Cases ***
A Static Route Leads To A Customers Network And Is Exported
    [Setup]    Run On    ce-red1    ip address add 10.9.0.1/32 dev lo
    When Set    pe1    update ${ROUTE} ${VIA_CE}    ${EXPORT_STATIC}
    Then Wait For Status    pe1    ${ROUTE}    installed    timeout=30
    And Wait For Tunnels    pe2    red    10.9.0.0/24
    And Wait For Traffic    ce-red2    10.9.0.1
    And All Pings Arrive    ce-red2    10.9.0.1
    ${before}    Repairs Of    pe1    ${ROUTE}
    When Vtysh Configures    pe1    no ip route 10.9.0.0/24 10.1.0.10 tag 7 vrf red
    And Ctl    pe1    reconcile
    Then Wait For Repair    pe1    ${ROUTE}    ${before}    timeout=30
    And Wait For Traffic    ce-red2    10.9.0.1
    When Set    pe1    delete ${STATIC}
    Then Wait For No Tunnel    pe2    red    10.9.0.0/24
    ${left}    Running Configuration    pe1
    And Should Not Contain    ${left}    10.9.0.0/24
    [Teardown]    Run Keywords
    ...    The VPN Is Up    AND
    ...    Run On    ce-red1    ip address del 10.9.0.1/32 dev lo

A Static Route That Does Not Forward Says Why
    When Set    pe1    update ${ROUTE} ${VIA_NOBODY}
    Then Wait For Status    pe1    ${ROUTE}    pending    ${NO_WAY}    timeout=30
    ${shown}    Ctl Shows    pe1    show static-routes
    And Should Be Equal    ${shown}[static-routes][0][reason]    ${NO_WAY}
    ${stored}    Run On    pe1    sysrepocfg -X -d operational -f json -m srv6mgr-srv6
    And Should Contain    ${stored}    ${NO_WAY}
    When Set    pe1    update ${ROUTE} ${VIA_CE}
    Then Wait For Status    pe1    ${ROUTE}    installed    timeout=30
    [Teardown]    The VPN Is Up

Two Tenants Reach What Their VRFs Import From Each Other
    [Setup]    Run Keywords
    ...    Run On    ce-red1    ip address add 10.9.0.1/32 dev lo    AND
    ...    Run On    ce-blue1    ip address add 10.8.0.1/32 dev lo
    Given Set    pe1    update ${ROUTE} ${VIA_CE}    ${EXPORT_STATIC}    ${BEHIND_BLUE}    ${EXPORT_BLUE}
    And Wait For Status    pe1    ${ROUTE}    installed    timeout=30
    And Run Fails    ce-red1    ping -q -c 1 -W 1 -I 10.9.0.1 10.8.0.1
    When Set    pe1    ${SETS}    ${POLICY}    ${FROM_BLUE}    ${FROM_RED}
    Then Wait For Status    pe1    ${RED}/srv6mgr-routing:route-leaking/import-from[vrf=blue]    installed    timeout=30
    And Wait Until Keyword Succeeds    60 s    0.5 s    Run On    ce-red1    ping -q -c 3 -W 1 -I 10.9.0.1 10.8.0.1
    ${shown}    Ctl Shows    pe1    show leaks
    And Should Be Equal    ${shown}[leaks][1][policy]    BEHIND
    When Set    pe1    delete ${RED}/srv6mgr-routing:route-leaking
    Then Wait Until Keyword Succeeds    60 s    0.5 s    Run Fails    ce-red1    ping -q -c 1 -W 1 -I 10.9.0.1 10.8.0.1
    [Teardown]    Run Keywords
    ...    The VPN Is Up    AND
    ...    Run On    ce-red1    ip address del 10.9.0.1/32 dev lo    AND
    ...    Run On    ce-blue1    ip address del 10.8.0.1/32 dev lo

Sites Exchange Routes By OSPF    # robocop: off=LEN04
    [Setup]    Run On    ce-red1    ip address add 10.9.0.1/32 dev lo
    Given Set Is Rejected    pe1    ABORTED    ${NO_OSPFD}    ${SPEAK}
    When Start Daemons    pe1    ospfd
    And Set    pe1    ${SPEAK}    ${EXPORT_OSPF}
    Then Wait For Status    pe1    ${OSPF}    pending    ${NO_NEIGHBOR}    timeout=60
    When Start Daemons    ce-red1    mgmtd    zebra    ospfd
    And Vtysh Configures    ce-red1    router ospf    ospf router-id 10.9.0.1
    And Vtysh Configures    ce-red1    interface lo    ip ospf area 0
    And Vtysh Configures    ce-red1    interface eth0    ip ospf area 0    ip ospf network point-to-point
    Then Wait For Status    pe1    ${OSPF}    installed    timeout=90
    And Wait For Tunnels    pe2    red    10.9.0.1
    And Wait For Traffic    ce-red2    10.9.0.1
    And Wait Until Keyword Succeeds    60 s    0.5 s    Ospf Has Learned    ce-red1    10.2.0.0/24
    ${shown}    Ctl Shows    pe1    show ospf
    And Should Be Equal    ${shown}[ospf][0][install-status]    installed
    [Teardown]    Run Keywords
    ...    The VPN Is Up    AND
    ...    Stop Daemons    ce-red1    ospfd    zebra    mgmtd    AND
    ...    Stop Daemons    pe1    ospfd    AND
    ...    Run On    ce-red1    ip route flush proto ospf    AND
    ...    Run On    ce-red1    ip address del 10.9.0.1/32 dev lo

BFD Without Its Daemon Is Rejected
    Set Is Rejected    pe1    ABORTED    ${NO_BFDD}    update ${ROUTE} ${TRACKED}


*** Keywords ***
Ospf Has Learned
    [Arguments]    ${at}    ${prefix}
    ${routes}    Run On    ${at}    ip route show proto ospf
    Should Contain    ${routes}    ${prefix}
