*** Settings ***
Documentation    The gNMI door, seen by a client that is not ours (pygnmi).
...
...              - [Top] pe1 of the two-PE network.
...              - [Cfg] The two-PE VPN; a VRF green whose interface comes later.
...              - [Ver] Capabilities; Get by type; Subscribe ONCE, POLL, STREAM with SAMPLE and ON_CHANGE, status
...              told within a second; a Set applied whole or not at all; no service without TLS.
...              - [Ref] gNMI specification 3.2 (Capabilities), 3.3 (Get), 3.4 (Set), 3.5 (Subscribe), 3.1 (TLS).

Resource         srv6.resource

Suite Setup      The VPN Is Up
Test Teardown    Unsubscribe


*** Variables ***
${RED_SID}     local-sids/sid[prefix=${RED1}]
${COUNTERS}    ${RED_SID}/state/counters
${GREEN}       vrfs/vrf[name=green]


*** Test Cases ***
Capabilities Name Models Encodings And Version
    ${answer}    Capabilities Of    pe1
    Should Be Equal    ${answer}[gnmi_version]    0.10.0
    List Should Contain Value    ${answer}[supported_encodings]    json_ietf
    ${models}    Evaluate    [m["name"] for m in $answer["supported_models"]]
    List Should Contain Value    ${models}    srv6mgr-srv6
    List Should Contain Value    ${models}    srv6mgr-bgp

Get Tells Configuration And State Apart
    [Template]    Get Has Members
    # type         members of the SID
    config         prefix    locator    behavior    vrf    counters
    state          prefix    state
    operational    prefix    state
    all            prefix    locator    behavior    vrf    counters    state

Get Of What Does Not Exist Is Refused
    [Template]    Get Is Rejected
    pe1    NOT_FOUND    path /srv6/vrfs/vrf[name=purple]: no such data    vrfs/vrf[name=purple]
    pe1    NOT_FOUND    path /srv6/tunnels: /srv6 has no node 'tunnels'; see Capabilities for the models served    tunnels

Once Tells The Present State And Ends
    Given Subscribe    pe1    ONCE    ${RED_SID}
    ${leaves}    Wait For Sync
    Then Should Be Equal    ${{[v for k, v in $leaves.items() if k.endswith("/behavior")]}}    ${{["End.DT46"]}}
    And Should Be Equal    ${{[v for k, v in $leaves.items() if k.endswith("/install-status")]}}    ${{["installed"]}}

Each Poll Tells The Present Counters
    Given Subscribe    pe1    POLL    ${COUNTERS}
    And Take Notification
    ${before}    Reported Value    ${COUNTERS}/in-pkts
    When Note Counters    pe1 ${RED1}
    And All Pings Arrive    ce-red1    ${SITE2}    12
    And Counted Since    pe1 ${RED1}    12
    # pygnmi gives the answers in turn, and the first came unasked.
    Then Reported Within    5    ${COUNTERS}/in-pkts    ${{str(int($before) + 12)}}

Samples Tell What Was Counted
    Given Subscribe    pe1    STREAM    ${COUNTERS} SAMPLE 1
    And Wait For Sync
    ${before}    Reported Value    ${COUNTERS}/in-pkts
    When All Pings Arrive    ce-red1    ${SITE2}    15
    Then Reported Within    3    ${COUNTERS}/in-pkts    ${{str(int($before) + 15)}}

A Repair Is Reported Within A Second
    Given Subscribe    pe1    STREAM    ${RED_SID}/state/repairs ON_CHANGE    ${RED_SID}/state/install-status ON_CHANGE
    And Wait For Sync
    ${repairs}    Reported Value    ${RED_SID}/state/repairs
    When Run On    pe1    ip -6 route del ${RED1} table 8986
    Then Reported Within    1    ${RED_SID}/state/repairs    ${{str(int($repairs) + 1)}}
    And Reported Within    1    ${RED_SID}/state/install-status    installed

A Status Is Reported Within A Second
    [Documentation]    A VRF whose interface comes later, goes, and comes again.
    Given Set    pe1    update ${GREEN} {"table-id": 30, "interface": ["late0"]}
    And Subscribe    pe1    STREAM    ${GREEN}/state/install-status ON_CHANGE    ${GREEN}/state/reason ON_CHANGE
    And Wait For Sync
    Then Reported Within    1    ${GREEN}/state/install-status    pending
    And Reported Within    1    ${GREEN}/state/reason    interface late0 does not exist yet
    When Run On    pe1    ip link add late0 type dummy
    Then Reported Within    1    ${GREEN}/state/install-status    installed
    And Reported Within    1    ${GREEN}/state/reason    ${EMPTY}
    ${ports}    Ports Of    pe1    green
    And Should Be Equal    ${ports}    ${{["late0"]}}
    When Run On    pe1    ip link del late0
    Then Reported Within    1    ${GREEN}/state/install-status    pending
    [Teardown]    Run Keywords    Unsubscribe    AND    Set    pe1    delete ${GREEN}

A Set Is Applied Whole Or Not At All
    [Documentation]    The second line is refused by the kernel's state, after the first one could have been written.
    Given Run On    pe1    ip link add other type vrf table 40
    And Remember The Network    pe1
    And Begin To Listen    pe1
    When Set Is Rejected    pe1    INVALID_ARGUMENT
    ...    VRF other: something that srv6mgr did not make is already there (VRF other); remove it, or declare another name, table or prefix
    ...    update vrfs/vrf[name=green] {"table-id": 30}
    ...    update vrfs/vrf[name=other] {"table-id": 41}
    Then Nothing Was Written    pe1
    And The Network Is Unchanged    pe1
    [Teardown]    Run On    pe1    ip link del other

There Is No Service Without TLS
    ${failure}    Plaintext Is Rejected    pe1
    Log    ${failure}


*** Keywords ***
Get Has Members
    [Arguments]    ${kind}    @{members}
    ${value}    Value Of    pe1    ${RED_SID}    ${kind}
    Lists Should Be Equal    ${{sorted($value)}}    ${{sorted($members)}}
