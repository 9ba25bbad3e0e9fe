*** Settings ***
Documentation     Drift, crashes and restarts: what is declared stays so, what is right is not written again.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; pe1 compares every 2 s, since no event tells of a changed sysctl.
...               - [Ver] srv6mgrd killed and restarted: no write, no packet lost, counters go on. Whatever is
...               deleted or changed by hand comes back and is counted as a repair. What is not ours stays as it is.
...               FRR and Redis killed: SIDs forward meanwhile, routes and rows come back; what the node offers tells of it.
...               - [Ref] RFC 8986; drivers/net/vrf.c (strict_mode); net/ipv6/seg6_local.c (counters).

Resource          srv6.resource

Suite Setup       Run Keywords    The VPN Is Up    AND    The Manager Compares Every 2 Seconds
Suite Teardown    Run On    pe1    rm /etc/srv6mgr/srv6mgrd.toml
Test Teardown     End All Flows


*** Variables ***
${RED_SID}     local-sids/sid[prefix=${RED1}]
${RED_VRF}     vrfs/vrf[name=red]
${LOCATOR}     locators/locator[name=MAIN]
${HAS_RED}     ip -6 route show table 8986 | grep -q "^${RED1} .*End.DT46 vrftable 10"
${HAS_BLUE}    ip -6 route show table 8986 | grep -q "^${BLUE1} .*End.DT46 vrftable 20"
${RULE}        ip -6 rule show | grep -q "^2000:.*fcbb:0:1::/48 lookup 8986 proto 86"
${UNDERLAY}    ip -6 rule show | grep -q "^990:.*fcbb::/32 lookup main proto 86"
${HERE}        ip -6 rule show | grep -q "^989:.*fcbb:0:1::/48 lookup 8986 proto 86"
${OFFERED}     capabilities
${NO_BGPD}     bgpd can't be reached at /run/frr/bgpd.vty (Connection refused); start frr and see that the daemon is enabled
${PORT}        ip link show master red | grep -q to-ce-red


*** Test Cases ***
A Killed Manager Writes Nothing When It Comes Back
    Given Remember The Network    pe1
    And Note Counters    pe1 ${RED1}    pe2 ${RED2}
    ${before}    Kernel Counters    pe1    ${RED1}
    And Begin Flow    ce-red1    ${SITE2}
    And Begin To Listen    pe1
    When Kill Service    pe1    srv6mgrd
    And Start Service    pe1    srv6mgrd
    Then All Is Installed    pe1
    And Nothing Was Written    pe1
    ${flow}    No Packet Was Lost    ce-red1    ${SITE2}
    And Counted Since    pe1 ${RED1}    ${flow.sent}
    And Counted Since    pe2 ${RED2}    ${flow.sent}
    ${after}    Kernel Counters    pe1    ${RED1}
    And Should Be Equal As Integers    ${after.packets}    ${before.packets + ${flow.sent}}
    And The Network Is Unchanged    pe1

A Manager That Is Down Does Not Stop Traffic
    Given Note Counters    pe1 ${RED1}
    When Stop Service    pe1    srv6mgrd
    Then All Pings Arrive    ce-red1    ${SITE2}    20
    And Start Service    pe1    srv6mgrd
    And Counted Since    pe1 ${RED1}    20

What Is Taken Away Comes Back Within A Second
    [Documentation]    Each row: what is done by hand, what holds again, and the object that counts the repair.
    [Setup]    Remember The Network    pe1
    [Template]    It Comes Back
    ip -6 route del ${RED1} table 8986    ${HAS_RED}    ${RED_SID}
    ip -6 route flush table 8986    ${HAS_RED} && ${HAS_BLUE}    ${RED_SID}
    ip -6 route replace ${RED1} table 8986 metric 1024 encap seg6local action End count dev srv6mgr    ${HAS_RED}    ${RED_SID}
    ip link set srv6mgr down    ${HAS_RED} && ${HAS_BLUE}    ${RED_SID}
    ip link del srv6mgr    ${HAS_RED} && ${HAS_BLUE}    ${RED_SID}
    ip -6 rule del pref 2000    ${RULE}    ${LOCATOR}
    ip rule del pref 1000    ip rule show | grep -q "^1000:.*l3mdev-table"    ${RED_VRF}
    ip -6 rule del pref 1000    ip -6 rule show | grep -q "^1000:.*l3mdev-table"    ${RED_VRF}
    ip -6 rule del pref 989    ${HERE}    ${LOCATOR}
    ip -6 rule del pref 990    ${UNDERLAY}    ${LOCATOR}
    ip route del unreachable default table 10 metric 4278198272    ip route show table 10 | grep -q "^unreachable default proto 86"    ${RED_VRF}
    ip -6 route del unreachable default table 10 metric 4278198272    ip -6 route show table 10 | grep -q "^unreachable default .*proto 86"    ${RED_VRF}
    ip link set to-ce-red nomaster    ${PORT}    ${RED_VRF}
    ip link set red down    ip -br link show red | grep -q UP,    ${RED_VRF}

A Changed Sysctl Is Set Again
    [Template]    It Is Set Again
    net.vrf.strict_mode             0    1
    net.ipv6.conf.all.forwarding    0    1
    net.ipv4.ip_forward             0    1

The Other Tenant Loses Nothing When A VRF Device Is Deleted
    Given Wait For Traffic    ce-blue1    ${SITE2}
    And Begin Flow    ce-blue1    ${SITE2}
    When Run On    pe1    ip link del red
    Then Wait Until Holds    pe1    ${PORT}
    And Wait Until Holds    pe1    ${HAS_RED}
    And Wait For Traffic    ce-red1    ${SITE2}
    And Wait For Traffic    ce-red1    ${SITE2_V6}
    And The VPN Has Converged
    And No Packet Was Lost    ce-blue1    ${SITE2}

A Loop Between bgpd And zebra Over A SID Is Ended
    [Documentation]    Stock FRR gets into it when a VRF device has come back before bgpd reads that it was gone.
    ...    Without an end to it red's routes are withdrawn and advertised for ever.
    When Run On    pe1    kill -STOP $(cat /run/frr/bgpd.pid) && ip link del red
    And Wait Until Holds    pe1    ip link show red    60
    And Run On    pe1    kill -CONT $(cat /run/frr/bgpd.pid)
    Then Wait For Traffic    ce-red1    ${SITE2}
    And The VPN Has Converged
    And Wait Until Keyword Succeeds    30 s    0 s    BGP Leaves Its Routes Alone    pe1
    And Wait For Traffic    ce-red1    ${SITE2}

What Is Not Ours Is Not Touched
    Given Run On    pe1    ip -6 route add blackhole fcbb:0:1:77::/64 table 8986
    And Run On    pe1    ip -6 rule add pref 2100 to fcbb:0:7::/48 lookup 8986
    And Run On    pe1    ip link add other type vrf table 77 && ip link add port0 type dummy
    And Run On    pe1    ip link set port0 master other && ip route add blackhole 192.0.2.0/24 table 10
    And Remember The Network    pe1
    When Set    pe1    update local-sids/sid[prefix=fcbb:0:1:1::/64] {"locator": "MAIN", "behavior": "End"}
    And Run On    pe1    ip -6 route del fcbb:0:1:1::/64 table 8986
    And Wait For SID    pe1    fcbb:0:1:1::/64
    And Set    pe1    delete local-sids/sid[prefix=fcbb:0:1:1::/64]
    And Restart Service    pe1    srv6mgrd
    Then The Network Comes Back    pe1    VIDCOUNTER
    [Teardown]    Run Keywords
    ...    Run On    pe1    ip link del other && ip link del port0 && ip -6 rule del pref 2100    AND
    ...    Run On    pe1    ip -6 route del blackhole fcbb:0:1:77::/64 table 8986    AND
    ...    Run On    pe1    ip route del blackhole 192.0.2.0/24 table 10

What Stands In Front Is Told And Left Alone
    [Setup]    Remember The Network    pe1
    [Template]    It Is Told
    route    blackhole ${RED1} table 8986 metric 7    ${RED_SID}
    rule    pref 100 to fcbb:0:1:64::/64 blackhole    ${LOCATOR}

A Second Manager Is Refused
    [Documentation]    bgpd may still be at its own copy of a SID after what stood in front of it: that is not srv6mgrd's.
    ${pid}    Run On    pe1    cat /run/srv6mgr/srv6mgrd.lock
    When Begin To Listen    pe1
    ${words}    Run Fails    pe1    /opt/srv6mgr/bin/srv6mgrd
    Then Should Be Equal    ${words}    srv6mgrd: already running as process ${pid}; stop it first
    And Nothing Was Written    pe1    proto bgp    proto zebra

Redis Gets All Rows Back
    [Template]    The Rows Come Back After
    Flush Redis    pe1
    Restart Service    pe1    redis

SIDs Forward While FRR Is Down
    [Documentation]    Host routes beside BGP's carry the flow: what is tested is that pe1 goes on processing its SIDs.
    [Setup]    Host Routes Through The SIDs
    [Template]    SIDs Forward While This Is Killed
    bgpd
    zebra
    [Teardown]    No Host Routes

What The Node Offers Follows FRR
    [Documentation]    Version and facilities are asked of the daemons that run, not remembered.
    Given Subscribe    pe1    STREAM    ${OFFERED} ON_CHANGE
    And Wait For Sync
    And Reported Within    1    ${OFFERED}/frr    10.3
    When Kill Service    pe1    bgpd
    Then Reported Within    10    ${OFFERED}/missing[name=frr]/reason    ${NO_BGPD}
    And Reported Within    1    ${OFFERED}/frr    None
    When Restart Service    pe1    frr
    Then Reported Within    20    ${OFFERED}/frr    10.3
    And Reported Within    1    ${OFFERED}/missing[name=frr]/reason    None
    [Teardown]    Run Keywords    Unsubscribe    AND    The VPN Has Converged


*** Keywords ***
It Comes Back
    [Arguments]    ${command}    ${condition}    ${object}
    ${repairs}    Repairs Of    pe1    ${object}
    When Run On    pe1    ${command}
    Then Wait Until Holds    pe1    ${condition}    1
    And Wait For Repair    pe1    ${object}    ${repairs}
    And Wait For Traffic    ce-red1    ${SITE2}
    And Wait For Traffic    ce-red1    ${SITE2_V6}
    And The Network Comes Back    pe1    nhid    nexthops:    links: {"address"    addresses:    "fe80::

It Is Told
    [Arguments]    ${kind}    ${what}    ${object}
    ${repairs}    Repairs Of    pe1    ${object}
    When Run On    pe1    ip -6 ${kind} add ${what}
    Then Wait For Status    pe1    ${object}    drifted    timeout=5
    And Run On    pe1    ip -6 ${kind} del ${what}
    And Wait For Status    pe1    ${object}    installed    timeout=5
    And The Network Is Unchanged    pe1    "since"
    And Wait For Traffic    ce-red1    ${SITE2}
    ${after}    Repairs Of    pe1    ${object}
    And Should Be Equal As Integers    ${after}    ${repairs}

BGP Leaves Its Routes Alone
    [Documentation]    No SID of zebra's goes for 3 s.
    [Arguments]    ${at}
    Run On    ${at}    ! timeout 3 ip -6 monitor route | grep -m1 'Deleted.*seg6local.*proto bgp'

It Is Set Again
    [Arguments]    ${key}    ${wrong}    ${right}
    When Run On    pe1    sysctl -qw ${key}=${wrong}
    Then Wait Until Holds    pe1    test "$(sysctl -n ${key})" = ${right}    30

The Rows Come Back After
    [Arguments]    ${action}    @{arguments}
    ${rows}    Redis Rows    pe1
    When Run Keyword    ${action}    @{arguments}
    Then Wait For Redis Rows    pe1    ${rows}
    And SONiC Tells The Same Counters    pe1    ${RED1}

Host Routes Through The SIDs
    Run On    pe1    ip route add ${SITE2} vrf red encap seg6 mode encap segs fcbb:0:2:64:: via inet6 2001:db8:1::2 dev to-p
    Run On    pe2    ip route add ${SITE1} vrf red encap seg6 mode encap segs fcbb:0:1:64:: via inet6 2001:db8:2::2 dev to-p

No Host Routes
    End All Flows
    Run On    pe1    ip route del ${SITE2} vrf red
    Run On    pe2    ip route del ${SITE1} vrf red

SIDs Forward While This Is Killed
    [Arguments]    ${daemon}
    ${sids}    SIDs In Kernel    pe1
    Given Begin Flow    ce-red1    ${SITE2}
    When Kill Service    pe1    ${daemon}
    And Restart Service    pe1    frr
    Then Wait For Session    pe1    2001:db8::2
    And Wait For Traffic    ce-blue1    ${SITE2}
    And Wait For Traffic    ce-blue1    ${SITE2_V6}
    And The VPN Has Converged
    ${after}    SIDs In Kernel    pe1
    And Should Be Equal    ${after}    ${sids}
    And No Packet Was Lost    ce-red1    ${SITE2}
