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
${CORE_OF_PE1}    SEPARATOR=
...               ip link set to-p up; ip -6 address replace 2001:db8:1::1/64 dev to-p nodad;
...               for to in 2001:db8::2/128 2001:db8:2::/64 fcbb:0:2::/48; do
...               ${SPACE}ip -6 route replace $to via 2001:db8:1::2; done
${CORE_OF_P}      SEPARATOR=
...               ip link set to-pe1 up; ip -6 address replace 2001:db8:1::2/64 dev to-pe1 nodad;
...               for to in 2001:db8::1/128 fcbb:0:1::/48; do ip -6 route replace $to via 2001:db8:1::1; done
${SITE_OF_RED}    SEPARATOR=
...               ip link set to-ce-red up; ip address replace 10.1.0.1/24 dev to-ce-red;
...               ip -6 address replace fd00:1::1/64 dev to-ce-red nodad
${RED_OF_CE}      SEPARATOR=
...               ip link set eth0 up; ip -6 address replace fd00:1::10/64 dev eth0 nodad;
...               ip -6 route replace default via fd00:1::1; ip route replace default via 10.1.0.1
${LOCATOR}        fcbb:0:2::/48 via 2001:db8:1::2
${PEER}           vtysh -c 'conf t' -c 'router bgp 65000' -c
${NO_ROUTE}       remote-sid-unreachable major down


*** Test Cases ***
The Core Breaks
    [Documentation]    Each row: the node, what is done to it, what is reported, what repairs it.
    [Template]    It Is Reported
    pe1    ip link set to-p down    core-interface-down critical down    ${CORE_OF_PE1}
    p    ip link set to-pe1 down    core-interface-down critical down    ${CORE_OF_P}
    pe1    ip -6 route del fcbb:0:2::/48    ${NO_ROUTE}    ip -6 route replace ${LOCATOR}
    pe1    ip -6 route replace unreachable fcbb:0:2::/48    ${NO_ROUTE}    ip -6 route del unreachable fcbb:0:2::/48; ip -6 route replace ${LOCATOR}
    pe1    ip -6 route add unreachable fcbb:0:2:64::/64    ${NO_ROUTE}    ip -6 route del unreachable fcbb:0:2:64::/64
    pe1    ip -6 route add blackhole fcbb:0:2:64::/64    ${NO_ROUTE}    ip -6 route del blackhole fcbb:0:2:64::/64
    pe1    ip -6 route add prohibit fcbb:0:2:64::/64    ${NO_ROUTE}    ip -6 route del prohibit fcbb:0:2:64::/64
    pe1    ip -6 rule add pref 500 to fcbb:0:2::/48 unreachable    ${NO_ROUTE}    ip -6 rule del pref 500
    pe1    ip link set to-p mtu 1400    core-mtu-too-small minor degraded    ip link set to-p mtu 9000
    pe1    ip -6 route replace ${LOCATOR} mtu 1400    core-mtu-too-small minor degraded    ip -6 route replace ${LOCATOR}
    pe1    ip -6 route del 2001:db8::2/128    bgp-neighbor-unreachable minor degraded    ip -6 route replace 2001:db8::2/128 via 2001:db8:1::2

BGP Breaks
    [Template]    It Is Reported
    pe1    ip address del 2001:db8::1/128 dev lo    bgp-next-hop-lost critical down    ip address add 2001:db8::1/128 dev lo
    pe2    ${PEER} 'neighbor 2001:db8::1 shutdown'    bgp-session-down critical down    ${PEER} 'no neighbor 2001:db8::1 shutdown'
    pe1    ${PEER} 'neighbor 2001:db8::2 shutdown'    bgp-session-down critical down    ${PEER} 'no neighbor 2001:db8::2 shutdown'

A Daemon Of FRR Dies
    [Documentation]    Each row: the router, its daemon, what is reported.
    [Template]    Its Death Is Reported
    pe1    bgpd    routing-daemon-down critical down
    pe2    bgpd    bgp-session-down critical down

A Customer Is Cut Off
    [Template]    It Is Reported
    pe1    ip link set to-ce-red down    vrf-interface-down major down    ${SITE_OF_RED}
    ce-red1    ip link set eth0 down    vrf-interface-down major down    ${RED_OF_CE}

Something Foreign Is In The Way
    [Template]    It Is Reported
    pe1    ip -6 route add blackhole ${RED1} table 8986 metric 7    not-installed major down    ip -6 route del ${RED1} table 8986 metric 7

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
    ip route add blackhole 192.0.2.0/24 table 10    ip route del blackhole 192.0.2.0/24 table 10


*** Keywords ***
It Is Reported
    [Arguments]    ${name}    ${breakage}    ${expected}    ${repair}
    ${type}    ${severity}    ${state}    Split String    ${expected}
    Run On    ${name}    ${breakage}
    Condition Is Reported    pe1    ${type}    ${severity}    red=${state}
    Run On    ${name}    ${repair}
    All Services Are Up    pe1    60

Its Death Is Reported
    [Arguments]    ${name}    ${daemon}    ${expected}
    ${type}    ${severity}    ${state}    Split String    ${expected}
    Kill Service    ${name}    ${daemon}
    Condition Is Reported    pe1    ${type}    ${severity}    red=${state}
    Restart Service    ${name}    frr
    All Services Are Up    pe1    90

Nothing Is Reported
    [Arguments]    ${change}    ${undo}
    Run On    pe1    ${change}
    Services Stay Up    pe1    ${3}
    Run On    pe1    ${undo}
    Services Stay Up    pe1    ${1}

Log The Slowest Report
    ${seconds}    Slowest Report
    Log To Console    \ \ the slowest report came after ${seconds} s
