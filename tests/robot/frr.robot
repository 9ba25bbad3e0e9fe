*** Settings ***
Documentation     FRR stays as declared, whatever happens to it or in it, and says why when it does not advertise.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; pe1 compares every 2 s, since FRR tells nobody of what an operator types.
...               - [Ver] FRR that comes after srv6mgrd is configured. What an operator changes of srv6mgr's lines comes
...               back, what is his stays. Another locator and another function are advertised, and packets follow.
...               None of it ends the session of the provider edges. The reason of what is not advertised, and sessions
...               with customers, are told over gNMI, in the operational datastore (NETCONF) and by srv6ctl. What FRR
...               refuses in the middle of a commit leaves FRR as it was.
...               - [Ref] RFC 9252, RFC 4364.

Resource          srv6.resource
Library           tests.robot.library.cli.Cli
Library           tests.robot.library.netconf.Netconf

Suite Setup       Run Keywords    The VPN Is Up    AND    The Manager Compares Every 2 Seconds
Suite Teardown    Run On    pe1    rm /etc/srv6mgr/srv6mgrd.toml


*** Variables ***
${PE2}           2001:db8::2
${NEXT_HOP}      vtysh -c 'show bgp neighbors 2001:db8::2 json' | grep nexthopGlobal
${RED_BGP}       vrfs/vrf[name=red]/srv6mgr-bgp:bgp
${RED_VRF}       router bgp 65000 vrf red
${NEW}           fcbb:0:11:77::/64
${DT4}           fcbb:0:1:400::/64
${DT6}           fcbb:0:1:600::/64
${MAIN}          locators/locator[name=MAIN]
# Behind red's customer at pe1.
${BEHIND}        2001:db8:c::1/128
@{CUSTOMER}
...              router bgp 65100
...              bgp router-id 192.0.2.1
...              no bgp ebgp-requires-policy
...              neighbor fd00:1::1 remote-as 65000
...              address-family ipv6 unicast
...              neighbor fd00:1::1 activate
...              redistribute connected
${ONE_SILENT}    no BGP session for VPN routes with some neighbors: 2001:db8:1::2 is Active
${NO_SESSION}    no BGP session with neighbors in the VRF: 10.1.0.10 is Active

# robocop: off=LEN08
${ISIS}          update srv6mgr-isis:isis {"area": "49.0001", "system-id": "0000.0000.0001", "locator": "MAIN", "interface": [{"name": "lo", "passive": true}, {"name": "to-p", "point-to-point": true}]}
${NO_ISISD}      FRR isisd 'interface lo': FRR refused it: isisd: isisd can't be reached at /run/frr/isisd.vty (No such file or directory); start frr and see that the daemon is enabled (at 'interface lo / ipv6 router isis srv6mgr'); correct the configuration, or FRR's own where it is in the way
${REFUSED_AS}    FRR bgpd 'router bgp 65001': FRR refused it: bgpd: BGP instance name and AS number mismatch; BGP instance is already running; AS is 65000 (at 'router bgp 65001 / bgp router-id 192.0.2.1'); correct the configuration, or FRR's own where it is in the way


*** Test Cases ***
# Each row of a Set stands on one line.
# robocop: off=LEN04,LEN08
FRR That Comes After The Manager Is Configured
    Given Stop Service    pe1    srv6mgrd
    And Stop Service    pe1    frr
    When Start Service    pe1    srv6mgrd
    Then Wait For Status    pe1    ${RED_BGP}    pending
    And SIDs In Kernel Stay    pe1
    When Start Service    pe1    frr
    Then The VPN Has Converged

What An Operator Changes Of Ours Comes Back
    [Documentation]    Nothing tells of it, so the next compare finds it; under load compares are further apart.
    ${before}    Running Configuration    pe1
    When Vtysh Configures    pe1    ${RED_VRF}    no sid vpn per-vrf export    sid vpn per-vrf export 7
    And Vtysh Configures    pe1    ${RED_VRF}    address-family ipv6 unicast    no import vpn
    And Vtysh Configures    pe1    ${RED_VRF}    address-family ipv4 unicast    rt vpn both 65000:99
    And Vtysh Configures    pe1    router bgp 65000    no neighbor ${PE2}
    Then Wait Until Keyword Succeeds    120 s    0.5 s    The Running Configuration Is    pe1    ${before}
    And The VPN Has Converged

A Locator That An Operator Removes Comes Back
    ${before}    Running Configuration    pe1
    When Vtysh Configures    pe1    segment-routing    srv6    locators    no locator MAIN
    Then Wait Until Keyword Succeeds    120 s    0.5 s    The Running Configuration Is    pe1    ${before}
    And The VPN Has Converged

What An Operator Adds Stays
    [Setup]    Remember The Network    pe1
    When Vtysh Configures    pe1    router bgp 65000    bgp bestpath as-path ignore
    And Vtysh Configures    pe1    ${RED_VRF}    address-family ipv4 unicast    network 10.9.0.0/16
    And Vtysh Configures    pe1    interface to-p    description uplink
    And Set    pe1    update ${RED_BGP} {"export-rt": ["65000:10", "65000:11"]}
    And Configure    pe1
    And Restart Service    pe1    srv6mgrd
    Then Running Configuration Has    pe1    bgp bestpath as-path ignore    network 10.9.0.0/16    description uplink
    [Teardown]    Run Keywords
    ...    Vtysh Configures    pe1    router bgp 65000    no bgp bestpath as-path ignore    AND
    ...    Vtysh Configures    pe1    ${RED_VRF}    address-family ipv4 unicast    no network 10.9.0.0/16    AND
    ...    Vtysh Configures    pe1    interface to-p    no description    AND
    ...    The Network Comes Back    pe1    nhid    nexthops:

A Change Elsewhere Leaves The Session Alone
    [Documentation]    Each row is one Set on pe1.
    [Setup]    Run Keywords    The VPN Has Converged    AND    Note The Session
    [Template]    The Session Survives
    update vrfs/vrf[name=green] {"table-id": 30, "srv6mgr-bgp:bgp": {"rd": "65000:130", "import-rt": ["65000:30"], "export-rt": ["65000:30"], "export-auto": [null], "locator": "MAIN"}}
    update vrfs/vrf[name=green]/srv6mgr-bgp:bgp {"rd": "65000:131"}
    delete vrfs/vrf[name=green]
    update ${RED_BGP} {"neighbor": [{"address": "10.1.0.10", "remote-as": 65100}]}
    delete ${RED_BGP}/neighbor[address=10.1.0.10]
    update srv6mgr-bgp:bgp {"neighbor": [{"address": "2001:db8::9", "remote-as": 65000}]}
    delete srv6mgr-bgp:bgp/neighbor[address=2001:db8::9]
    update locators/locator[name=OTHER] {"prefix": "fcbb:0:12::/48"}
    delete locators/locator[name=OTHER]

A SID Moves To Another Function And Another Locator
    [Setup]    Note The Session
    When Set
    ...    pe1
    ...    update local-sids/sid[prefix=fcbb:0:1:77::/64] {"locator": "MAIN", "behavior": "End.DT46", "vrf": "red"}
    ...    update ${RED_BGP} {"export-sid": "fcbb:0:1:77::/64"}
    Then Packets Go To    fcbb:0:1:77::
    And The Session Has Stayed
    When Run On    p    ip -6 route add fcbb:0:11::/48 via 2001:db8:1::1
    And Run On    pe2    ip -6 route add fcbb:0:11::/48 via 2001:db8:2::2
    And Set
    ...    pe1
    ...    replace locators/locator[name=MAIN] {"name": "MAIN", "prefix": "fcbb:0:11::/48"}
    ...    replace local-sids {"sid": [{"prefix": "${NEW}", "locator": "MAIN", "behavior": "End.DT46", "vrf": "red"}]}
    ...    update ${RED_BGP} {"export-sid": "${NEW}"}
    ...    delete vrfs/vrf[name=blue]/srv6mgr-bgp:bgp
    Then Packets Go To    fcbb:0:11:77::
    And The Session Has Stayed
    [Teardown]    Run Keywords
    ...    Configure    pe1    AND
    ...    Run On    p    ip -6 route del fcbb:0:11::/48    AND
    ...    Run On    pe2    ip -6 route del fcbb:0:11::/48    AND
    ...    The VPN Has Converged

A VRF Exports A SID For Each Address Family
    [Documentation]    End.DT4 and End.DT6 of red: the routes carry them, packets go to them, and they are counted.
    When Set
    ...    pe1
    ...    delete ${RED_BGP}/export-sid
    ...    update local-sids/sid[prefix=${DT4}] {"locator": "MAIN", "behavior": "End.DT4", "vrf": "red"}
    ...    update local-sids/sid[prefix=${DT6}] {"locator": "MAIN", "behavior": "End.DT6", "vrf": "red"}
    ...    update ${RED_BGP} {"export-sid-ipv4": "${DT4}", "export-sid-ipv6": "${DT6}"}
    Then Wait Until Keyword Succeeds    90 s    0.2 s    The Tunnel Ends At    10.1.0.0/24    fcbb:0:1:400::
    And Wait Until Keyword Succeeds    90 s    0.2 s    The Tunnel Ends At    fd00:1::/64    fcbb:0:1:600::
    And Wait For Traffic    ce-red2    ${SITE1}
    And Wait For Traffic    ce-red2    ${SITE1_V6}
    And Wait For Status    pe1    ${RED_BGP}    installed    timeout=30
    ${shown}    Ctl Shows    pe1    show vrfs
    And Should Be Equal    ${shown}[vrfs][1][bgp][advertised-sid-ipv4]    ${DT4}
    And Should Be Equal    ${shown}[vrfs][1][bgp][advertised-sid-ipv6]    ${DT6}
    When Note Counters    pe1 ${DT4}    pe1 ${DT6}
    And All Pings Arrive    ce-red2    ${SITE1}
    Then Counted Since    pe1 ${DT4}    10
    When Note Counters    pe1 ${DT4}    pe1 ${DT6}
    And All Pings Arrive    ce-red2    ${SITE1_V6}
    Then Counted Since    pe1 ${DT6}    10
    And Counted Since    pe1 ${DT4}    0
    [Teardown]    Run Keywords    Configure    pe1    AND    The VPN Has Converged

All Is There Again After A Daemon Was Killed
    [Documentation]    FRR's watchfrr starts it again, with or without the others; it reads its own file, in which nothing of
    ...    srv6mgr's stands.
    [Template]    The Daemon Is Killed
    mgmtd
    staticd

One Of Several Neighbors Without A Session Is Told
    When Set    pe1    update srv6mgr-bgp:bgp {"neighbor": [{"address": "2001:db8:1::2", "remote-as": 65000}]}
    Then Wait For Status    pe1    ${RED_BGP}    installed    ${ONE_SILENT}    timeout=30
    [Teardown]    Set    pe1    delete srv6mgr-bgp:bgp/neighbor[address=2001:db8:1::2]

A Customer Without A Session Is Told Through Every Northbound
    When Set    pe1    update ${RED_BGP} {"neighbor": [{"address": "10.1.0.10", "remote-as": 65100}]}
    Then Wait For Status    pe1    ${RED_BGP}    installed    ${NO_SESSION}
    And Every Northbound Reports    ${NO_SESSION}
    [Teardown]    Set    pe1    delete ${RED_BGP}/neighbor[address=10.1.0.10]

IPv6 Routes Of A Customer Reach The Other Edge
    [Documentation]    bgpd resolves them by red's own SID, looked up in the VRF. Without a route to it there, which comes
    ...    back, it would hold them invalid, and the VRF would not be installed.
    Given Start Service    ce-red1    frr
    And Run On    ce-red1    ip -6 address add ${BEHIND} dev lo
    And Vtysh Configures    ce-red1    @{CUSTOMER}
    When Set    pe1    update ${RED_BGP} {"neighbor": [{"address": "${SITE1_V6}", "remote-as": 65100}]}
    Then Wait Until Keyword Succeeds    90 s    0.2 s    The Tunnel Ends At    ${BEHIND}    fcbb:0:1:64::
    And Wait For Traffic    ce-red2    2001:db8:c::1
    When Run On    pe1    ip -6 route del unreachable ${RED1} table 10 proto 86
    Then Wait For Traffic    ce-red2    2001:db8:c::1
    And Wait For Status    pe1    ${RED_BGP}    installed    timeout=30
    [Teardown]    Run Keywords
    ...    Set    pe1    delete ${RED_BGP}/neighbor[address=${SITE1_V6}]    AND
    ...    Stop Service    ce-red1    frr    AND
    ...    Run On    ce-red1    ip -6 address del ${BEHIND} dev lo    AND
    ...    The VPN Has Converged

What Is Not Advertised Says Why Through Every Northbound
    Given Stop Service    pe2    frr
    VAR    ${reason}    no BGP session for VPN routes is established: ${PE2} is Active
    Then Wait For Status    pe1    ${RED_BGP}    pending    ${reason}    timeout=30
    And Every Northbound Reports    ${reason}
    When Start Netconf    pe1
    Then Netconf Tells    pe1    ${reason}
    [Teardown]    Run Keywords
    ...    Stop Netconf    pe1    AND
    ...    Start Service    pe2    frr    AND
    ...    The VPN Has Converged

IS-IS Carries The Locator
    [Documentation]    p learns pe1's locator from isisd, and the locator's state tells what is missing until then.
    Given Start Service    p    frr
    When Set Is Rejected    pe1    ABORTED    ${NO_ISISD}    ${ISIS}
    And Start Isisd    pe1
    And Start Isisd    p
    And Set    pe1    ${ISIS}
    Then Wait For Status    pe1    ${MAIN}    pending    no IS-IS neighbor at to-p    timeout=90
    When Vtysh Configures    p    interface to-pe1    ipv6 router isis core    isis network point-to-point
    And Vtysh Configures    p    router isis core    is-type level-2-only    net 49.0001.0000.0000.0003.00
    Then Wait For Status    pe1    ${MAIN}    installed    timeout=90
    And Wait Until Keyword Succeeds    90 s    0.5 s    Isisd Has Learned    p    fcbb:0:1::/48
    When Stop Isisd    pe1
    Then Wait For Status    pe1    ${MAIN}    failed    timeout=60
    When Start Isisd    pe1
    Then Wait For Status    pe1    ${MAIN}    installed    timeout=90
    [Teardown]    Run Keywords
    ...    Set    pe1    delete srv6mgr-isis:isis    AND
    ...    Stop Isisd    pe1    AND
    ...    Stop Isisd    p    AND
    ...    Stop Service    p    frr    AND
    ...    Run On    p    ip -6 route flush proto isis    AND
    ...    The VPN Has Converged

Another AS Beside An Operators Lines Leaves FRR As It Was
    [Documentation]    The instance of the old AS stays for his sake; FRR refuses another, when ours is gone from it. The order in
    ...    which FRR lists instances is that of their making.
    Given Vtysh Configures    pe1    router bgp 65000    bgp bestpath as-path ignore
    ${before}    Running Configuration    pe1
    When Set Is Rejected    pe1    ABORTED    ${REFUSED_AS}    update srv6mgr-bgp:bgp {"as-number": 65001}
    ${after}    Running Configuration    pe1
    Then Should Be Equal    ${{sorted($after.splitlines())}}    ${{sorted($before.splitlines())}}
    And The VPN Has Converged
    [Teardown]    Vtysh Configures    pe1    router bgp 65000    no bgp bestpath as-path ignore

An Address Of The Router That Goes And Comes Back
    [Documentation]    bgpd announces an IPv4-mapped next hop from then on (bgp_interface_address_delete), which no peer
    ...    can resolve, though the session is up on both sides.
    Given Wait For Traffic    ce-red1    ${SITE2}
    When Run On    pe1    ip addr del 2001:db8::1/128 dev lo
    And Wait Until Holds    pe1    ${NEXT_HOP} | grep -q '"::ffff:'    10
    And Run On    pe1    ip addr add 2001:db8::1/128 dev lo
    Then Wait Until Holds    pe1    ${NEXT_HOP} | grep -q '"2001:db8::1"'    30
    And The VPN Has Converged
    And Wait For Traffic    ce-red1    ${SITE2}


*** Keywords ***
Start Isisd
    [Arguments]    ${at}
    Run On    ${at}    /usr/lib/frr/isisd -d -f /dev/null --log file:/tmp/isisd.log </dev/null >/tmp/isisd.out 2>&1

Stop Isisd
    [Documentation]    Nothing is left at its socket when it has ended.
    [Arguments]    ${at}
    Run On    ${at}    pid=$(cat /run/frr/isisd.pid) || exit 0; kill "$pid"; while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done

Isisd Has Learned
    [Arguments]    ${at}    ${prefix}
    ${routes}    Run On    ${at}    vtysh -c 'show ipv6 route isis'
    Should Contain    ${routes}    ${prefix}

SIDs In Kernel Stay
    [Arguments]    ${at}
    ${found}    SIDs In Kernel    ${at}
    Should Be Equal    ${found}    ${{[$RED1, $BLUE1]}}

The Running Configuration Is
    [Arguments]    ${at}    ${text}
    ${now}    Running Configuration    ${at}
    Should Be Equal    ${now}    ${text}

Running Configuration Has
    [Arguments]    ${at}    @{lines}
    ${now}    Running Configuration    ${at}
    FOR    ${line}    IN    @{lines}
        Should Contain    ${now}    ${line}
    END

Note The Session
    ${times}    Times Established    pe1    ${PE2}
    VAR    ${ESTABLISHED}    ${times}    scope=TEST    # robocop: off=VAR06

The Session Has Stayed
    ${times}    Times Established    pe1    ${PE2}
    Should Be Equal    ${times}    ${ESTABLISHED}

The Session Survives
    [Arguments]    ${line}
    When Set    pe1    ${line}
    Then Wait For Traffic    ce-blue1    ${SITE2}
    And The Session Has Stayed

Packets Go To
    [Documentation]    pe2 sends red's packets to this SID of pe1, and they arrive.
    [Arguments]    ${sid}
    Wait Until Keyword Succeeds    60 s    0.2 s    The Tunnel Of Site 1 Ends At    ${sid}
    Wait For Traffic    ce-red2    ${SITE1}

The Tunnel Of Site 1 Ends At
    [Arguments]    ${sid}
    The Tunnel Ends At    10.1.0.0/24    ${sid}

The Tunnel Ends At
    [Arguments]    ${prefix}    ${sid}
    ${segments}    Encapsulated To    pe2    red    ${prefix}
    Should Be Equal    ${segments}    ${{[$sid]}}

The Daemon Is Killed
    [Arguments]    ${daemon}
    ${before}    Running Configuration    pe1
    ${daemons}    FRR Daemons    pe1
    When Kill Service    pe1    ${daemon}
    Then FRR Daemon Runs Again    pe1    ${daemon}    ${daemons}
    And Wait Until Keyword Succeeds    120 s    0.5 s    The Running Configuration Is    pe1    ${before}
    And The VPN Has Converged
    And Wait For Traffic    ce-red1    ${SITE2}

Every Northbound Reports
    [Documentation]    gNMI has been asked already.
    [Arguments]    ${reason}
    ${shown}    Ctl Shows    pe1    show vrfs
    Should Be Equal    ${shown}[vrfs][1][bgp][reason]    ${reason}
    ${stored}    Run On    pe1    sysrepocfg -X -d operational -f json -m srv6mgr-srv6
    Should Contain    ${stored}    ${reason}
