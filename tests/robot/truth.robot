*** Settings ***
Documentation     srv6mgrd knows whether services work: each breakage is reported in time, and over when it is repaired.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN.
...               - [Ver] Each row of a table breaks one thing, and names the type and severity of the condition and the state of
...               VRF red on pe1; the condition has cause and remedy, comes within 5 s, and goes when the thing is repaired.
...               What is healthy stays up.
...               - [Ref] docs/service-state.md; RFC 8632.

Resource          srv6.resource
Library           String
Library           tests.robot.library.cli.Cli
Library           tests.robot.library.service_state.ServiceStates

Suite Setup       Run Keywords    The VPN Is Up    AND    All Services Are Up    pe1    90
Suite Teardown    Log The Slowest Report


*** Variables ***
# What goes with an interface that is set down.
${CORE_OF_PE1}      SEPARATOR=
...                 ip link set to-p up; ip -6 address replace 2001:db8:1::1/64 dev to-p nodad;
...                 for to in 2001:db8::2/128 2001:db8:2::/64 fcbb:0:2::/48; do
...                 ${SPACE}until ip -6 route replace $to via 2001:db8:1::2; do sleep 0.1; done; done
${CORE_OF_P}        SEPARATOR=
...                 ip link set to-pe1 up; ip -6 address replace 2001:db8:1::2/64 dev to-pe1 nodad;
...                 for to in 2001:db8::1/128 fcbb:0:1::/48; do until ip -6 route replace $to via 2001:db8:1::1; do sleep 0.1; done; done
${FAR_CORE_OF_P}    SEPARATOR=
...                 ip link set to-pe2 up; ip -6 address replace 2001:db8:2::2/64 dev to-pe2 nodad;
...                 for to in 2001:db8::2/128 fcbb:0:2::/48; do until ip -6 route replace $to via 2001:db8:2::1; do sleep 0.1; done; done
${SITE_OF_RED}      SEPARATOR=
...                 ip link set to-ce-red up; ip address replace 10.1.0.1/24 dev to-ce-red;
...                 ip -6 address replace fd00:1::1/64 dev to-ce-red nodad
${SITE_OF_BLUE}     SEPARATOR=
...                 ip link set to-ce-blue up; ip address replace 10.1.0.1/24 dev to-ce-blue;
...                 ip -6 address replace fd00:1::1/64 dev to-ce-blue nodad
${SITE_OF_CE}       SEPARATOR=
...                 ip link set eth0 up; ip -6 address replace fd00:1::10/64 dev eth0 nodad;
...                 ip -6 route replace default via fd00:1::1; ip route replace default via 10.1.0.1
${LOOPBACK}         ip link set lo up; ip -6 address replace 2001:db8::1/128 dev lo nodad; ip -6 address replace ::1/128 dev lo nodad
${TWO_PATHS}        nexthop via 2001:db8:1::2 nexthop via 2001:db8:1::22
${LOCATOR}          fcbb:0:2::/48 via 2001:db8:1::2
${PEER}             vtysh -c 'conf t' -c 'router bgp 65000' -c
${NO_ROUTE}         remote-sid-unreachable major down
${NO_ANSWER}        routing-daemon-down minor degraded
${NO_WAY_BACK}      locator-unreachable critical down
${NO_PEER}          bgp-neighbor-unreachable minor degraded
${SILENT}           bgp-neighbor-unreachable critical down
${DROP_ALL}         nft 'table ip6 silent { chain f { type filter hook forward priority 0; policy drop; }; }'
${DROP_ECHOES}      SEPARATOR=
...                 nft 'table ip6 silent { chain f { type filter hook input priority 0; icmpv6 type echo-request drop; }; }'
${NO_RED}           vrf-interface-down major down
${STAMP}            srv6mgr-path-measurement:path-measurement
${STATIC}           vrfs/vrf[name=red]/srv6mgr-routing:static-routes/route[prefix=192.0.2.0/24]
${NEW_VRF}          update vrfs/vrf[name=new] {"table-id": 31, "srv6mgr-bgp:bgp": {"rd": "65000:131", "import-rt": ["65000:31"], "export-rt": ["65000:31"]}}


*** Test Cases ***
The Core Breaks
    [Documentation]    Each row: the node, what is done to it, what is reported, what repairs it.
    [Template]    It Is Reported
    pe1    ip link set to-p down    core-interface-down critical down    ${CORE_OF_PE1}
    p    ip link set to-pe1 down    core-interface-down critical down    ${CORE_OF_P}

The Underlay Has No Route
    [Template]    It Is Reported
    pe1    ip -6 route del fcbb:0:2::/48    ${NO_ROUTE}    ip -6 route replace ${LOCATOR}
    pe1    ip -6 route replace unreachable fcbb:0:2::/48    ${NO_ROUTE}    ip -6 route del unreachable fcbb:0:2::/48; ip -6 route replace ${LOCATOR}
    pe1    ip -6 route add unreachable fcbb:0:2:64::/64    ${NO_ROUTE}    ip -6 route del unreachable fcbb:0:2:64::/64
    pe1    ip -6 route add blackhole fcbb:0:2:64::/64    ${NO_ROUTE}    ip -6 route del blackhole fcbb:0:2:64::/64
    pe1    ip -6 route add prohibit fcbb:0:2:64::/64    ${NO_ROUTE}    ip -6 route del prohibit fcbb:0:2:64::/64
    pe1    ip -6 route add unreachable fcbb:0:2::/49    ${NO_ROUTE}    ip -6 route del unreachable fcbb:0:2::/49
    pe1    ip -6 route add blackhole fcbb:0:2:64::/128    ${NO_ROUTE}    ip -6 route del blackhole fcbb:0:2:64::/128
    pe1    ip -6 rule add pref 500 to fcbb:0:2::/48 unreachable    ${NO_ROUTE}    ip -6 rule del pref 500
    pe1    ip -6 rule add pref 500 to fcbb:0:2::/48 blackhole    ${NO_ROUTE}    ip -6 rule del pref 500
    pe1    ip -6 rule add pref 500 to fcbb:0:2::/48 prohibit    ${NO_ROUTE}    ip -6 rule del pref 500
    pe1    ip -6 rule add pref 500 from 2001:db8::1 to fcbb:0:2::/48 unreachable    ${NO_ROUTE}    ip -6 rule del pref 500
    pe1    ip -6 route add unreachable 2001:db8::2/128 metric 1    ${NO_PEER}    ip -6 route del unreachable 2001:db8::2/128 metric 1
    pe1    ip -6 route del 2001:db8::2/128    ${NO_PEER}    ip -6 route replace 2001:db8::2/128 via 2001:db8:1::2

The Core Has No Way Back
    [Template]    It Is Reported
    p    ip -6 route del fcbb:0:1::/48    ${NO_WAY_BACK}    ip -6 route replace fcbb:0:1::/48 via 2001:db8:1::1
    pe2    ip -6 route add blackhole fcbb:0:1::/48 metric 1    ${NO_WAY_BACK}    ip -6 route del blackhole fcbb:0:1::/48 metric 1

The Core Is Silent
    [Documentation]    Links stay up and BGP sessions last for their hold time. Nothing arrives from the other edge.
    [Template]    It Is Reported And Becomes Certain
    p    ${DROP_ALL}    ${SILENT}    nft delete table ip6 silent
    pe1    tc qdisc add dev to-p root netem loss 100%    ${SILENT}    tc qdisc del dev to-p root
    pe1    ip -6 neigh replace 2001:db8:1::2 lladdr 02:00:00:00:00:99 dev to-p nud permanent    ${SILENT}    ip -6 neigh del 2001:db8:1::2 dev to-p
    p    ip link set to-pe2 down    ${SILENT}    ${FAR_CORE_OF_P}

An Edge That Answers No Echo Carries Traffic
    [Documentation]    It filters them, and customers notice nothing: no VRF is reported as down.
    [Setup]    Run On    ce-red1    ping -i 0.2 ${SITE2} > /dev/null 2>&1 < /dev/null & echo $! > /tmp/ping
    When Run On    pe2    ${DROP_ECHOES}
    Then Condition Is Reported    pe1    bgp-neighbor-unreachable    minor    red=degraded    blue=degraded
    And No VRF Goes Down    pe1    ${4}
    [Teardown]    Run Keywords    Run On    pe2    nft delete table ip6 silent
    ...    AND    Run On    ce-red1    kill $(cat /tmp/ping)
    ...    AND    All Services Are Up    pe1    60

The Core Gets Narrow
    [Template]    It Is Reported
    pe1    ip link set to-p mtu 1400    core-mtu-too-small minor degraded    ip link set to-p mtu 9000
    pe1    ip -6 route replace ${LOCATOR} mtu 1400    core-mtu-too-small minor degraded    ip -6 route replace ${LOCATOR}
    pe1    ip -6 route add fcbb:0:2:64::/64 via 2001:db8:1::2 mtu 1400    core-mtu-too-small minor degraded    ip -6 route del fcbb:0:2:64::/64
    pe1    ip link set to-p mtu 1550    core-mtu-too-small warning up    ip link set to-p mtu 9000

BGP Breaks
    [Template]    It Is Reported
    pe1    ip address del 2001:db8::1/128 dev lo    bgp-next-hop-lost critical down    ip address add 2001:db8::1/128 dev lo
    pe1    ip link set lo down    bgp-next-hop-lost critical down    ${LOOPBACK}
    pe2    ${PEER} 'neighbor 2001:db8::1 shutdown'    bgp-session-down critical down    ${PEER} 'no neighbor 2001:db8::1 shutdown'
    pe2    ip address del 2001:db8::2/128 dev lo    route-unresolved major down    ip address add 2001:db8::2/128 dev lo
    pe1    ${PEER} 'neighbor 2001:db8::2 shutdown'    bgp-session-down critical down    ${PEER} 'no neighbor 2001:db8::2 shutdown'

A Daemon Of FRR Dies
    [Documentation]    Each row: the router, its daemon, what is reported.
    [Template]    Its Death Is Reported
    pe1    bgpd    routing-daemon-down critical down
    pe2    bgpd    bgp-session-down critical down
    pe1    zebra    routing-daemon-down minor degraded

The Daemon Of Static Routes Dies
    [Documentation]    Only FRR knows, which is asked now and then; watchfrr would start it again before.
    [Setup]    A Static Route Is Installed
    Given Kill Service    pe1    watchfrr
    When Kill Service    pe1    staticd
    Then Condition Is Reported Within    ${20}    pe1    not-installed    minor    red=degraded
    [Teardown]    The Static Route And Its Daemon Are As Before

A Daemon Of FRR Hangs
    [Documentation]    Its sockets are there, and nobody answers.
    [Template]    It Is Reported
    pe1    kill -STOP $(cat /run/frr/bgpd.pid)    ${NO_ANSWER}    kill -CONT $(cat /run/frr/bgpd.pid)
    pe1    kill -STOP $(cat /run/frr/zebra.pid)    ${NO_ANSWER}    kill -CONT $(cat /run/frr/zebra.pid)

A Customer Is Cut Off
    [Template]    It Is Reported
    pe1    ip link set to-ce-red down    ${NO_RED}    ${SITE_OF_RED}
    pe1    ip link set to-ce-blue down    vrf-interface-down major up    ${SITE_OF_BLUE}
    ce-blue1    ip link set eth0 down    vrf-interface-down major up    ${SITE_OF_CE}
    ce-red1    ip link set eth0 down    ${NO_RED}    ${SITE_OF_CE}
    pe1    ip link set to-ce-red down; ip link set to-ce-red name gone    ${NO_RED}    ip link set gone name to-ce-red; ${SITE_OF_RED}
    pe1    ip link set to-ce-red nomaster; ip link set to-ce-red down    ${NO_RED}    ${SITE_OF_RED}

Something Foreign Is In The Way
    [Template]    It Is Reported
    pe1    ip -6 route add blackhole ${RED1} table 8986 metric 7    not-installed major down    ip -6 route del ${RED1} table 8986 metric 7
    pe1    sysctl -w net.ipv4.conf.all.rp_filter=1    not-installed major down    sysctl -w net.ipv4.conf.all.rp_filter=0
    pe1    ip -6 rule add pref 100 to ${RED1} blackhole    not-installed minor degraded    ip -6 rule del pref 100

What A SID Sends To Is Gone
    [Setup]    A SID Sends To A Customer
    [Template]    It Is Reported
    ce-blue1    ip link set eth0 down    next-hop-unreachable major up    ${SITE_OF_CE}
    [Teardown]    Set    pe1    delete local-sids/sid[prefix=fcbb:0:1:2::/64]

A Measured Path Breaks
    [Setup]    The Path Is Measured
    [Template]    It Is Reported And Becomes Certain
    p    ip link set to-pe2 down    path-down minor down    ${FAR_CORE_OF_P}
    p    ip -6 route del 2001:db8::1/128    path-down minor degraded    ip -6 route replace 2001:db8::1/128 via 2001:db8:1::1
    p    ip -6 route add unreachable 2001:db8::2/128 metric 1    path-down minor down    ip -6 route del unreachable 2001:db8::2/128 metric 1
    [Teardown]    The Path Is Measured No More

A Switch That Forwarding Needs Is Put Back
    [Template]    It Is Put Back
    net.ipv4.ip_forward    1
    net.ipv6.conf.all.forwarding    1
    net.ipv4.conf.red.rp_filter    0

The Host Breaks
    [Documentation]    Each row: a service of pe1, and the alarm.
    [Template]    Its Absence Is An Alarm
    redis    redis-unreachable minor
    srv6-gnmid    daemon-down minor

The Command Line Ends By The State Of Services
    When Run On    pe1    ip link set to-ce-red down
    And Condition Is Reported    pe1    vrf-interface-down    major    red=down
    ${report}    Ctl Ends With    pe1    2    doctor --quiet
    Then Should Contain    ${report}    interface to-ce-red of VRF red is down
    ${shown}    Ctl    pe1    show vrfs
    And Should Match Regexp    ${shown}    red +down .* interface to-ce-red of VRF red is down
    When Run On    pe1    ${SITE_OF_RED}
    And All Services Are Up    pe1    60
    Then Ctl    pe1    doctor

What Is Planned Is No Alarm
    [Documentation]    Each row: an edit on pe1, and the one that takes it back.
    [Template]    A Planned Change Is Quiet
    update bgp/neighbor[address=2001:db8::9] {"remote-as": 65000, "enabled": false}    delete bgp/neighbor[address=2001:db8::9]
    update vrfs/vrf[name=empty] {"table-id": 30}    delete vrfs/vrf[name=empty]
    ${NEW_VRF}    delete vrfs/vrf[name=new]
    update local-sids/sid[prefix=fcbb:0:1:3::/64] {"locator": "MAIN", "behavior": "End"}    delete local-sids/sid[prefix=fcbb:0:1:3::/64]

What Is Healthy Stays Up
    [Documentation]    Each row: what is done on pe1, and undone after 3 s.
    [Template]    Nothing Is Reported
    true    true
    ip -6 route add fcbb:0:2:64::/64 via 2001:db8:1::2    ip -6 route del fcbb:0:2:64::/64
    ip -6 route add default via 2001:db8:1::2    ip -6 route del default via 2001:db8:1::2
    ip -6 route replace ${LOCATOR} metric 512    ip -6 route del ${LOCATOR} metric 512
    ip link add other0 type dummy    ip link del other0
    ip link set to-p mtu 1600    ip link set to-p mtu 9000
    ip -6 neigh flush dev to-p    true
    ip -6 route add 2001:db8:77::/48 via 2001:db8:1::2    ip -6 route del 2001:db8:77::/48
    ip -6 route add unreachable 2001:db8:77::/48    ip -6 route del unreachable 2001:db8:77::/48
    ip address add 192.0.2.9/32 dev lo    ip address del 192.0.2.9/32 dev lo
    ip link set to-p alias core    ip link set to-p alias ''
    ip -6 neigh replace 2001:db8:1::9 lladdr 02:00:00:00:00:09 dev to-p    ip -6 neigh del 2001:db8:1::9 dev to-p
    ping -c1 -W1 2001:db8:1::77 || true    true
    vtysh -c 'clear bgp 2001:db8::2 soft'    true
    ip route add blackhole 192.0.2.0/24 table 10    ip route del blackhole 192.0.2.0/24 table 10

Several Paths Through The Core Are Healthy
    [Documentation]    ECMP to the SIDs and the address of the other edge; one path alone is as good.
    Given Run On    p    ip -6 address add 2001:db8:1::22/64 dev to-pe1 nodad
    When Run On    pe1    for to in 2001:db8::2/128 fcbb:0:2::/48; do ip -6 route replace $to ${TWO_PATHS}; done
    Then Services Stay Up    pe1    ${3}
    And Wait For Traffic    ce-red1    ${SITE2}
    When Run On    pe1    for to in 2001:db8::2/128 fcbb:0:2::/48; do ip -6 route replace $to via 2001:db8:1::22; done
    Then Services Stay Up    pe1    ${3}
    [Teardown]    Run Keywords    Run On    pe1    ${CORE_OF_PE1}
    ...    AND    Run On    p    ip -6 address del 2001:db8:1::22/64 dev to-pe1
    ...    AND    All Services Are Up    pe1    60


*** Keywords ***
It Is Reported
    [Arguments]    ${name}    ${breakage}    ${expected}    ${repair}
    ${type}    ${severity}    ${state}    Split String    ${expected}
    Run On    ${name}    ${breakage}
    Condition Is Reported    pe1    ${type}    ${severity}    red=${state}
    It Is Over When Repaired    ${name}    ${repair}

It Is Reported And Becomes Certain
    [Documentation]    Packets that still arrive would say that the other edge is there.
    [Arguments]    ${name}    ${breakage}    ${expected}    ${repair}
    ${type}    ${severity}    ${state}    Split String    ${expected}
    Run On    ${name}    ${breakage}
    Condition Is Reported And Then    pe1    ${type}    ${severity}    red=${state}
    It Is Over When Repaired    ${name}    ${repair}

It Is Over When Repaired
    [Arguments]    ${name}    ${repair}
    Run On    ${name}    ${repair}
    All Services Are Up    pe1    60
    Customers Reach Each Other

Customers Reach Each Other
    [Documentation]    An edge can lose routes that nobody reports.
    Wait For Traffic    ce-red1    ${SITE2}    10
    Wait For Traffic    ce-red1    ${SITE2_V6}    10

It Is Put Back
    [Documentation]    Long before the next compare.
    [Arguments]    ${name}    ${value}
    Run On    pe1    sysctl -w ${name}=${{1 - int($value)}}
    Wait Until Keyword Succeeds    5 s    0.1 s    Run On    pe1    test $(sysctl -n ${name}) = ${value}
    All Services Are Up    pe1    30

Its Absence Is An Alarm
    [Arguments]    ${service}    ${expected}
    ${type}    ${severity}    Split String    ${expected}
    Kill Service    pe1    ${service}
    Alarm Is Raised    pe1    ${type}    ${severity}
    Restart Service    pe1    ${service}
    Alarm Is Cleared    pe1    ${type}

A SID Sends To A Customer
    Set
    ...    pe1
    ...    update local-sids/sid[prefix=fcbb:0:1:2::/64] {"locator": "MAIN", "behavior": "End.DX6", "next-hop": "fd00:1::10", "interface": "to-ce-blue"}
    All Services Are Up    pe1    30

The Path Is Measured
    Start Service    pe1    srv6-stampd
    Start Service    pe2    srv6-stampd
    Set    pe2    update ${STAMP}/reflector {"allowed-prefix": ["2001:db8::1/128"]}
    Set    pe1    update ${STAMP}/session[name=pe2] {"destination-address": "2001:db8::2", "interval": 20}
    Wait Until Keyword Succeeds    30 s    0.2 s    The Path Is Up
    All Services Are Up    pe1    30

The Path Is Up
    ${state}    Value Of    pe1    ${STAMP}/session[name=pe2]/state    state
    Should Be Equal    ${state}[path-state]    up

The Path Is Measured No More
    Set    pe1    delete ${STAMP}
    Set    pe2    delete ${STAMP}
    Stop Service    pe1    srv6-stampd
    Stop Service    pe2    srv6-stampd

A Static Route Is Installed
    [Documentation]    What is on its way after a commit is given some time before it is reported.
    Set    pe1    update ${STATIC} {"next-hop": [{"index": 1, "address": "10.1.0.10"}]}
    Wait Until Holds    pe1    srv6ctl show static-routes --json | grep -q '"install-status": "installed"'    20

The Static Route And Its Daemon Are As Before
    Restart Service    pe1    frr
    Set    pe1    delete ${STATIC}
    All Services Are Up    pe1    90

Its Death Is Reported
    [Arguments]    ${name}    ${daemon}    ${expected}
    ${type}    ${severity}    ${state}    Split String    ${expected}
    Kill Service    ${name}    ${daemon}
    Condition Is Reported    pe1    ${type}    ${severity}    red=${state}
    Restart Service    ${name}    frr
    All Services Are Up    pe1    90

A Planned Change Is Quiet
    [Arguments]    ${edit}    ${back}
    Set    pe1    ${edit}
    Services Stay Up    pe1    ${3}
    Set    pe1    ${back}
    Services Stay Up    pe1    ${1}

Nothing Is Reported
    [Arguments]    ${change}    ${undo}
    Run On    pe1    ${change}
    Services Stay Up    pe1    ${3}
    Run On    pe1    ${undo}
    Services Stay Up    pe1    ${1}

Log The Slowest Report
    ${seconds}    Slowest Report
    Log To Console    \ \ the slowest report came after ${seconds} s
