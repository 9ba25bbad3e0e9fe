*** Settings ***
Documentation    Who reads over gNMI sees what happens on the router, and nothing else.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] The two-PE VPN; a subscription to all that has a status.
...              - [Ver] A restart of srv6mgrd reports no change; a path has a budget; what is not of the model is rejected.
...              - [Ref] docs/gnmi.md.

Resource         fortress.resource

Suite Setup      The VPN Is Up
Test Teardown    Unsubscribe


*** Variables ***
${SID}    local-sids/sid[prefix=fcbb:0:1:71::/64]


*** Test Cases ***
A Restart Of Srv6mgrd Reports No Change
    Given Subscribe    pe1    STREAM    vrfs ON_CHANGE    local-sids ON_CHANGE    locators ON_CHANGE
    ...    transactions ON_CHANGE    capabilities ON_CHANGE
    And Wait For Sync
    When Restart Service    pe1    srv6mgrd
    And All Is Installed    pe1
    And Set    pe1    update ${SID} {"locator": "MAIN", "behavior": "End"}
    Then Reported Within    5    ${SID}/state/install-status    installed
    And Nothing Else Was Reported    ${SID}    transactions    capabilities/probed
    [Teardown]    Run Keywords    Unsubscribe    AND    Set    pe1    delete ${SID}

A Path Has A Budget
    ${deep}    Evaluate    "/srv6mgr-srv6:srv6" + "/..." * 64
    ${many}    Evaluate    ["/srv6mgr-srv6:srv6/vrfs"] * 1001
    Get Is Rejected With    pe1    RESOURCE_EXHAUSTED    path    ${deep}
    Get Is Rejected With    pe1    RESOURCE_EXHAUSTED    1001 paths    @{many}
    Value Of    pe1    vrfs

What Is Not Of The Model Is Rejected
    Get Is Rejected With    pe1    UNIMPLEMENTED    the data tree has no node    openconfig:/srv6
    Set Is Rejected With    pe1    INVALID_ARGUMENT    read-only    update local-sids/sid[prefix=${RED1}]/state/reason "mine"
