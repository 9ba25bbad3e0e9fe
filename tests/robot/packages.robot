*** Settings ***
Documentation     The Debian packages, in a fresh Debian with systemd: install, upgrade, remove, purge, and the VPN meanwhile.
...
...               - [Top] pe1 - p - pe2, tenants red and blue; pe1 and pe2 boot a fresh Debian and have no more
...               than the packages bring.
...               - [Cfg] What docs/install.md tells an operator to do, then one gNMI Set per provider edge.
...               - [Ver] Services start, closed to the network; the VPN carries traffic, also through a crash of
...               srv6mgrd, an upgrade and a removal; purging leaves what was there before.
...               - [Ref] Debian Policy chapter 6; RFC 8341 (NACM).

Resource          srv6.resource
Library           tests.robot.library.packages.Packages

Suite Setup       Install Packages    pe1    pe2
Suite Teardown    Keep Journal    pe1    pe2
Test Teardown     End All Flows

Test Tags         fresh


*** Variables ***
@{SERVICES}    srv6mgrd    srv6-gnmid    srv6-netconfd    redis-server@srv6mgr


*** Test Cases ***
The Services Are Up
    [Template]    Units Are Active
    pe1    @{SERVICES}
    pe2    @{SERVICES}

They Are Closed To The Network
    Only Loopback Listens    pe1    9339
    Writing Is Denied    pe1

They Have No More Rights Than They Need
    [Documentation]    The scores that docs/install.md states.
    [Template]    The Exposure Is
    srv6mgrd         3.0
    srv6-gnmid       2.2
    srv6-netconfd    1.5

The Manager Writes Sysctls Of The Network Alone
    ${pid}    Run On    pe1    systemctl show --value -p MainPID srv6mgrd
    Run On    pe1    nsenter -t ${pid} -m sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/seg6_enabled'
    Run Is Refused    pe1    nsenter -t ${pid} -m sh -c 'cat /proc/sys/kernel/printk > /proc/sys/kernel/printk'
    Run Is Refused    pe1    nsenter -t ${pid} -m touch /etc/passwd

The Autopkgtest Passes
    Run On    pe2    sh /src/packaging/deb/debian/tests/l3vpn

The VPN Comes Up
    Given Start BGP    pe1    pe2
    And Let Anonymous Write    pe1    pe2
    When Configure    pe1
    And Configure    pe2
    Then The VPN Has Converged
    And All Pings Arrive    ce-red1    ${SITE2}
    And All Pings Arrive    ce-blue1    ${SITE2_V6}
    And No Ping Arrives    ce-red1    10.2.0.99

Packets Are Counted Exactly
    Given Note Counters    pe1 ${RED1}    pe2 ${RED2}
    When All Pings Arrive    ce-red1    ${SITE2}    20
    Then Counted Since    pe1 ${RED1}    20
    And Counted Since    pe2 ${RED2}    20

A Crash Of The Manager Loses No Packet
    Given Begin Flow    ce-red1    ${SITE2}
    When Kill Unit    pe1    srv6mgrd
    And Wait For Unit    pe1    srv6mgrd
    Then All Is Installed    pe1
    And Is Fed    pe1    srv6mgrd
    And No Packet Was Lost    ce-red1    ${SITE2}

An Upgrade Keeps Configuration And Traffic
    Given Begin Flow    ce-red1    ${SITE2}
    ${before}    Value Of    pe1    /srv6mgr-srv6:srv6    kind=config
    When Upgrade Packages    pe1
    And Wait For Unit    pe1    srv6-gnmid
    ${modules}    Modules Of Ours    pe1
    Then Should Be Equal    ${modules}[srv6mgr-proxy]    2099-01-01
    ${after}    Value Of    pe1    /srv6mgr-srv6:srv6    kind=config
    And Should Be Equal    ${after}    ${before}
    And All Is Installed    pe1
    And No Packet Was Lost    ce-red1    ${SITE2}

Removed Packages Leave The Router Forwarding
    Given Begin Flow    ce-red1    ${SITE2}
    And Begin Flow    ce-blue1    ${SITE2_V6}
    When Remove Packages    pe1
    Then All Pings Arrive    ce-red1    ${SITE2}
    And No Packet Was Lost    ce-red1    ${SITE2}
    And No Packet Was Lost    ce-blue1    ${SITE2_V6}

Purged Packages Leave Nothing Of Theirs And All Of Others
    Given Run On    pe1    ip link add foreign type dummy && ip link set foreign up
    And Run On    pe1    ip -6 route add fcbb:0:1:999::/64 dev foreign proto static
    When Purge Packages    pe1
    Then Run Is Refused    pe1    ip -6 route show table all | grep 'proto 86'
    And Run Is Refused    pe1    ip -6 rule show | grep 'proto 86'
    And Run Is Refused    pe1    grep -x srv6mgr /sys/class/net/*/ifalias
    And Run Is Refused    pe1    vtysh -c 'show running-config' | grep -E 'vrf red|fcbb|segment-routing'
    ${files}    Files Of Ours    pe1
    And Should Be Empty    ${files}
    ${modules}    Modules Of Ours    pe1
    And Should Be Empty    ${modules}
    And Run On    pe1    ip -6 route show proto static | grep foreign
    And Run On    pe1    sysrepoctl --list | grep ietf-netconf-acm
    And Run On    pe1    grep -x bgpd=yes /etc/frr/daemons


*** Keywords ***
The Exposure Is
    [Arguments]    ${unit}    ${score}
    ${found}    Exposure Of    pe1    ${unit}
    Should Be Equal As Numbers    ${found}    ${score}
