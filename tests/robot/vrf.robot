*** Settings ***
Documentation    VRFs with SIDs behave as users of Linux VRFs expect.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] The two-PE VPN.
...              - [Ver] TCP goes on and senders learn the path MTU when a link behind the tunnel, in it, or at its
...              beginning is smaller than theirs: hosts behind the router, and sockets of its VRFs. The MSS is that
...              of the route. Sockets of one VRF reach each other, link-local addresses work, packets are seen on the
...              VRF device. Netfilter acts there on packets of the tunnel, queues and filters on what the router
...              sends. A reverse path filter does not get in the way unseen.
...              - [Ref] RFC 2473 section 8; RFC 8201; Documentation/networking/vrf.rst.

Resource         srv6.resource
Library          tests.robot.library.streams.Streams

Suite Setup      The VPN Is Up
Test Setup       Forget Paths    pe1    ce-red1    ce-blue1


*** Variables ***
# Outer IPv6 header and an SRH of one segment: 40 + 8 + 16.
${OVERHEAD}      ${64}
# TCP header with timestamps behind an IPv4 and an IPv6 header.
${OF_TCP4}       ${52}
${OF_TCP6}       ${72}
${PE1_RED}       10.1.0.1
${PE1_RED_V6}    fd00:1::1
${DROPPED}       net.ipv4.conf.all.rp_filter is 1, so the kernel drops IPv4 packets that come out of a tunnel; set it to 0, and those of interfaces instead


*** Test Cases ***
A Link Behind The Tunnel Is Smaller
    [Setup]    Run On    pe2    ip link set to-ce-red mtu 1300
    [Template]    It Goes On And Learns
    # from      to             MTU
    ce-red1     ${SITE2}       1300
    ce-red1     ${SITE2_V6}    1300
    pe1 red     ${SITE2}       1300
    pe1 red     ${SITE2_V6}    1300
    [Teardown]    Run On    pe2    ip link set to-ce-red mtu 1500

A Link In The Tunnel Is Smaller
    [Documentation]    The error of p is about the outer packet, and reaches pe1.
    [Setup]    Run On    p    ip link set to-pe2 mtu 1400
    [Template]    It Goes On And Learns
    # from      to             MTU
    ce-red1     ${SITE2}       ${{1400 - $OVERHEAD}}
    ce-red1     ${SITE2_V6}    ${{1400 - $OVERHEAD}}
    pe1 red     ${SITE2}       ${{1400 - $OVERHEAD}}
    pe1 red     ${SITE2_V6}    ${{1400 - $OVERHEAD}}
    [Teardown]    Run On    p    ip link set to-pe2 mtu 9000

The Tunnel Begins On A Link No Greater Than The Sender's
    [Setup]    Run On    pe1    ip link set to-p mtu 1500
    [Template]    It Goes On And Learns
    # from      to             MTU
    ce-red1     ${SITE2}       ${{1500 - $OVERHEAD}}
    ce-red1     ${SITE2_V6}    ${{1500 - $OVERHEAD}}
    [Teardown]    Run On    pe1    ip link set to-p mtu 9000

Only The Sender Is Told
    [Documentation]    Both tenants have the same addresses.
    [Setup]    Run On    p    ip link set to-pe2 mtu 1400
    ${before}    Errors Received By    ce-blue1
    Given It Goes On And Learns    ce-red1    ${SITE2}    ${{1400 - $OVERHEAD}}
    And It Goes On And Learns    ce-red1    ${SITE2_V6}    ${{1400 - $OVERHEAD}}
    ${after}    Errors Received By    ce-blue1
    Then Should Be Equal    ${after}    ${before}
    [Teardown]    Run On    p    ip link set to-pe2 mtu 9000

The MSS Is That Of The Route
    [Documentation]    The VRF device's own MTU is 65575.
    [Setup]    Run On    pe1    ip link set to-p mtu 1500
    [Template]    The MSS Is
    # from      to               at          MSS
    pe1 red     ${SITE2}         ce-red2     ${{1500 - $OVERHEAD - $OF_TCP4}}
    pe1 red     ${SITE2_V6}      ce-red2     ${{1500 - $OVERHEAD - $OF_TCP6}}
    ce-red2     ${PE1_RED}       pe1 red     ${{1500 - $OVERHEAD - $OF_TCP4}}
    ce-red2     ${PE1_RED_V6}    pe1 red     ${{1500 - $OVERHEAD - $OF_TCP6}}
    [Teardown]    Run On    pe1    ip link set to-p mtu 9000

Sockets Of One VRF Reach Each Other
    Stream Arrives    pe1 red    ${PE1_RED}    pe1 red
    Stream Arrives    pe1 red    ${PE1_RED_V6}    pe1 red
    No Stream Arrives    pe1 blue    ${PE1_RED}    pe1 red
    No Stream Arrives    pe1 blue    ${PE1_RED_V6}    pe1 red

Link-Local Addresses Work
    ${router}    Link Local Of    pe1    to-ce-red
    ${host}    Link Local Of    ce-red1    eth0
    All Pings Arrive    pe1    ${host}%to-ce-red
    All Pings Arrive    ce-red1    ${router}%eth0
    Stream Arrives    pe1 to-ce-red    ${host}%to-ce-red    ce-red1    ${host}%eth0
    Stream Arrives    ce-red1    ${router}%eth0    pe1 to-ce-red    ${router}%to-ce-red

Packets Are Seen On The VRF Device
    [Documentation]    Not what the router itself sends into a tunnel: its route leads to a device that is in no VRF.
    Given Begin Capture    pe1    red
    When All Pings Arrive    ce-red1    ${SITE2}    2
    And All Pings Arrive    ce-red1    ${SITE2_V6}    2
    And Run On    pe1    ping -q -I red -c1 -W1 ${SITE1}
    And Run On    pe1    ping -q -I red -c1 -W1 ${SITE2_V6}
    Then Captured
    ...    ${SITE1} > ${SITE2}: ICMP echo request
    ...    ${SITE2} > ${SITE1}: ICMP echo reply
    ...    ${SITE1_V6} > ${SITE2_V6}: ICMP6, echo request
    ...    ${SITE2_V6} > ${SITE1_V6}: ICMP6, echo reply
    ...    ${PE1_RED} > ${SITE1}: ICMP echo request
    ...    ${SITE2_V6} > ${PE1_RED_V6}: ICMP6, echo reply

Netfilter On The VRF Device Acts On What Comes Out Of The Tunnel
    [Setup]    Run On    pe1    nft -f /src/tests/robot/library/drop-replies.nft
    Given All Pings Arrive    ce-blue1    ${SITE2}
    When No Ping Arrives    ce-red1    ${SITE2}
    And No Ping Arrives    ce-red1    ${SITE2_V6}
    And Run On    pe1    nft delete table inet seen
    Then All Pings Arrive    ce-red1    ${SITE2}
    And All Pings Arrive    ce-red1    ${SITE2_V6}
    [Teardown]    Run On    pe1    nft delete table inet seen 2>/dev/null; true

A Queue And A Filter On The VRF Device Act On What The Router Sends
    [Documentation]    And not on what it forwards, from a tunnel or into it: that does not pass l3mdev_l3_out.
    ...    There they belong on the port.
    [Setup]    Run On    pe1    tc qdisc add dev red root handle 1: netem limit 1000
    Given Run On    pe1    ping -q -I red -c1 -W1 ${SITE1}
    When Run On    pe1    tc qdisc add dev red clsact
    And Run On    pe1    tc filter add dev red egress matchall action drop
    Then Run Fails    pe1    ping -q -I red -c1 -W1 ${SITE1}
    And All Pings Arrive    ce-red1    ${SITE2}
    And All Pings Arrive    ce-red1    ${SITE2_V6}
    When Run On    pe1    tc qdisc delete dev red clsact
    And Run On    pe1    tc qdisc replace dev red root handle 1: netem loss 100%
    Then Run Fails    pe1    ping -q -I red -c1 -W1 ${SITE1}
    And All Pings Arrive    ce-red1    ${SITE2}
    [Teardown]    Run On    pe1    tc qdisc delete dev red clsact 2>/dev/null; tc qdisc delete dev red root

A Queue On The Port Acts On What Comes Out Of The Tunnel
    [Setup]    Run On    pe1    tc qdisc add dev to-ce-red root netem loss 100%
    Given No Ping Arrives    ce-red1    ${SITE2}
    And All Pings Arrive    ce-blue1    ${SITE2}
    When Run On    pe1    tc qdisc delete dev to-ce-red root
    Then All Pings Arrive    ce-red1    ${SITE2}
    [Teardown]    Run On    pe1    tc qdisc delete dev to-ce-red root 2>/dev/null; true

The Reverse Path Filter Is Off Where It Hurts
    When Run On    pe1    sysctl -qw net.ipv4.conf.red.rp_filter=2
    Then Wait Until Holds    pe1    test $(sysctl -n net.ipv4.conf.red.rp_filter) = 0    timeout=5
    And All Pings Arrive    ce-red1    ${SITE2}
    When Run On    pe1    sysctl -qw net.ipv4.conf.all.rp_filter=1
    Then No Ping Arrives    ce-red1    ${SITE2}
    And Wait For Status    pe1    local-sids/sid[prefix=${RED1}]    drifted    ${DROPPED}
    [Teardown]    Run Keywords
    ...    Run On    pe1    sysctl -qw net.ipv4.conf.all.rp_filter=0    AND
    ...    All Is Installed    pe1


*** Keywords ***
It Goes On And Learns
    [Arguments]    ${from}    ${to}    ${mtu}
    Given Forget Paths    pe1    ce-red1
    When Stream Arrives    ${from}    ${to}    ce-red2
    ${learned}    Path MTU    ${from}    ${to}
    Then Should Be Equal As Integers    ${learned}    ${mtu}

The MSS Is
    [Documentation]    What the other end sends in a segment stays within what was announced to it.
    [Arguments]    ${from}    ${to}    ${at}    ${mss}
    ${ends}    Stream Arrives    ${from}    ${to}    ${at}
    ${other}    Evaluate    $ends.receiver if $from.startswith("pe1") else $ends.sender
    Should Be Equal As Integers    ${other.mss}    ${mss}
