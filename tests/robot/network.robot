*** Settings ***
Documentation     A VPN on three provider edges is one object, changed by one transaction.
...
...               - [Top] Sites 1 to 4 behind pe1, pe2 and pe3, a controller behind the core: lab/topologies/three-pe.toml.
...               - [Cfg] Each edge has its base configuration and accepts the controller's certificate over TLS.
...               - [Ver] All edges change or none does, whoever dies; traffic between sites passes, and ends where it has to.
...               - [Ref] RFC 9182; gnmi-commit-confirmed.md.

Resource          srv6.resource
Library           tests.robot.library.controller.Controller

Suite Setup       The Controller Is Known
Suite Teardown    All Is As Before
Test Teardown     All Edges Are As Decided


*** Variables ***
${EXAMPLES}    examples/network
@{SITES}       10.1.0.10    10.2.0.10    10.3.0.10


*** Test Cases ***
One Document Makes A VPN On All Edges
    When Srv6net    apply ${EXAMPLES}/any-to-any.json
    Then VRF Is On    acme    pe1    pe2    pe3
    And Wait For Traffic    ce1    10.2.0.10
    And Wait For Traffic    ce1    10.3.0.10
    And Wait For Traffic    ce2    fd00:3::10

A Fourth Site Changes Its Router Alone
    ${before}    Commits Of    pe1
    When Srv6net    apply ${EXAMPLES}/four-sites.json
    ${after}    Commits Of    pe1
    Then Should Be Equal    ${before}    ${after}
    And The Fourth Site Reaches All

A Router That Does Not Install Rolls All Back
    ${said}    Srv6net    apply ${EXAMPLES}/missing-interface.json    status=1
    Should Contain    ${said}    srv6net: router pe2: it accepted the change and did not install it
    Should Contain    ${said}    rolled back on all routers
    VRF Is On    branch
    Wait For Traffic    ce1    10.2.0.10

A Router That Is Down Rejects The Change
    Given Stop Service    pe3    srv6-gnmid
    ${said}    Srv6net    apply ${EXAMPLES}/hub-and-spoke.json    status=1
    Then Should Contain    ${said}    srv6net: router pe3: [2001:db8::3]:9339 cannot be reached
    And Wait For Traffic    ce2    10.3.0.10
    [Teardown]    The Third Edge Is Back

A Controller That Dies Before The Decision Leaves Nothing
    Given Network Is At Revision    2
    When Srv6net Is Killed    apply ${EXAMPLES}/hub-and-spoke.json    set, awaits confirmation
    ${said}    Srv6net    resume
    Then Should Contain    ${said}    rolled back on all routers
    And Network Is At Revision    2
    And Wait For Traffic    ce2    10.3.0.10

A Controller That Dies After The Decision Loses Nothing
    [Documentation]    An edge that rolled back meanwhile gets the change once more.
    When Srv6net Is Killed    apply ${EXAMPLES}/hub-and-spoke.json    confirmed: ok
    And Whatever Awaits Confirmation Is Rolled Back
    ${said}    Srv6net    resume
    Then Should Contain    ${said}    committed: revision 3
    And Wait For Traffic    ce2    10.1.0.10

Spokes Reach The Hub Alone
    Given Wait For Traffic    ce3    10.1.0.10
    Then No Traffic    ce2    10.3.0.10
    And No Traffic    ce3    10.2.0.10

The Services Of Before Come Back
    When Srv6net    rollback 2
    Then Network Is At Revision    4
    And Wait For Traffic    ce2    10.3.0.10
    And The Fourth Site Reaches All

A Router That Is Down Gets Its Part When It Is Back
    Given Stop Service    pe3    srv6-gnmid
    ${said}    Srv6net    apply --allow-partial ${EXAMPLES}/hub-and-spoke.json    status=3
    Then Should Contain    ${said}    pending on pe3: run srv6net resume
    And Wait For Traffic    ce2    10.1.0.10
    ${said}    Srv6net    status    status=6
    And Should Match Regexp    ${said}    pe3 +pending
    When Start Service    pe3    srv6-gnmid
    Then Srv6net    resume
    And All Edges Are As Decided
    And No Traffic    ce2    10.3.0.10
    When Srv6net    apply ${EXAMPLES}/four-sites.json
    Then The Fourth Site Reaches All

Entries That Are Lost Are Reported And Brought Back
    Given Run On    pe3    srv6ctl apply --replace /src/${EXAMPLES}/base/pe3.json
    ${said}    Srv6net    status    status=6
    Should Match Regexp    ${said}    pe3 +drifted .*run srv6net reconcile
    When Srv6net    reconcile
    Then VRF Is On    acme    pe1    pe2    pe3
    And The Fourth Site Reaches All

What Routers Have Is Adopted Without A Commit
    ${before}    Commits Of    pe1
    Given Controller Has Forgotten All
    ${notes}    Import Is Adopted
    ${after}    Commits Of    pe1
    Then Should Be Equal    ${before}    ${after}
    And Should Be Equal    ${notes}    ${EMPTY}
    And Network Is At Revision    1


*** Keywords ***
All Is As Before
    Srv6net    apply ${EXAMPLES}/nothing.json
    Edges Are As Before
    Stop Routers    pe3

The Controller Is Known
    Start Routers    pe3
    Edges Accept The Controller

The Fourth Site Reaches All
    FOR    ${site}    IN    @{SITES}
        Wait For Traffic    ce4    ${site}
    END

The Third Edge Is Back
    Start Service    pe3    srv6-gnmid
    All Edges Are As Decided

Whatever Awaits Confirmation Is Rolled Back
    [Documentation]    As after the rollback time.
    FOR    ${name}    IN    pe1    pe2    pe3
        Run On    ${name}    srv6ctl cancel || true
    END
