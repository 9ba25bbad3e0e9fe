*** Settings ***
Documentation    The boundary of the SRv6 domain: no packet of a customer reaches a SID, however it is made.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] The two-PE VPN; the interfaces to p are declared core, and every other one is a customer.
...              - [Ver] Attack packets are dropped by the rule meant for them, and no SID counts them; ordinary
...              packets pass, those with extension headers too. What is changed by hand comes back, and foreign
...              tables are not touched. Interfaces outside of VRFs, attachment circuits of cross-connects and
...              interfaces that appear later are customers until they are declared core.
...              - [Ref] RFC 8754 section 5.1; RFC 8986 section 8.

Resource         srv6.resource
Library          tests.robot.library.attack.Attack

Suite Setup      The VPN Is Up
Test Teardown    End All Flows


*** Variables ***
${RED_PORT}     pe1 to-ce-red
${BLUE_PORT}    pe1 to-ce-blue
${RED_VRF}      vrfs/vrf[name=red]
${TO_SID}       to a SID
${SOURCED}      source routing
${FORGED}       as if encapsulated here
${HOOKED}       nft list chain ip6 srv6mgr boundary | grep -q "iifname != @core jump customer"
${FILTERS}      nft list chain ip6 srv6mgr customer | grep -c drop | grep -qx 3
${LISTED}       nft list set ip6 srv6mgr core | grep -q '"to-p"'
${CORE}         {"role": "core"}
${NO_ROUTES}    nstat -asz Ip6InNoRoutes | awk '/Ip6InNoRoutes/ { print $2 }'
${STANDS}       ${HOOKED} && ${FILTERS} && ${LISTED}


*** Test Cases ***
No Packet Of A Customer Reaches A SID
    [Template]    It Is Dropped
    # packet    rule
    a tunnel to a local SID               ${TO_SID}
    a tunnel to the other tenant's SID    ${TO_SID}
    a tunnel to a remote SID              ${TO_SID}
    a ping to a local SID                 ${TO_SID}
    a ping to an address of the block     ${TO_SID}
    a forged source to a local SID        ${TO_SID}
    a forged source to a remote SID       ${TO_SID}
    a forged source to a host             ${FORGED}
    source routing through a SID          ${TO_SID}
    source routing through a host         ${SOURCED}
    source routing through the router     ${SOURCED}
    source routing at its end             ${SOURCED}
    source routing behind options         ${SOURCED}
    source routing in a fragment          ${SOURCED}

Nor Does What A Tunnel Brings
    [Documentation]    A packet of the core to red's SID, in it one to blue's: red's SID counts it, blue's does not.
    [Template]    It Is Dropped Behind The SID
    # packet    rule
    a packet from the core to a SID in a SID    ${TO_SID}
    source routing from the core in a SID       ${SOURCED}

Ordinary Packets Pass
    [Setup]    Note Drops    pe1
    All Pings Arrive    ce-red1    ${SITE2}
    All Pings Arrive    ce-red1    ${SITE2_V6}
    Fragments Pass    ce-red1    ${SITE2_V6}
    It Passes    an ordinary packet
    It Passes    an ordinary packet with options
    It Passes    an ordinary packet with options, in a fragment
    [Teardown]    All Were Dropped    pe1    ${EMPTY}    0

Without The Filter They Get In
    [Documentation]    It is the filter that drops what the suite shows to be dropped.
    [Setup]    The Filter Is Off
    [Template]    It Gets In
    # packet    where
    a forged source to a local SID     pe1 ${BLUE1} 5
    a forged source to a remote SID    pe2 ${BLUE2} 5    pe1 ${BLUE1} 5
    a forged source to a host          pe2 ${RED2} 5
    source routing through a host      pe2 ${RED2} 5
    source routing behind options      pe2 ${RED2} 5
    source routing in a fragment       pe2 ${RED2} 5
    [Teardown]    Start Service    pe1    srv6mgrd

Behind The Filter The VRF Holds Them
    [Documentation]    With an address of his own a customer ends at the VRF's unreachable default, and at the unreachable
    ...    route to the SID that the VRF exports; gone those too, he gets in.
    [Setup]    The Filter Is Off
    Given It Is Unreachable    a tunnel to a local SID
    And It Is Unreachable    a tunnel to the other tenant's SID
    And It Is Unreachable    a tunnel to a remote SID
    When Run On    pe1    ip -6 route del vrf red unreachable default metric 4278198272
    Then It Is Unreachable    a tunnel to a local SID
    When Run On    pe1    ip -6 route del unreachable ${RED1} table 10 metric 4278198272
    Then It Gets In    a tunnel to a local SID    pe1 ${RED1} 5
    And It Gets In    a tunnel to the other tenant's SID    pe1 ${BLUE1} 5
    And It Gets In    a tunnel to a remote SID    pe2 ${RED2} 5    pe1 ${RED1} 5
    [Teardown]    Start Service    pe1    srv6mgrd

What Is Changed By Hand Comes Back Within A Second
    [Template]    It Comes Back
    nft delete table ip6 srv6mgr
    nft flush ruleset
    nft flush chain ip6 srv6mgr customer
    nft flush chain ip6 srv6mgr boundary
    nft insert rule ip6 srv6mgr boundary accept
    nft delete element ip6 srv6mgr core '{ "to-p" }'
    nft flush set ip6 srv6mgr sids
    nft add element ip6 srv6mgr core '{ "to-ce-red" }'

A Foreign Table Is Not Touched
    Given Run On
    ...    pe1
    ...    nft 'table ip6 theirs { set customers { type ifname; elements = { "eth9" } }; chain c { type filter hook prerouting priority raw; counter; }; }'
    And Run On    pe1    nft 'table inet filter { chain forward { type filter hook forward priority 0; iifname "eth9" drop; }; }'
    ${theirs}    Ruleset    pe1
    When Set    pe1    update vrfs/vrf[name=green] {"table-id": 30, "interface": ["eth9"]}
    And Run On    pe1    nft delete table ip6 srv6mgr
    And Wait Until Holds    pe1    ${STANDS}
    And Set    pe1    delete vrfs/vrf[name=green]
    And Restart Service    pe1    srv6mgrd
    ${after}    Ruleset    pe1
    Then Should Be Equal    ${after}    ${theirs}
    [Teardown]    Run On    pe1    nft delete table ip6 theirs; nft delete table inet filter

An Interface Is Covered Before It Exists
    [Documentation]    Nobody is there to notice that it appears; packets come in at once.
    Given Set    pe1    update vrfs/vrf[name=red] {"interface": ["late0"]}
    And Stop Service    pe1    srv6mgrd
    When Run On    pe1    ip link add late0 type veth peer name late1 && ip link set late0 up && ip link set late1 up
    Then It Is Dropped    a tunnel to the other tenant's SID    ${TO_SID}    pe1 late1    pe1 late0
    [Teardown]    Run Keywords
    ...    Start Service    pe1    srv6mgrd    AND
    ...    Configure    pe1    AND
    ...    Run On    pe1    ip link del late0

A Port That Somebody Puts Into The VRF Is Covered
    Given Run On    pe1    ip link add theirs0 type veth peer name theirs1 && ip link set theirs0 vrf red
    When Run On    pe1    ip link set theirs0 up && ip link set theirs1 up
    Then It Is Dropped    a forged source to a local SID    ${TO_SID}    pe1 theirs1    pe1 theirs0
    [Teardown]    Run On    pe1    ip link del theirs0

A Customer Outside Of VRFs Is Outside Of The Domain
    [Setup]    Blue's Port Is In No VRF
    It Is Dropped    a tunnel to a local SID    ${TO_SID}    ce-blue1 eth0    ${BLUE_PORT}
    It Is Dropped    source routing through a host    ${SOURCED}    ce-blue1 eth0    ${BLUE_PORT}
    [Teardown]    The VPN Is Up

A Declared Role Decides Outside Of VRFs
    [Setup]    Blue's Port Is In No VRF
    When Set    pe1    update interfaces/interface[name=to-ce-blue] ${CORE}
    And Wait For Status    pe1    interfaces/interface[name=to-ce-blue]    installed    ${EMPTY}
    Then It Gets In    a tunnel to a local SID    pe1 ${RED1} 5    from=ce-blue1 eth0    at=${BLUE_PORT}
    [Teardown]    The VPN Is Up

An Interface That Appears Later Is A Customer
    [Setup]    Run On    pe1    ip link add late0 type veth peer name late1 && ip link set late0 up && ip link set late1 up
    It Is Dropped    a tunnel to a local SID    ${TO_SID}    pe1 late1    pe1 late0
    [Teardown]    Run On    pe1    ip link del late0

After An Upgrade Only Attachment Circuits Are Closed
    [Documentation]    With default-role core, as an upgrade leaves it, interfaces of which nothing is said are open; the
    ...    interface of End.DX2 is a customer's all the same.
    [Setup]    Blue's Port Is In No VRF
    Given Set    pe1    update boundary {"default-role": "core"}
    And It Gets In    a tunnel to a local SID    pe1 ${RED1} 5    from=ce-blue1 eth0    at=${BLUE_PORT}
    When Set    pe1    update local-sids/sid[prefix=fcbb:0:1:d2::/64] {"locator": "MAIN", "behavior": "End.DX2", "interface": "to-ce-blue"}
    Then It Is Dropped    a tunnel to a local SID    ${TO_SID}    ce-blue1 eth0    ${BLUE_PORT}
    When Set    pe1    delete local-sids/sid[prefix=fcbb:0:1:d2::/64]    update boundary {"default-role": "customer"}
    Then It Is Dropped    a tunnel to a local SID    ${TO_SID}    ce-blue1 eth0    ${BLUE_PORT}
    [Teardown]    The VPN Is Up

The Core May Route By Source
    [Documentation]    An SRH through an address of pe1 that is no SID; processed on interfaces declared core alone.
    [Setup]    Run On    p    ip -6 route add 2001:db8::1 encap seg6 mode inline segs 2001:db8:1::1 via 2001:db8:1::1 metric 1
    Given Stop Service    pe1    srv6mgrd
    And Run On    pe1    sysctl -qw net.ipv6.conf.to-p.seg6_enabled=0 net.ipv6.conf.all.seg6_enabled=0
    And No Ping Arrives    p    2001:db8::1
    When Start Service    pe1    srv6mgrd
    Then All Pings Arrive    p    2001:db8::1
    [Teardown]    Run Keywords
    ...    Restart Service    pe1    srv6mgrd    AND
    ...    Run On    p    ip -6 route del 2001:db8::1 metric 1


*** Keywords ***
Blue's Port Is In No VRF
    Set    pe1    delete vrfs/vrf[name=blue]    delete local-sids/sid[prefix=${BLUE1}]

It Is Dropped
    [Arguments]    ${packet}    ${rule}    ${from}=ce-red1 eth0    ${at}=${RED_PORT}    @{counting}
    Given Note Drops    pe1
    And Note SIDs    pe1    pe2
    When Send    ${from}    ${packet}    ${at}    5
    Then All Were Dropped    pe1    ${rule}    5
    And SIDs Counted    @{counting}

It Is Dropped Behind The SID
    [Arguments]    ${packet}    ${rule}
    It Is Dropped    ${packet}    ${rule}    p to-pe1    pe1 to-p    pe1 ${RED1} 5

The Filter Is Off
    Stop Service    pe1    srv6mgrd
    Run On    pe1    nft delete table ip6 srv6mgr

It Gets In
    [Documentation]    The SIDs listed count it, no other does.
    [Arguments]    ${packet}    @{counting}    ${from}=ce-red1 eth0    ${at}=${RED_PORT}
    Given Note SIDs    pe1    pe2
    When Send    ${from}    ${packet}    ${at}    5
    Then SIDs Counted    @{counting}

It Is Unreachable
    [Arguments]    ${packet}
    ${before}    Run On    pe1    ${NO_ROUTES}
    Given Note SIDs    pe1    pe2
    When Send    ce-red1 eth0    ${packet}    ${RED_PORT}    5
    Then Wait Until Holds    pe1    test $(${NO_ROUTES}) -ge ${{int($before) + 5}}
    And SIDs Counted

It Passes
    [Documentation]    Echo requests of no program of ce-red1's: pe2's SID counts them, and pe1's the replies.
    [Arguments]    ${packet}
    It Gets In    ${packet}    pe2 ${RED2} 5    pe1 ${RED1} 5

Fragments Pass
    [Arguments]    ${from}    ${to}
    Run On    ${from}    ping -q -c5 -i0.1 -W1 -s4000 ${to}

It Comes Back
    [Arguments]    ${command}
    ${repairs}    Repairs Of    pe1    ${RED_VRF}
    When Run On    pe1    ${command}
    Then Wait Until Holds    pe1    ${STANDS}    1
    And Wait For Repair    pe1    ${RED_VRF}    ${repairs}
    And It Is Dropped    a forged source to a local SID    ${TO_SID}
    And All Pings Arrive    ce-red1    ${SITE2_V6}
