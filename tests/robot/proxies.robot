*** Settings ***
Documentation     Service proxies: functions that know no SRv6 stand in the chain of a VPN's packets.
...
...               - [Top] pe1 - p - pe2, customer red at both sites; behind each provider edge a function: a network
...               namespace that forwards, and filters with nftables.
...               - [Cfg] The two-PE VPN; on pe1 a proxy of each kind and inner type, on pe2 one of End.AD for the way back.
...               Host routes of VRF red put the proxies on the packets' segment lists.
...               - [Ver] Packets pass through the function, on to the rest of their list, both ways, and are counted
...               exactly; what the function drops is dropped; SIDs are installed; what is detached comes back; a
...               restart forgets nothing and loses nothing; what is no longer declared leaves nothing behind.
...               - [Ref] draft-ietf-spring-sr-service-programming sections 6.1 to 6.4; RFC 8754.

Resource          srv6.resource
Library           tests.robot.library.cli.Cli

Suite Setup       Functions Stand Behind Both Provider Edges
Suite Teardown    The Functions Go
Test Teardown     Run Keywords    End All Flows    AND    Nothing Is Steered


*** Variables ***
${AD6}         fcbb:0:1:ad6::/64
${AD4}         fcbb:0:1:ad4::/64
${AS6}         fcbb:0:1:a56::/64
${AS4}         fcbb:0:1:a54::/64
${AM}          fcbb:0:1:a0::/64
${AD2}         fcbb:0:1:ad2::/64
${AS2}         fcbb:0:1:a52::/64
${WIRE}        fcbb:0:1:d2::/64
${FAR_MAC}     02:00:00:00:07:02
${BACK}        fcbb:0:2:ad4::/64
&{UNDERLAY}    pe1=via inet6 2001:db8:1::2 dev to-p    pe2=via inet6 2001:db8:2::2 dev to-p
${LINKS}       /sys/fs/bpf/srv6mgr*/links
${HAS_IN}      bpftool net show dev to-p | grep -q "tcx/ingress toward_function"
${HAS_BACK}    bpftool net show dev to-fw | grep -q "tcx/ingress back_function"


*** Test Cases ***
Each Proxy Is Installed
    [Template]    The SID Is Installed
    pe1    ${AD6}
    pe1    ${AD4}
    pe1    ${AS6}
    pe1    ${AS4}
    pe1    ${AM}
    pe2    ${BACK}

Packets Pass Through The Function And Go On
    [Template]    Pings Pass By
    # to           packets    proxy     the SIDs behind it
    ${SITE1}       20         ${AD4}    ${RED1}
    ${SITE1_V6}    21         ${AD6}    ${RED1}
    ${SITE1_V6}    22         ${AM}     ${RED1}

A Static Proxy Needs No Segment List
    [Template]    Pings Pass By
    ${SITE1}       23    ${AS4}
    ${SITE1_V6}    24    ${AS6}

Frames Pass Through A Function That Bridges
    [Documentation]    Two hosts on what looks to them like one wire: End.DX2 at its end, a bridge in between.
    [Setup]    A Wire Leads To The Other Edge
    [Template]    Frames Pass By
    End.AD    ${AD2}    ${AD2}    ${WIRE}
    End.AS    ${AS2}    ${AS2}
    [Teardown]    The Wire Is Cut

Several Proxies Of One Node Stand In One Chain
    Given Red Sends From    pe2    ${SITE1_V6}    ${AM}    ${AD6}    ${RED1}
    And Note Counters    pe1 ${AM}    pe1 ${AD6}    pe1 ${RED1}
    When All Pings Arrive    ce-red2    ${SITE1_V6}    12
    Then Counted Since    pe1 ${AM}    12
    And Counted Since    pe1 ${AD6}    12
    And Counted Since    pe1 ${RED1}    12

A Function Stands On Each Way
    Given Red Sends From    pe2    ${SITE1}    ${AD4}    ${RED1}
    And Red Sends From    pe1    ${SITE2}    ${BACK}    ${RED2}
    And Note Counters    pe1 ${AD4}    pe1 ${RED1}    pe2 ${BACK}    pe2 ${RED2}
    When All Pings Arrive    ce-red2    ${SITE1}    30
    Then Counted Since    pe1 ${AD4}    30
    And Counted Since    pe1 ${RED1}    30
    And Counted Since    pe2 ${BACK}    30
    And Counted Since    pe2 ${RED2}    30

What The Function Filters Does Not Arrive
    Given Red Sends From    pe2    ${SITE1}    ${AD4}    ${RED1}
    And All Pings Arrive    ce-red2    ${SITE1}
    When Behind    pe1    nft add table ip filter
    And Behind    pe1    nft "add chain ip filter forward { type filter hook forward priority 0; }"
    And Behind    pe1    nft add rule ip filter forward icmp type echo-request drop
    And Note Counters    pe1 ${AD4}    pe1 ${RED1}
    Then No Ping Arrives    ce-red2    ${SITE1}
    And Counted Since    pe1 ${AD4}    3
    And Counted Since    pe1 ${RED1}    0
    [Teardown]    Run Keywords    Behind    pe1    nft delete table ip filter    AND    Nothing Is Steered

The Chain And The Counters Are Told
    [Documentation]    Over gNMI, and in the operational datastore, where NETCONF finds them.
    Given Red Sends From    pe2    ${SITE1_V6}    ${AD6}    ${RED1}
    And Note Counters    pe1 ${AD6}
    ${before}    Value Of    pe1    local-sids/sid[prefix=${AD6}]/proxy/state
    When All Pings Arrive    ce-red2    ${SITE1_V6}    8
    Then Counted Since    pe1 ${AD6}    8
    ${state}    Value Of    pe1    local-sids/sid[prefix=${AD6}]/proxy/state
    Should Be Equal As Integers    ${state}[to-function][pkts]    ${${before}[to-function][pkts] + 8}
    Should Be Equal As Integers    ${state}[from-function][pkts]    ${${before}[from-function][pkts] + 8}
    Should Be Equal    ${state}[errors]    ${before}[errors]
    Should Be Equal    ${state}[chain][source-address]    2001:db8::2
    Should Be Equal    ${state}[chain][segment][0][sid]    fcbb:0:1:64::
    Should Match Regexp    ${state}[chain][last-learned]    ^20..-
    Should Be Equal As Integers    ${state}[mtu]    1500
    ${shown}    Run On    pe1    sysrepocfg -X -d operational -f json -x /srv6mgr-srv6:srv6/local-sids/sid
    Should Contain    ${shown}    "last-learned"

What Can Not Be Processed Is An Error
    [Documentation]    Echo requests to the SID itself: End.AD needs a segment routing header, End.AS IPv6 in IPv6.
    [Template]    Pings Are Errors
    ${AD6}    5
    ${AS6}    6
    ${AM}     7

What Is Taken Away Comes Back Within A Second
    [Template]    It Comes Back
    ip -6 route del ${AD4} table 8986          ip -6 route show table 8986 | grep -q "^${AD4} .*End.DX4"

What Is Taken Off An Interface Is Found By A Compare
    [Template]    It Comes Back When Compared
    rm ${LINKS}/$(cat /sys/class/net/to-p/ifindex)-ingress                             ${HAS_IN}
    bpftool link detach pinned ${LINKS}/$(cat /sys/class/net/to-fw/ifindex)-ingress    ${HAS_BACK}

A Killed Manager Loses No Packet And Forgets No Chain
    Given Red Sends From    pe2    ${SITE1}    ${AD4}    ${RED1}
    And Note Counters    pe1 ${AD4}
    And Begin Flow    ce-red2    ${SITE1}
    And Begin To Listen    pe1
    When Kill Service    pe1    srv6mgrd
    And Start Service    pe1    srv6mgrd
    Then All Is Installed    pe1
    And Nothing Was Written    pe1
    ${flow}    No Packet Was Lost    ce-red2    ${SITE1}
    And Counted Since    pe1 ${AD4}    ${flow.sent}

A Function's Interface That Comes Back Is Taken Up Again
    When Run On    pe1    ip link del to-fw
    Then Wait For Status    pe1    local-sids/sid[prefix=${AD4}]    pending    interface to-fw does not exist yet
    And The Function's Link Is There    pe1
    And The SID Is Installed    pe1    ${AD4}
    And Pings Pass By    ${SITE1}    10    ${AD4}    ${RED1}

What Is No Longer Declared Leaves Nothing Behind
    [Documentation]    Reasons of drops are looked for a while longer, at the SIDs of VRFs.
    When Set    pe1    delete local-sids/sid[prefix=${AD6}]    delete local-sids/sid[prefix=${AD4}]
    ...    delete local-sids/sid[prefix=${AS6}]    delete local-sids/sid[prefix=${AS4}]
    ...    delete local-sids/sid[prefix=${AM}]
    Then Run On    pe1    ! bpftool net show | grep tcx | grep -v " watch "
    And Run On    pe1    test -z "$(ls -d /sys/fs/bpf/srv6mgr* 2>/dev/null)"
    And Run On    pe1    ! ip -6 route show table 8986 | grep -E "End.DX[246]"


*** Keywords ***
Functions Stand Behind Both Provider Edges
    The VPN Is Up
    FOR    ${node}    IN    pe1    pe2
        Run On    ${node}    ip netns add fw
        Behind    ${node}    ip link set lo up
        The Function's Link Is There    ${node}
    END
    The Proxies Are Declared

The Proxies Are Declared
    VAR    ${on}         "locator": "MAIN", "behavior"
    VAR    ${link}       "interface": "to-fw", "next-hop"
    VAR    ${vlan}       "interface": "to-fw.5", "next-hop"
    VAR    ${six}        "inner-type": "ipv6", "pass": ["multicast"], ${link}: "2001:db8:9::2"
    VAR    ${four}       "inner-type": "ipv4", ${link}: "10.9.0.2"
    VAR    ${six_as}     "inner-type": "ipv6", "pass": ["multicast"], ${vlan}: "2001:db8:5::2"
    VAR    ${four_as}    "inner-type": "ipv4", ${vlan}: "10.5.0.2"
    VAR    ${list}       "segment-list": "to-red", "source-address": "2001:db8::a5"
    Set    pe1
    ...    update segment-lists/segment-list[name=to-red] {"segment": [{"index": 1, "sid": "fcbb:0:1:64::"}]}
    ...    update local-sids/sid[prefix=${AD6}] {${on}: "End.AD", "srv6mgr-proxy:proxy": {${six}}}
    ...    update local-sids/sid[prefix=${AD4}] {${on}: "End.AD", "srv6mgr-proxy:proxy": {${four}}}
    ...    update local-sids/sid[prefix=${AS6}] {${on}: "End.AS", "srv6mgr-proxy:proxy": {${six_as}, ${list}}}
    ...    update local-sids/sid[prefix=${AS4}] {${on}: "End.AS", "srv6mgr-proxy:proxy": {${four_as}, ${list}}}
    ...    update local-sids/sid[prefix=${AM}] {${on}: "End.AM", "srv6mgr-proxy:proxy": {${six}}}
    Set    pe2
    ...    update local-sids/sid[prefix=${BACK}] {${on}: "End.AD", "srv6mgr-proxy:proxy": {${four}}}

The Function's Link Is There
    [Arguments]    ${node}
    Run On    ${node}    ip link add to-fw type veth peer name eth0 netns fw
    Run On    ${node}    ip link add link to-fw name to-fw.5 type vlan id 5
    Behind    ${node}    ip link add link eth0 name eth0.5 type vlan id 5
    Behind    ${node}    sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
    Both Ends Are Up    ${node}    ${EMPTY}    9
    Both Ends Are Up    ${node}    .5    5

Both Ends Are Up
    [Documentation]    Of a VLAN of the function's link; what the function gets there goes out there again.
    [Arguments]    ${node}    ${tag}    ${net}
    Run On    ${node}    ip addr add 10.${net}.0.1/24 dev to-fw${tag}
    Run On    ${node}    ip addr add 2001:db8:${net}::1/64 dev to-fw${tag} nodad
    Run On    ${node}    ip link set to-fw${tag} up
    Behind    ${node}    ip addr add 10.${net}.0.2/24 dev eth0${tag}
    Behind    ${node}    ip addr add 2001:db8:${net}::2/64 dev eth0${tag} nodad
    Behind    ${node}    ip link set eth0${tag} up
    Behind    ${node}    ip route add default via 10.${net}.0.1 table ${net}
    Behind    ${node}    ip -6 route add default via 2001:db8:${net}::1 table ${net}
    Behind    ${node}    ip rule add iif eth0${tag} lookup ${net}
    Behind    ${node}    ip -6 rule add iif eth0${tag} lookup ${net}

The Functions Go
    Set    pe1    delete local-sids/sid[prefix=${AD6}]    delete local-sids/sid[prefix=${AD4}]
    ...    delete local-sids/sid[prefix=${AS6}]    delete local-sids/sid[prefix=${AS4}]
    ...    delete local-sids/sid[prefix=${AM}]    delete segment-lists/segment-list[name=to-red]
    Set    pe2    delete local-sids/sid[prefix=${BACK}]
    FOR    ${node}    IN    pe1    pe2
        Run On    ${node}    ip netns del fw; ip link del to-fw 2>/dev/null || true
    END

A Wire Leads To The Other Edge
    The Far End Is There
    The Function Bridges
    The Near End Is There
    VAR    ${dx2}    "behavior": "End.DX2", "interface": "to-far"
    VAR    ${list}    {"segment": [{"index": 1, "sid": "fcbb:0:1:d2::"}]}
    Set    pe1
    ...    update segment-lists/segment-list[name=to-wire] ${list}
    ...    update local-sids/sid[prefix=${WIRE}] {"locator": "MAIN", ${dx2}}

The Far End Is There
    Run On    pe1    ip netns add far
    Run On    pe1    ip link add to-far type veth peer name eth0 address ${FAR_MAC} netns far
    Run On    pe1    ip netns exec far ip addr add 2001:db8:7::2/64 dev eth0 nodad
    Run On    pe1    ip netns exec far ip link set eth0 up
    Run On    pe1    ip link set to-far up

The Near End Is There
    [Documentation]    What the host routes has the far one's address: the edge's end of the wire has it, too.
    Run On    pe2    ip netns add near
    Run On    pe2    ip link add wire address ${FAR_MAC} type veth peer name eth0 netns near
    Run On    pe2    ip link set wire up
    Run On    pe2    ip netns exec near ip addr add 2001:db8:7::1/64 dev eth0 nodad
    Run On    pe2    ip netns exec near ip link set eth0 up
    Run On    pe2    ip netns exec near ip neigh add 2001:db8:7::2 lladdr ${FAR_MAC} dev eth0

The Function Bridges
    Behind    pe1    ip link add br0 type bridge
    FOR    ${link}    IN    to-br    from-br
        Run On    pe1    ip link add ${link} type veth peer name ${link} netns fw
        Run On    pe1    ip link set ${link} up
        Behind    pe1    ip link set ${link} master br0 up
    END
    Behind    pe1    ip link set br0 up

Frames Pass By
    [Arguments]    ${behavior}    ${proxy}    @{prefixes}
    ${segments}    Evaluate    ",".join(p.partition("/")[0] for p in $prefixes)
    Given The Bridge Is Behind    ${behavior}    ${proxy}
    And Run On    pe2    ip -6 route replace 2001:db8:7::2 encap seg6 mode l2encap segs ${segments} dev to-p
    And Wait Until Quiet    pe1    to-br    from-br
    And Note Counters    pe1 ${proxy}    pe1 ${WIRE}
    ${before}    Echo Requests At The Far End
    When Run On    pe2    ip netns exec near ping -6 -c 6 -i 0.05 -W 1 2001:db8:7::2 >/dev/null || true
    Then Wait Until Keyword Succeeds    5 s    50 ms    Echo Requests Came    ${before}    6
    And Counted Since    pe1 ${proxy}    6
    Set    pe1    delete local-sids/sid[prefix=${proxy}]

The Bridge Is Behind
    [Arguments]    ${behavior}    ${proxy}
    VAR    ${static}    , "segment-list": "to-wire", "source-address": "2001:db8::a5"
    VAR    ${chain}    ${{ $static if $behavior == "End.AS" else "" }}
    VAR    ${links}    "interface": "to-br", "return-interface": "from-br"
    VAR    ${function}    {"inner-type": "ethernet", ${links}${chain}}
    VAR    ${sid}    "locator": "MAIN", "behavior": "${behavior}", "srv6mgr-proxy:proxy": ${function}
    Set    pe1    update local-sids/sid[prefix=${proxy}] {${sid}}
    The SID Is Installed    pe1    ${proxy}

Echo Requests At The Far End
    ${count}    Run On    pe1    ip netns exec far nstat -asz Icmp6InEchos | awk '/Echos/ {print $2}'
    RETURN    ${count}

Echo Requests Came
    [Arguments]    ${before}    ${packets}
    ${now}    Echo Requests At The Far End
    Should Be Equal As Integers    ${now}    ${${before} + ${packets}}

The Wire Is Cut
    Set    pe1    delete local-sids/sid[prefix=${WIRE}]    delete segment-lists/segment-list[name=to-wire]
    Run On    pe1    ip netns del far; ip link del to-br; ip link del from-br
    Behind    pe1    ip link del br0
    Run On    pe2    ip netns del near; ip -6 route del 2001:db8:7::2

Behind
    [Documentation]    Run a shell line in the function behind a node.
    [Arguments]    ${node}    ${command}
    Run On    ${node}    ip netns exec fw ${command}

The SID Is Installed
    [Arguments]    ${node}    ${prefix}
    Wait For Status    ${node}    local-sids/sid[prefix=${prefix}]    installed    ${EMPTY}

Red Sends From
    [Documentation]    What red sends to an address goes along these SIDs.
    [Arguments]    ${node}    ${to}    @{prefixes}
    ${segments}    Evaluate    ",".join(p.partition("/")[0] for p in $prefixes)
    Run On    ${node}    ip route replace ${to} vrf red encap seg6 mode encap segs ${segments} ${UNDERLAY}[${node}]

Nothing Is Steered
    Run On    pe2    ip route del ${SITE1} vrf red 2>/dev/null; ip route del ${SITE1_V6} vrf red 2>/dev/null; true
    Run On    pe1    ip route del ${SITE2} vrf red 2>/dev/null; true

Pings Pass By
    [Documentation]    Echo requests from red at site 2 through the proxy; replies come through BGP's tunnel.
    [Arguments]    ${to}    ${packets}    ${proxy}    @{behind}
    Given Red Sends From    pe2    ${to}    ${proxy}    @{behind}
    And Note Counters    pe1 ${proxy}    pe1 ${RED1}    pe2 ${RED2}
    When All Pings Arrive    ce-red2    ${to}    ${packets}
    Then Counted Since    pe1 ${proxy}    ${packets}
    And Counted Since    pe1 ${RED1}    ${packets}
    And Counted Since    pe2 ${RED2}    ${packets}
    [Teardown]    Nothing Is Steered

Pings Are Errors
    [Arguments]    ${prefix}    ${packets}
    ${address}    Evaluate    $prefix.partition("/")[0]
    Given Note Counters    pe1 ${prefix}
    When Ping    p    ${address}    ${packets}
    Then Counted Since    pe1 ${prefix}    0    errors=${packets}

It Comes Back When Compared
    [Arguments]    ${harm}    ${holds}
    Given Run On    pe1    ${holds}
    And Run On    pe1    ${harm}
    And Run On    pe1    ! ${holds}
    When Ctl    pe1    reconcile
    Then Run On    pe1    ${holds}

It Comes Back
    [Arguments]    ${harm}    ${holds}
    When Run On    pe1    ${harm}
    Then Wait Until Keyword Succeeds    2 s    50 ms    Run On    pe1    ${holds}
