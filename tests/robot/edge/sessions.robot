*** Settings ***
Documentation     Sessions with customers and between provider edges: how they come up, what passes, what a restart costs.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; red's customer at pe1 speaks BGP over an unnumbered link.
...               - [Ver] The other edge has the customer's routes as the policy leaves them, and packets arrive;
...               bgpd ends and comes back without a packet lost; gNMI, NETCONF and srv6ctl tell the state of a session.
...               - [Ref] RFC 9067, RFC 8950, RFC 4724, RFC 4271.

Resource          ../srv6.resource
Library           tests.robot.library.cli.Cli
Library           tests.robot.library.netconf.Netconf

Suite Setup       The VPN Is Up
Suite Teardown    Run Keywords    Configure    pe1    AND    Configure    pe2    AND    The VPN Has Converged
Test Teardown     End All Flows


*** Variables ***
${RED_BGP}     vrfs/vrf[name=red]/srv6mgr-bgp:bgp
${POLICIES}    srv6mgr-routing-policy:routing-policy
${SPEAKER}     srv6mgr-bgp:bgp
# Behind red's customer at pe1; it announces both.
${WANTED}      192.0.2.1
${UNWANTED}    198.51.100.1
@{CUSTOMER}
...            router bgp 65100
...            bgp router-id 192.0.2.1
...            no bgp ebgp-requires-policy
...            neighbor eth0 interface remote-as 65000
...            address-family ipv4 unicast
...            network ${WANTED}/32
...            network ${UNWANTED}/32

# robocop: off=LEN08
${SETS}        update ${POLICIES} {"defined-sets": {"prefix-sets": {"prefix-set": [{"name": "site-1", "prefix": [{"ip-prefix": "192.0.2.0/24", "mask-length-lower": 32}]}]}}}
${POLICY}      update ${POLICIES}/policy-definitions {"policy-definition": [{"name": "from-site-1", "statement": [{"sequence": 10, "conditions": {"match-prefix-set": "site-1"}, "actions": {"set-local-pref": 300, "set-community": {"community": ["65000:7"]}}}]}]}
${NEIGHBOR}    update ${RED_BGP} {"unnumbered-neighbor": [{"interface": "to-ce-red", "remote-as": 65100, "apply-policy": {"import-policy": "from-site-1"}}]}
${PLAIN}       update ${RED_BGP} {"unnumbered-neighbor": [{"interface": "to-ce-red", "remote-as": 65100}]}
${STATE}       ${RED_BGP}/unnumbered-neighbor[interface=to-ce-red]/state
${RESTART}     update ${SPEAKER} {"graceful-restart": {}}


*** Test Cases ***
A Policy Decides What The Other Edge Has Of A Customer
    [Setup]    The Customer Speaks BGP
    When Set    pe1    ${SETS}    ${POLICY}    ${NEIGHBOR}
    Then Wait For Traffic    ce-red2    ${WANTED}
    And No Ping Arrives    ce-red2    ${UNWANTED}
    And The Other Edge Has    ${WANTED}/32    locPrf    300
    And All Is Installed    pe1
    ${shown}    Ctl Shows    pe1    show policies
    And Should Be Equal    ${shown}[policies][0][applied-to]    ${{['import from to-ce-red of VRF red']}}
    [Teardown]    Run Keywords    Configure    pe1    AND    The Customer Is Silent    AND    The VPN Has Converged

The State Of A Session Is Reported As It Changes
    [Setup]    Run Keywords    Start Netconf    pe1    AND    The Customer Speaks BGP
    Given Set    pe1    ${PLAIN}
    And Subscribe    pe1    STREAM    ${STATE}/session-state on_change    ${STATE}/last-reset-reason on_change
    And Wait For Sync
    Then Reported Within    30    ${STATE}/session-state    established
    And Netconf Tells    pe1    <session-state>established</session-state>
    And The Session Is Shown    established
    When Stop Service    ce-red1    frr
    ${down}    Reported Otherwise Within    30    ${STATE}/session-state    established
    Then Should Contain Any    ${down}    idle    active    connect
    And Netconf Tells    pe1    <last-reset-reason>
    ${now}    Value Of    pe1    ${STATE}    state
    And Should Not Be Equal    ${now}[session-state]    established
    And Should Not Be Empty    ${now}[last-reset-reason]
    [Teardown]    Run Keywords    Unsubscribe    AND    Stop Netconf    pe1    AND    Configure    pe1    AND
    ...    The Customer Is Silent    AND    The VPN Has Converged

A Restart Of bgpd Loses No Packet
    [Setup]    Run Keywords    Set    pe1    ${RESTART}    AND    Set    pe2    ${RESTART}    AND    The VPN Has Converged
    Given Begin Flow    ce-red1    ${SITE2}
    And Begin Flow    ce-blue2    ${SITE1}
    ${daemons}    FRR Daemons    pe1
    When Kill Service    pe1    bgpd
    Then FRR Daemon Runs Again    pe1    bgpd    ${daemons}
    And The VPN Has Converged
    And No Packet Was Lost    ce-red1    ${SITE2}
    And No Packet Was Lost    ce-blue2    ${SITE1}


*** Keywords ***
The Customer Speaks BGP
    Run On    ce-red1    ip addr add ${WANTED}/32 dev lo && ip addr add ${UNWANTED}/32 dev lo
    Start Service    ce-red1    frr
    Vtysh Configures    ce-red1    @{CUSTOMER}

The Session Is Shown
    [Arguments]    ${state}
    ${shown}    Ctl Shows    pe1    show neighbors
    ${found}    Evaluate    [n for n in $shown['neighbors'] if n['neighbor'] == 'to-ce-red']
    Should Be Equal    ${found}[0][state]    ${state}

The Customer Is Silent
    Stop Service    ce-red1    frr
    Run On    ce-red1    ip addr del ${WANTED}/32 dev lo && ip addr del ${UNWANTED}/32 dev lo

The Other Edge Has
    [Documentation]    An attribute of the best path in red.
    [Arguments]    ${prefix}    ${attribute}    ${value}
    ${shown}    Run On    pe2    vtysh -c 'show bgp vrf red ipv4 unicast ${prefix} json'
    ${path}    Evaluate    json.loads($shown)['paths'][0]    modules=json
    Should Be Equal As Strings    ${path}[${attribute}]    ${value}
