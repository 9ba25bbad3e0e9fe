*** Settings ***
Documentation     NETCONF beside another northbound, and what a hostile or careless client of it can ask for.
...
...               - [Top] pe1 - p - pe2.
...               - [Cfg] The two-PE VPN; ncclient on p, gNMI on pe1.
...               - [Ver] A lock keeps gNMI out and names its holder; what others committed is not overwritten; the token of a
...               commit is no secret that is shown; costly filters hold up nobody; mistakes are rejected.
...               - [Ref] RFC 6241 sections 7.5, 8.3, 8.4; docs/netconf.md; docs/adr/0024, 0026.

Resource          fortress.resource
Library           tests.robot.library.netconf.Netconf

Suite Setup       Run Keywords    The VPN Is Up    AND    Start Netconf    pe1
Suite Teardown    Run Keywords    Stop Netconf    pe1    AND    Configure    pe1
Test Teardown     Run Keywords    Netconf    pe1    discard_changes    AND    Configure    pe1


*** Variables ***
${SID}        fcbb:0:1:73::/64
${OTHER}      fcbb:0:1:74::/64
${OUTSIDE}    fcbb:0:9:1::/64
${END}        {"locator": "MAIN", "behavior": "End"}
${TOKEN}      Marker-of-a-token
${NC}         urn:ietf:params:xml:ns:netconf:base:1.0
${S}          urn:srv6mgr:yang:srv6mgr-srv6
${DELETE}     <config xmlns="${NC}"><srv6 xmlns="${S}"><local-sids><sid operation="delete"><prefix>${RED1}</prefix></sid></local-sids></srv6></config>
${BLANKS}     <filter xmlns="${NC}" type="subtree"><srv6 xmlns="${S}"><vrfs><vrf><name>${SPACE}red${SPACE}</name></vrf></vrfs></srv6></filter>


*** Test Cases ***
Two Northbounds Write Side By Side And A Lock Keeps The Other Out
    When Netconf    pe1    lock    target=running
    Then Set Is Rejected With    pe1    FAILED_PRECONDITION    locked by srv6-netconfd session    update local-sids/sid[prefix=${OTHER}] ${END}
    And Edit SID    pe1    ${SID}    running
    When Netconf    pe1    unlock    target=running
    And Set    pe1    update local-sids/sid[prefix=${OTHER}] ${END}
    Then Wait For SID    pe1    ${SID}
    And Wait For SID    pe1    ${OTHER}

An Outdated Candidate Overwrites Nothing
    Given Edit SID    pe1    ${SID}
    When Set    pe1    update local-sids/sid[prefix=${OTHER}] ${END}
    Then Netconf Is Rejected    pe1    operation-failed    candidate: the running configuration has changed    commit
    And Wait For SID    pe1    ${OTHER}

The Token Of A Commit Is Shown To Nobody
    Given Edit SID    pe1    ${SID}
    When Netconf    pe1    commit    confirmed=${True}    timeout=60    persist=${TOKEN}
    Then Netconf Is Rejected    pe1    invalid-value    another commit    commit    persist_id=a-guess
    ${shown}    Value Of    pe1    transactions
    Should Not Contain    ${{str($shown)}}    ${TOKEN}
    And Netconf    pe1    commit    persist_id=${TOKEN}
    And Wait For SID    pe1    ${SID}

A Filter Has A Budget
    ${terms}    Evaluate    " or ".join(["//sid"] * 2000)
    VAR    ${xml}    <get xmlns="${NC}"><filter type="xpath" select="${terms}"/></get>
    Netconf Is Rejected    pe1    too-big    8192    dispatch    xml=${xml}
    Set    pe1    update local-sids/sid[prefix=${SID}] ${END}

Mistakes Are Rejected
    Given Edit SID    pe1    ${OUTSIDE}
    Then Netconf Is Rejected    pe1    operation-failed    it is outside locator MAIN    validate    source=candidate
    And Netconf    pe1    lock    target=running
    And Netconf Is Rejected    pe1    lock-denied    session    lock    target=running
    And Netconf    pe1    unlock    target=running
    # The attribute has no namespace: to merge what was to be deleted would be wrong.
    And Netconf Is Rejected    pe1    unknown-attribute    operation    edit_config    config=${DELETE}    target=running
    ${found}    Netconf    pe1    get_config    source=running    filter=${BLANKS}
    Should Contain    ${found}    <name>red</name>
