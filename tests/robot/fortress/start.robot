*** Settings ***
Documentation    A start judges what was written while srv6mgrd was stopped; a stopped srv6mgrd vouches for nothing.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] The two-PE VPN, and a SID outside its locator that sysrepocfg writes while srv6mgrd is stopped.
...              - [Ver] The SID is rejected with its reason in gNMI, in the operational datastore (NETCONF), in srv6ctl
...              and in Redis, and is not in the kernel; commits beside it are accepted; one that leaves it invalid is
...              not; to remove it clears its status. Once the lease has expired every status is unknown.
...              - [Ref] docs/reconciler.md; docs/model.md.

Resource         fortress.resource

Suite Setup      The VPN Is Up


*** Variables ***
${OUTSIDE}        fcbb:0:9:1::/64
${SID}            fcbb:0:1:71::/64
${REASON}         SID ${OUTSIDE}: it is outside locator MAIN (fcbb:0:1::/48); choose a SID in this prefix, or another locator
${CTL}            /opt/srv6mgr/bin/srv6ctl
${TABLE}          ip -6 route show table 8986
${END}            {"locator": "MAIN", "behavior": "End"}
${WRITTEN}        {"srv6mgr-srv6:srv6": {"local-sids": {"sid": [{"prefix": "${OUTSIDE}", "locator": "MAIN", "behavior": "End"}]}}}
${OPERATIONAL}    sysrepocfg -X -d operational -f json -x "/srv6mgr-srv6:srv6/local-sids/sid[prefix='${OUTSIDE}']"


*** Test Cases ***
What Was Written While It Was Stopped Is Judged At The Start
    Given Stop Service    pe1    srv6mgrd
    And Run On    pe1    echo '${WRITTEN}' >/tmp/written.json && sysrepocfg --edit=/tmp/written.json -d running -f json
    When Start Service    pe1    srv6mgrd
    Then Wait Until Holds    pe1    redis-cli -s /run/redis/redis.sock -n 6 HGET 'SRV6MGR_SID|${OUTSIDE}' status | grep -q rejected    20
    And Wait For Status    pe1    local-sids/sid[prefix=${OUTSIDE}]    rejected    ${REASON}
    And Run On    pe1    ${CTL} show sids | grep '^${OUTSIDE} ' | grep -q rejected
    And Wait Until Holds    pe1    ${OPERATIONAL} | grep -q '"rejected"'
    And Run On    pe1    ! ${TABLE} | grep -q '^${OUTSIDE} '
    And Wait For Status    pe1    local-sids/sid[prefix=${RED1}]    installed    ${EMPTY}
    And Set    pe1    update local-sids/sid[prefix=${SID}] ${END}
    And Wait For SID    pe1    ${SID}
    And Set Is Rejected    pe1    INVALID_ARGUMENT    ${REASON}    update local-sids/sid[prefix=${OUTSIDE}] {"counters": false}
    And Set    pe1    delete local-sids/sid[prefix=${OUTSIDE}]
    And All Is Installed    pe1
    [Teardown]    Run Keywords    Restart Service    pe1    srv6mgrd    AND    Configure    pe1

A Stopped Manager Vouches For No Status
    [Setup]    The Lease Is    2
    Given Stop Service    pe1    srv6mgrd
    Then Wait For Status    pe1    local-sids/sid[prefix=${RED1}]    unknown
    And Wait Until Holds    pe1    ${CTL} show sids | grep '^${RED1} ' | grep -q unknown
    When Start Service    pe1    srv6mgrd
    Then Wait For Status    pe1    local-sids/sid[prefix=${RED1}]    installed    ${EMPTY}
    And Run On    pe1    ${CTL} show sids | grep '^${RED1} ' | grep -q installed
    [Teardown]    Run Keywords    Run On    pe1    rm -f /etc/srv6mgr/srv6mgrd.toml    AND    Restart Service    pe1    srv6mgrd


*** Keywords ***
The Lease Is
    [Arguments]    ${seconds}
    Run On    pe1    mkdir -p /etc/srv6mgr && echo 'status_lease = ${seconds}' >/etc/srv6mgr/srv6mgrd.toml
    Restart Service    pe1    srv6mgrd
    All Is Installed    pe1
