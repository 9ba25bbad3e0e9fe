*** Settings ***
Documentation     srv6ctl ping and trace: packets of our own show that a path works, or where it stops.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; at p an End SID and a uN SID, by hand; at pe2 an End SID.
...               - [Ver] SIDs, addresses and prefixes of VRFs are pinged, and traced with the SID at each hop. A core
...               router without a route, one that filters, and a SID that is gone are named, with the SID that is
...               next. Statuses are 0, 1 and 2. It works without srv6mgrd. doctor --probe finds the VPN that is broken.
...               - [Ref] RFC 9259; docs/oam.md.

Resource          srv6.resource
Library           tests.robot.library.cli.Cli

Suite Setup       A VPN With SIDs In The Core
Suite Teardown    The Core Is As Before


*** Variables ***
${RED2_SID}      fcbb:0:2:64::
${P}             2001:db8:1::2
${PE2_RED}       10.2.0.1
${P_SID}         fcbb:0:3::
${P_CSID}        fcbd:3::
${END2}          fcbb:0:2:e::
${QUICK}         --count 2 --interval 0.05
# pe2 sends packets through it back to pe1.
${FILTERED}      table ip6 breakage { chain f { type filter hook forward priority 0; ip6 daddr ${RED2_SID} drop; }; }
${NO_ROUTE}      ip -6 route del fcbb:0:2::/48
${ROUTE}         ip -6 route replace fcbb:0:2::/48 via 2001:db8:2::1
${STOPS_AT_P}    it stops at ${P} (hop 1): no route to ${RED2_SID}


*** Test Cases ***
The SID And The Host Are Pinged
    ${said}    Ctl    pe1    ping ${SITE2} --vrf red ${QUICK}
    Should Contain    ${said}    VRF red has 10.2.0.0/24 through ${RED2_SID}
    Should Contain X Times    ${said}    taken out of the SID by ${PE2_RED}    2
    Should Contain X Times    ${said}    answer of ${SITE2}    2
    ${said}    Ctl    pe1    ping ${SITE2_V6} --vrf red ${QUICK}
    Should Contain X Times    ${said}    answer of ${SITE2_V6}    2

A SID Is Pinged By A VRF That Has Routes Through It
    ${found}    Ctl Shows    pe1    ping ${RED2_SID} ${QUICK}
    Should Be Equal    ${found}[vrf]    red
    Should Be Equal As Integers    ${found}[summary][0][arrived]    2

A SID Is Pinged By A Packet That Comes Back
    [Template]    It Comes Back
    ${P_SID}
    ${END2}
    ${END2} --segments ${P_SID}
    ${P_CSID}

The SID At Each Hop Is Traced
    ${found}    Ctl Shows    pe1    trace ${SITE2} --vrf red --segments ${P_SID}
    Should Be True    ${found}[arrived]
    The Hops Are
    ...    ${found}
    ...    ${P} ${RED2_SID} 0
    ...    ${PE2_RED} ${SITE2} None
    ...    ${SITE2} None None
    Should Be Equal    ${found}[hops][0][note]    past ${P_SID}

A Core Router Without A Route Is Named
    When Run On    p    ${NO_ROUTE}
    ${said}    Ctl Ends With    pe1    1    trace ${SITE2} --vrf red
    Then Should Contain    ${said}    ${STOPS_AT_P}
    ${said}    Ctl Ends With    pe1    1    ping ${SITE2} --vrf red ${QUICK}
    And Should Contain    ${said}    ${P}: no route to ${RED2_SID}
    [Teardown]    Run On    p    ${ROUTE}

A Filter In The Core Is Between Two Hops
    When Run On    p    nft '${FILTERED}'
    ${found}    Ctl Ends With    pe1    1    trace ${SITE2} --vrf red
    Then Should Contain    ${found}    no answer after hop 1 (${P}): lost there or at the next hop, on the way to ${RED2_SID}
    ${said}    Ctl Ends With    pe1    1    ping ${SITE2} --vrf red ${QUICK} --timeout 0.3
    And Should Contain X Times    ${said}    no answer    4
    [Teardown]    Run On    p    nft delete table ip6 breakage

A SID That Is Gone Is Named
    [Documentation]    An End: zebra keeps those of VRFs in the main table, too, and puts them back.
    When Stop Service    pe2    srv6mgrd
    And Run On    pe2    ip -6 route del ${END2}/64 table 8986
    ${said}    Ctl Ends With    pe1    1    trace ${END2} --segments ${P_SID}
    Then Should Match Regexp    ${said}    it stops at 2001:db8:\\S+ \\(hop 2\\): no route to ${END2}
    [Teardown]    Run Keywords    Start Service    pe2    srv6mgrd    AND    The VPN Has Converged

A Host That Is Not There Is Behind The Edge
    [Documentation]    The SID works; the edge finds no neighbor.
    ${found}    Ctl Ends With    pe1    1    trace 10.2.0.77 --vrf red --timeout 5
    Should Match Regexp    ${found}    it stops at ${PE2_RED} \\(hop 2\\): the host does not answer

Doctor Sends Packets Through Each VPN
    [Documentation]    Red's way there is broken, blue's is not.
    ${said}    Ctl Whatever    pe1    doctor --probe
    Should Contain    ${said}    2 paths of 2 VRFs carried a packet and its answer
    When Run On    p    nft '${FILTERED}'
    ${said}    Ctl Ends With    pe1    2    doctor --probe --quiet
    Then Should Match Regexp    ${said}    VRF red: \\S+ is not reached through SID ${RED2_SID}: no answer
    And Should Not Contain    ${said}    through SID fcbb:0:2:c8::
    [Teardown]    Run On    p    nft delete table ip6 breakage

It Needs No Service
    Given Stop Service    pe1    srv6mgrd
    And Stop Service    pe1    redis
    ${said}    Ctl    pe1    ping ${SITE2} --vrf red ${QUICK}
    Then Should Contain X Times    ${said}    answer of ${SITE2}    2
    [Teardown]    Run Keywords    Start Routers    pe1    AND    The VPN Has Converged

Errors Have A Status Of Their Own
    [Template]    It Is An Error
    ping 10.9.0.1    an IPv4 address is reached inside of a VRF alone
    ping 10.9.0.1 --vrf green    VRF green: there is no VRF of this name
    ping fcbb:0:1:64::    it is a SID of this router
    trace nowhere    it is no address and no prefix


*** Keywords ***
A VPN With SIDs In The Core
    The VPN Is Up
    Run On    p    ip -6 route add ${P_SID}/48 encap seg6local action End dev to-pe1
    Run On    p    ip -6 route add ${P_CSID}/32 encap seg6local action End flavors next-csid lblen 16 nflen 16 dev to-pe1
    Run On    pe1    ip -6 route add ${P_SID}/48 via ${P} && ip -6 route add ${P_CSID}/32 via ${P}
    Set    pe2    update local-sids/sid[prefix=${END2}/64] {"locator": "MAIN", "behavior": "End"}

The Core Is As Before
    Set    pe2    delete local-sids/sid[prefix=${END2}/64]
    Run On    p    ip -6 route del ${P_SID}/48; ip -6 route del ${P_CSID}/32
    Run On    pe1    ip -6 route del ${P_SID}/48; ip -6 route del ${P_CSID}/32

It Comes Back
    [Arguments]    ${target}
    ${said}    Ctl    pe1    ping ${target} ${QUICK}
    Should Contain X Times    ${said}    came back through it    2

The Hops Are
    [Arguments]    ${found}    @{expected}
    ${hops}    Evaluate    [f"{hop['router']} {hop['to']} {hop['segments-left']}" for hop in $found["hops"]]
    Lists Should Be Equal    ${hops}    ${expected}

It Is An Error
    [Arguments]    ${line}    ${cause}
    ${said}    Ctl Ends With    pe1    2    ${line}
    Should Contain    ${said}    ${cause}
