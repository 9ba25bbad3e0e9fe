*** Settings ***
Documentation     The files of srv6mgrd are lost, damaged or have no room, and srv6mgrd itself is gone or stopped.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; what srv6mgrd keeps in /var/lib/srv6mgr is harmed while it is stopped.
...               - [Ver] Every northbound says that srv6mgrd does not run. A start without its files writes nothing that is
...               right; commits go on; srv6ctl doctor names what is wrong. The boundary stands without srv6mgrd.
...               - [Ref] docs/state.md; docs/adr/0024, 0025.

Resource          fortress.resource
Library           tests.robot.library.attack.Attack
Library           tests.robot.library.cli.Cli
Library           tests.robot.library.netconf.Netconf

Suite Setup       Run Keywords    The VPN Is Up    AND    Start Netconf    pe1
Suite Teardown    Stop Netconf    pe1
Test Teardown     Srv6mgrd Has Its Files


*** Variables ***
${SID}       fcbb:0:1:72::/64
${MORE}      update local-sids/sid[prefix=${SID}] {"locator": "MAIN", "behavior": "End"}
${STATE}     /var/lib/srv6mgr
${FILE}      {"srv6mgr-srv6:srv6": {"local-sids": {"sid": [{"prefix": "${SID}", "locator": "MAIN", "behavior": "End"}]}}}
${ABSENT}    srv6mgrd: it is not running, so the change cannot be carried out; start it and try again


*** Test Cases ***
Without Srv6mgrd Every Northbound Says So
    Given Stop Service    pe1    srv6mgrd
    Then Set Is Rejected    pe1    UNAVAILABLE    ${ABSENT}    ${MORE}
    And SID Edit Is Rejected    pe1    operation-failed    ${ABSENT}    ${SID}
    And Ctl Ends With    pe1    3    apply -    ${FILE}
    And Netconf Tells    pe1    <install-status>unknown</install-status>
    And Run On    pe1    ! ip -6 route show table 8986 | grep -q '^${SID} '

The Boundary Stands Without Srv6mgrd
    Given Stop Service    pe1    srv6mgrd
    And Note Drops    pe1
    And Note SIDs    pe1
    When Send    ce-blue1 eth0    a tunnel to a local SID    pe1 to-ce-blue    10
    Then All Were Dropped    pe1    to a SID    10
    And SIDs Counted

A Suspended Srv6mgrd Is Named
    Given Suspend Service    pe1    srv6mgrd
    ${said}    Ctl Ends With    pe1    3    apply -    ${FILE}
    Should Contain    ${said}    is stopped (SIGSTOP)
    [Teardown]    Resume Service    pe1    srv6mgrd

A Lost Journal Changes Nothing
    Given Remember The Network    pe1
    And Stop Service    pe1    srv6mgrd
    And Run On    pe1    rm -f ${STATE}/journal.sqlite*
    When Start Service    pe1    srv6mgrd
    Then All Is Installed    pe1
    And The Network Comes Back    pe1
    And It Takes A Commit

Damaged Files Stop No Start
    Given Remember The Network    pe1
    And Stop Service    pe1    srv6mgrd
    And Run On    pe1    cd ${STATE} && for file in *.sqlite; do echo damaged >$file; rm -f $file-wal $file-shm; done
    When Start Service    pe1    srv6mgrd
    Then All Is Installed    pe1
    And The Network Comes Back    pe1
    And Doctor Says    pe1    was set aside
    And It Takes A Commit

A Full Disk Loses Nothing
    Given Remember The Network    pe1
    And Run On    pe1    mount -t tmpfs -o size=4k full ${STATE}
    When Restart Service    pe1    srv6mgrd
    Then All Is Installed    pe1
    And The Network Comes Back    pe1
    And Set Is Rejected With    pe1    ABORTED    make ${STATE} writable, with room    ${MORE}
    And Doctor Says    pe1    it can't be written
    When Run On    pe1    mount -o remount,size=4m ${STATE}
    Then It Takes A Commit


*** Keywords ***
It Takes A Commit
    Set    pe1    ${MORE}
    Wait For SID    pe1    ${SID}
    Set    pe1    delete local-sids/sid[prefix=${SID}]

Doctor Says
    [Arguments]    ${node}    ${words}
    ${said}    Ctl Whatever    ${node}    doctor
    Should Contain    ${said}    ${words}

Srv6mgrd Has Its Files
    Run On    pe1    umount ${STATE} 2>/dev/null; rm -f ${STATE}/*damaged*; true
    Restart Service    pe1    srv6mgrd
    All Is Installed    pe1
