*** Settings ***
Documentation    A customer on a VLAN: its port, its addresses and its VRF come from one declaration.
...
...              - [Top] The two-PE network; ce-red1 speaks on VLAN 30 too.
...              - [Cfg] VPN of examples/l3vpn, and the VLAN on pe1's port in VRF red.
...              - [Ver] Packets to the port and through the VPN; status over gNMI, sysrepo and srv6ctl; what is removed
...              by hand comes back; exact words of what is rejected; nothing is left.
...              - [Ref] docs/interfaces.md; RFC 8343; RFC 8344.

Resource         ../srv6.resource
Library          tests.robot.library.cli.Cli

Suite Setup      The VPN Is Up


*** Variables ***
${PORT}       interfaces/interface[name=to-ce-red.30]
${PORT_V4}    10.30.0.1
${PORT_V6}    fd30::1
${HOST_V4}    10.30.0.10
${HOST_V6}    fd30::10

${VLAN}       update ${PORT} {"srv6mgr-interfaces:vlan": {"parent-interface": "to-ce-red", "vlan-id": 30}}
${MTU}        update ${PORT} {"srv6mgr-interfaces:mtu": 1400}
${IPV4}       update ${PORT} {"srv6mgr-interfaces:ipv4": {"address": [{"ip": "${PORT_V4}", "prefix-length": 24}]}}
${IPV6}       update ${PORT} {"srv6mgr-interfaces:ipv6": {"address": [{"ip": "${PORT_V6}", "prefix-length": 64}, {"ip": "fe80::30", "prefix-length": 64}]}}
${IN_RED}     update vrfs/vrf[name=red]/interface ["to-ce-red.30"]
${TWICE}      interface to-ce-red.31: address ${PORT_V4} is already declared for interface to-ce-red.30 in VRF red; choose another address
${SAME}       update interfaces/interface[name=to-ce-red.31] {"srv6mgr-interfaces:ipv4": {"address": [{"ip": "${PORT_V4}", "prefix-length": 32}]}}


*** Test Cases ***
A Customer On A VLAN
    [Setup]    The Customer Is On The VLAN
    When Set    pe1    ${VLAN}    ${MTU}    ${IPV4}    ${IPV6}    ${IN_RED}
    Then Wait For Status    pe1    ${PORT}    installed
    And Wait For Tunnels    pe2    red    10.30.0.0/24    fd30::/64
    And The Customer Is Reached
    And All Pings Arrive    ce-red1    fe80::30%eth0.30
    ${link}    Run On    pe1    ip -d link show dev to-ce-red.30
    And Should Contain    ${link}    mtu 1400
    ${shown}    Ctl Shows    pe1    show interfaces
    And Should Contain    ${{[i['name'] for i in $shown['interfaces'] if i['vrf'] == 'red']}}    to-ce-red.30
    ${stored}    Run On    pe1    sysrepocfg -X -d operational -f json -m srv6mgr-srv6
    And Should Contain    ${stored}    to-ce-red.30

What Is Removed By Hand Comes Back
    [Template]    It Comes Back After
    ip address delete ${PORT_V4}/24 dev to-ce-red.30
    ip address delete ${PORT_V6}/64 dev to-ce-red.30
    ip link set to-ce-red.30 down
    ip link set to-ce-red.30 nomaster
    ip link delete to-ce-red.30

The Parent Goes Down And Comes Back
    When Run On    pe1    ip link set to-ce-red down
    Then Wait For Status    pe1    ${PORT}    pending    parent-interface to-ce-red is down
    And Its Operational State Becomes    down    lower-layer-down
    When Run On    pe1    ip link set to-ce-red up
    Then Wait For Status    pe1    ${PORT}    installed
    And Its Operational State Becomes    up
    And The Customer Is Reached

What Can Not Be Is Rejected
    Set Is Rejected    pe1    INVALID_ARGUMENT    ${TWICE}    ${SAME}
    ...    update vrfs/vrf[name=red]/interface ["to-ce-red.31"]

What Others Configured Stays Theirs
    Given Run On    pe1    ip address add 10.30.0.2/24 dev to-ce-red.30
    When Set    pe1    update ${PORT} {"srv6mgr-interfaces:ipv4": {"address": [{"ip": "10.30.0.2", "prefix-length": 24}]}}
    And Set    pe1    delete ${PORT}/srv6mgr-interfaces:ipv4
    ${left}    Run On    pe1    ip -4 -br address show dev to-ce-red.30
    Then Should Contain    ${left}    10.30.0.2/24
    And Should Not Contain    ${left}    ${PORT_V4}
    When Set    pe1    ${IPV4}
    Then The Customer Is Reached

It Goes As It Came
    When Set    pe1    delete ${PORT}    delete vrfs/vrf[name=red]/interface[.=to-ce-red.30]
    Then Wait For No Tunnel    pe2    red    10.30.0.0/24
    ${links}    Run On    pe1    ip -br link
    And Should Not Contain    ${links}    to-ce-red.30
    And All Is Installed    pe1
    And All Pings Arrive    ce-red1    ${SITE2}
    [Teardown]    Run Keywords    Run On    ce-red1    ip link delete eth0.30    AND    The VPN Is Up


*** Keywords ***
The Customer Is On The VLAN
    Run On    ce-red1    ip link add link eth0 name eth0.30 type vlan id 30
    Run On    ce-red1    ip address add ${HOST_V4}/24 dev eth0.30
    Run On    ce-red1    ip address add ${HOST_V6}/64 dev eth0.30 nodad
    Run On    ce-red1    ip link set eth0.30 up

The Customer Is Reached
    Wait For Traffic    ce-red1    ${PORT_V4}
    Wait For Traffic    ce-red1    ${PORT_V6}

Its Operational State Becomes
    [Documentation]    One of these, as gNMI has it.
    [Arguments]    @{states}
    Wait Until Keyword Succeeds    20 s    0.2 s    Its Operational State Is    @{states}

Its Operational State Is
    [Arguments]    @{states}
    ${state}    Value Of    pe1    ${PORT}/state    state
    List Should Contain Value    ${states}    ${state}[oper-status]

It Comes Back After
    [Arguments]    ${command}
    ${before}    Repairs Of    pe1    ${PORT}
    Run On    pe1    ${command}
    Wait For Repair    pe1    ${PORT}    ${before}    timeout=20
    The Customer Is Reached
