*** Settings ***
Documentation     Endpoint behaviors End, End.DT4, End.DT6 and End.DT46: installed, processing, counting.
...
...               - [Top] pe1 - p - pe2, customer red at both sites.
...               - [Cfg] The two-PE VPN; pe1 has an End, an End.DT4 and an End.DT6 SID more. On pe2 a host route of
...               VRF red puts the segment list under test on packets to site 1.
...               - [Ver] The kernel holds each SID as declared; every packet is processed by every SID of its list and
...               counted exactly; what a behavior can't process is counted as an error.
...               - [Ref] RFC 8986 sections 4.1 (End), 4.6 (End.DT6), 4.7 (End.DT4), 4.8 (End.DT46); RFC 8754.

Resource          srv6.resource

Suite Setup       The SIDs Are Declared
Suite Teardown    Set    pe1    delete local-sids/sid[prefix=${END}]    delete local-sids/sid[prefix=${DT4}]
...                   delete local-sids/sid[prefix=${DT6}]    delete local-sids/sid[prefix=${HOST_SID}]


*** Variables ***
${END}         fcbb:0:1:1::/64
${DT4}         fcbb:0:1:4::/64
${DT6}         fcbb:0:1:6::/64
${HOST_SID}    fcbb:0:1:2::/128
${UNDERLAY}    via inet6 2001:db8:2::2 dev to-p


*** Test Cases ***
The Kernel Holds Each SID As Declared
    [Template]    The Kernel Holds
    ${END}         action=End
    ${DT4}         action=End.DT4    vrftable=10
    ${DT6}         action=End.DT6    vrftable=10
    ${HOST_SID}    action=End
    ${RED1}        action=End.DT46    vrftable=10

Each SID Is Installed
    [Template]    The SID Is Installed
    ${END}
    ${DT4}
    ${DT6}
    ${HOST_SID}
    ${RED1}

Each Packet Is Processed By Every SID On Its List
    [Template]    Pings Pass By
    # to           packets    the SIDs on pe1, in the order of the list
    ${SITE1}       20         ${DT4}
    ${SITE1_V6}    21         ${DT6}
    ${SITE1}       22         ${RED1}
    ${SITE1_V6}    23         ${RED1}
    ${SITE1}       24         ${END}         ${DT4}
    ${SITE1_V6}    25         ${END}         ${DT6}
    ${SITE1}       26         ${END}         ${RED1}
    ${SITE1}       27         ${HOST_SID}    ${END}    ${DT4}
    ${SITE1_V6}    28         ${END}         ${HOST_SID}    ${RED1}

What Can Not Be Processed Is An Error
    [Documentation]    End has no next segment in a packet without SRH; End.DT4 finds no IPv4 packet in an echo request.
    [Template]    Pings Are Errors
    ${END}    5
    ${DT4}    6
    ${DT6}    7


*** Keywords ***
The SIDs Are Declared
    The VPN Is Up
    Set    pe1
    ...    update local-sids/sid[prefix=${END}] {"locator": "MAIN", "behavior": "End"}
    ...    update local-sids/sid[prefix=${HOST_SID}] {"locator": "MAIN", "behavior": "End"}
    ...    update local-sids/sid[prefix=${DT4}] {"locator": "MAIN", "behavior": "End.DT4", "vrf": "red"}
    ...    update local-sids/sid[prefix=${DT6}] {"locator": "MAIN", "behavior": "End.DT6", "vrf": "red"}

The Kernel Holds
    [Arguments]    ${prefix}    &{expected}
    ${found}    SID In Kernel    pe1    ${prefix}
    Should Be Equal    ${found}[encap_type]    seg6local
    FOR    ${name}    ${value}    IN    &{expected}
        Should Be Equal    ${found}[${name}]    ${value}
    END

The SID Is Installed
    [Arguments]    ${prefix}
    Wait For Status    pe1    local-sids/sid[prefix=${prefix}]    installed    ${EMPTY}

Pings Pass By
    [Documentation]    Echo requests from red at site 2 with this segment list; replies come through BGP's tunnel.
    [Arguments]    ${to}    ${packets}    @{prefixes}
    ${segments}    Evaluate    ",".join(p.partition("/")[0] for p in $prefixes)
    ${sids}    Evaluate    [f"pe1 {p}" for p in $prefixes]
    Given Run On    pe2    ip route add ${to} vrf red encap seg6 mode encap segs ${segments} ${UNDERLAY}
    And Note Counters    @{sids}    pe2 ${RED2}
    When All Pings Arrive    ce-red2    ${to}    ${packets}
    FOR    ${sid}    IN    @{sids}    pe2 ${RED2}
        Then Counted Since    ${sid}    ${packets}
    END
    [Teardown]    Run On    pe2    ip route del ${to} vrf red

Pings Are Errors
    [Arguments]    ${prefix}    ${packets}
    ${address}    Evaluate    $prefix.partition("/")[0]
    Given Note Counters    pe1 ${prefix}
    When Ping    p    ${address}    ${packets}
    Then Counted Since    pe1 ${prefix}    0    errors=${packets}
