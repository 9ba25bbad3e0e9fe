*** Settings ***
Documentation     srv6ctl as an operator uses it, on a provider edge of the VPN.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; changes are made with srv6ctl alone. Faults are made by hand while srv6mgrd
...               compares every 10 minutes, or is stopped.
...               - [Ver] What is shown equals what gNMI, kernel and the packets sent say. A change is planned, compared,
...               applied, confirmed, undone, rolled back. doctor finds each fault and its remedy mends it; explain names
...               why a SID counts errors.
...               - [Ref] RFC 8986; docs/srv6ctl.md (exit statuses).

Resource          srv6.resource
Library           tests.robot.library.cli.Cli
Library           tests.robot.library.service_state.ServiceStates

Suite Setup       Run Keywords    The VPN Is Up    AND    The Manager Is Slow To Compare
Suite Teardown    Run Keywords    Run On    pe1    rm -f /etc/srv6mgr/srv6mgrd.toml    AND    Restart Service    pe1    srv6mgrd
Test Teardown     End All Flows


*** Variables ***
${SID}          fcbb:0:1:70::/64
${MORE}         {"srv6mgr-srv6:srv6": {"local-sids": {"sid": [{"prefix": "${SID}", "locator": "MAIN", "behavior": "End"}]}}}
${BAD}          {"srv6mgr-srv6:srv6": {"local-sids": {"sid": [{"prefix": "fcbb:0:9::/64", "locator": "MAIN", "behavior": "End"}]}}}
${HAS_SID}      ip -6 route show table 8986 | grep -q "^${SID} "
${STRICT_ON}    test "$(sysctl -n net.vrf.strict_mode)" = 1


*** Test Cases ***
What Is Shown Is What Is
    ${sids}    Ctl Shows    pe1    show sids
    Then The SIDs Are    ${sids}    ${RED1}    ${BLUE1}
    ${vrfs}    Ctl Shows    pe1    show vrfs
    And Should Be Equal    ${vrfs}[vrfs][0][bgp][advertised-sid]    ${BLUE1}
    ${offered}    Ctl Shows    pe1    show capabilities
    And Should Be Equal    ${offered}[capabilities][frr]    10.3

Remote Prefixes Lead To The SIDs Of The Other Edge
    [Documentation]    By an address within the prefix; one VRF in detail counts the same routes.
    ${shown}    Ctl Shows    pe1    show routes ${SITE2} --vrf red
    Then Should Be Equal    ${shown}[routes][0][prefix]    10.2.0.0/24
    And Should Be Equal    ${shown}[routes][0][paths][0][segments]    ${{['fcbb:0:2:64::']}}
    And Should Be Equal    ${shown}[routes][0][state]    installed
    ${red}    Ctl Shows    pe1    show vrfs red
    And Should Be Equal As Integers    ${red}[vrfs][0][routes][remote]    2

Counters And Rates Are Those Of The Packets
    ${before}    Counters Of    pe1    ${RED1}
    Given All Pings Arrive    ce-red1    ${SITE2}    20
    Then Wait For Packets Shown    pe1    ${RED1}    ${before.packets + 20}
    When Begin Flow    ce-red1    ${SITE2}
    Then Wait For Rate    pe1    ${RED1}    least=10

A Change Is Planned, Compared, Applied, And Rolled Back
    ${planned}    Ctl    pe1    plan -    given=${MORE}
    Should Contain    ${planned}    ip -6 route add ${SID}
    ${differs}    Ctl    pe1    diff -    given=${MORE}
    Should Contain    ${differs}    local-sids/sid[prefix='${SID}']/behavior
    When Ctl    pe1    apply -    given=${MORE}
    Then Wait Until Holds    pe1    ${HAS_SID}
    ${last}    Ctl    pe1    diff
    Should Be Equal    ${last}    ${differs}
    When Ctl    pe1    rollback
    Then Wait Until Holds    pe1    ! ${HAS_SID}
    And All Pings Arrive    ce-red1    ${SITE2}

One Object Is Set And Deleted
    Given Ctl    pe1    set sid ${SID} locator MAIN behavior End --yes
    Then Wait Until Holds    pe1    ${HAS_SID}
    ${words}    Ctl    pe1    show config sid ${SID}
    And Should Start With    ${words}    sid ${SID} locator MAIN behavior End
    When Ctl    pe1    delete sid ${SID} --yes
    Then Wait Until Holds    pe1    ! ${HAS_SID}

What Is Not Confirmed Is Undone
    Given Ctl    pe1    apply - --confirm-within 10m    given=${MORE}
    ${words}    Ctl Ends With    pe1    5    rollback
    Should Contain    ${words}    came through srv6ctl of
    When Ctl    pe1    extend 2s
    Then Wait Until Holds    pe1    ! ${HAS_SID}    20
    When Ctl    pe1    apply - --confirm-within 10m    given=${MORE}
    And Ctl    pe1    confirm
    Then Wait Until Holds    pe1    ${HAS_SID}
    [Teardown]    Ctl    pe1    rollback

What Is Refused Changes Nothing
    [Documentation]    Object, cause and remedy, on standard error; exit status 1.
    ${words}    Ctl Ends With    pe1    1    apply -    given=${BAD}
    Then Should Start With    ${words}    srv6ctl: SID fcbb:0:9::/64: it is outside locator MAIN
    And All Pings Arrive    ce-red1    ${SITE2}

Doctor Finds Nothing On A Sound Node
    ${report}    Ctl    pe1    doctor
    Then Should Contain    ${report}    0 failures, 0 warnings

Doctor Finds A Fault And Its Remedy Mends It
    [Documentation]    Each row: what is done by hand, what doctor says, what holds once srv6mgrd has been told to look.
    [Template]    Doctor Finds
    sysctl -qw net.vrf.strict_mode=0    net.vrf.strict_mode is 0, and has to be 1    ${STRICT_ON}

Doctor Finds What Srv6mgrd Does Not Repair
    [Documentation]    Each row: what is done by hand, what doctor says, how it is undone.
    [Template]    Doctor Tells
    ip -6 rule add pref 100 to ${RED1} blackhole    foreign rule 100: from ::/0 to ${RED1}    ip -6 rule del pref 100
    ip -6 route add blackhole ${RED1} table 8986 metric 7    foreign route blackhole ${RED1} metric 7    ip -6 route del ${RED1} table 8986 metric 7

Doctor Finds What Is Gone While Srv6mgrd Is Down
    Given Stop Service    pe1    srv6mgrd
    When Run On    pe1    ip -6 rule del pref 2000 && ip -6 route del ${RED1} table 8986
    ${report}    Ctl Ends With    pe1    2    doctor --quiet
    Then Should Contain    ${report}    srv6mgrd${SPACE * 6}it is not running
    And Should Contain    ${report}    rule 2000 to fcbb:0:1::/48 lookup 8986 is not there
    And Should Contain    ${report}    SID ${RED1} is not in table 8986
    ${words}    Ctl Ends With    pe1    3    apply -    given=${MORE}
    And Should Contain    ${words}    srv6mgrd: it is not running
    When Start Service    pe1    srv6mgrd
    Then Wait For Traffic    ce-red1    ${SITE2}
    And All Services Are Up    pe1
    And Ctl    pe1    doctor

Doctor Finds That Redis Is Down
    Given Stop Service    pe1    redis
    ${report}    Ctl Ends With    pe1    2    doctor --quiet
    Then Should Contain    ${report}    redis${SPACE * 9}it can't be reached at /run/redis/redis.sock
    [Teardown]    Start Service    pe1    redis

Explain Names Why A SID Counts Errors
    [Documentation]    A ping to an End.DT46 carries ICMPv6, which it can't take out: seen on the wire, so certain.
    Given Begin Errors    pe2    fcbb:0:1:64::
    Then Wait For Cause    pe1    ${RED1}    packets that carry ICMPv6, while End.DT46 takes IPv4 or IPv6 alone
    [Teardown]    End Errors

Explain Tells Drift
    Given Run On    pe1    ip -6 route add blackhole ${RED1} table 8986 metric 7
    And Wait For Status    pe1    local-sids/sid[prefix=${RED1}]    drifted    timeout=5
    ${words}    Ctl Ends With    pe1    6    explain ${RED1} --listen 0
    Then Should Contain    ${words}    something that srv6mgr did not make takes packets of it
    [Teardown]    Run On    pe1    ip -6 route del blackhole ${RED1} table 8986 metric 7

Top Is Drawn On A Terminal
    Given Begin Flow    ce-red1    ${SITE2}
    ${screen}    Top On A Terminal    pe1    samples=3
    Then Should Contain    ${screen}    srv6mgr on pe1
    And Should Contain    ${screen}    ${RED1}
    And Should Contain    ${screen}    packets/s


*** Keywords ***
The Manager Is Slow To Compare
    Run On    pe1    mkdir -p /etc/srv6mgr && echo 'compare_interval = 600' >/etc/srv6mgr/srv6mgrd.toml
    Restart Service    pe1    srv6mgrd
    All Is Installed    pe1

The SIDs Are
    [Arguments]    ${shown}    @{prefixes}
    ${found}    Evaluate    [sid["prefix"] for sid in $shown["sids"]]
    Lists Should Be Equal    ${found}    ${prefixes}
    FOR    ${sid}    IN    @{shown}[sids]
        Should Be Equal    ${sid}[install-status]    installed
        Should Be Equal    ${sid}[behavior]    End.DT46
    END

Doctor Finds
    [Arguments]    ${command}    ${words}    ${condition}
    When Run On    pe1    ${command}
    ${report}    Ctl Ends With    pe1    2    doctor --quiet
    Then Should Contain    ${report}    ${words}
    When Ctl    pe1    reconcile
    Then Wait Until Holds    pe1    ${condition}    5
    And Ctl    pe1    doctor

Doctor Tells
    [Arguments]    ${command}    ${words}    ${undo}
    When Run On    pe1    ${command}
    ${report}    Ctl Whatever    pe1    doctor --quiet
    Then Should Contain    ${report}    ${words}
    When Run On    pe1    ${undo}
    Then Wait For Traffic    ce-red1    ${SITE2}
    And All Is Installed    pe1    timeout=90
