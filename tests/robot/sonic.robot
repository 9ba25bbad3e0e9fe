*** Settings ***
Documentation     SONiC: rows of CONFIG_DB become SIDs that forward, and what an ASIC would be asked for.
...
...               - [Top] pe1 of the two-PE network, without configuration.
...               - [Cfg] Rows of SRV6_MY_LOCATORS, VRF and SRV6_MY_SIDS, written with redis-cli.
...               - [Ver] Kernel routes and VRFs; status in STATE_DB; the view in ASIC_DB; the same after FLUSHALL,
...               a restart of Redis and of srv6-configdbd.
...               - [Ref] sonic-srv6.yang, sonic-vrf.yang; sonic-swss srv6orch.cpp.

Resource          srv6.resource

Suite Setup       The Northbound Is Open
Suite Teardown    The Northbound Is Closed


*** Variables ***
${SID}             fcbb:0:1:f1::/64
${ROW}             SRV6_MY_SIDS|MAIN|${SID}
${INTO_DEFAULT}    SRV6_MY_SIDS|MAIN|fcbb:0:1:d46::/64
${INSIDE}          2001:db8:d46::1
${OUTSIDE}         SRV6_MY_SIDS|MAIN|fcbb:0:9:1::/64


*** Test Cases ***
Rows In Any Order Become A SID
    When Redis    4    HSET '${ROW}' action uDT46 decap_vrf Vrf1
    And Redis    4    HSET 'VRF|Vrf1' NULL NULL
    And Redis    4    HSET 'SRV6_MY_LOCATORS|MAIN' prefix fcbb:0:1::
    Then Wait For SID    pe1    ${SID}
    And Wait For Status Of Row    ${ROW}    accepted
    And Wait Until Holds    pe1    ip -d link show Vrf1 | grep -q 'vrf table 1001'    10

A Refused Row Is Told Why
    When Redis    4    HSET '${OUTSIDE}' action uN
    Then Wait For Status Of Row    ${OUTSIDE}    refused
    ${row}    State Row    pe1    SRV6MGR_CONFIG|${OUTSIDE}
    Should Be Equal    ${row}[reason]
    ...    SID fcbb:0:9:1::/64: it is outside locator MAIN (fcbb:0:1::/48); choose a SID in this prefix, or another locator
    [Teardown]    Redis    4    DEL '${OUTSIDE}'

The View Shows What An ASIC Would Be Asked For
    When Start Service    pe1    srv6-orchagent
    Then Wait Until Holds    pe1    redis-cli -s /run/redis/redis.sock -n 1 KEYS 'ASIC_STATE:SAI_OBJECT_TYPE_MY_SID_ENTRY:*' | grep -q fcbb:0:1:f1::    20
    And Wait Until Holds
    ...    pe1
    ...    redis-cli -s /run/redis/redis.sock -n 6 HGET 'SRV6MGR_ASIC|SRV6_MY_SID_TABLE|32:16:16:0:fcbb:0:1:f1::' status | grep -q installed
    ...    10

A SID Without VRF Leads To The Default VRF
    [Setup]    An Address Behind The Default VRF
    When Redis    4    HSET '${INTO_DEFAULT}' action uDT46
    Then Wait For Status Of Row    ${INTO_DEFAULT}    accepted
    And Wait For SID    pe1    fcbb:0:1:d46::/64
    And Wait Until Holds    pe2    ping -c1 -W1 ${INSIDE}    10
    And Wait Until Holds
    ...    pe1
    ...    redis-cli -s /run/redis/redis.sock -n 0 HGET SRV6_MY_SID_TABLE:32:16:16:0:fcbb:0:1:d46:: vrf | grep -q default
    ...    10
    When Redis    4    DEL '${INTO_DEFAULT}'
    Then Wait Until Holds    pe1    ! ip link show srv6mgr-default    10
    [Teardown]    The Address Is Gone

What gNMI Changed Is Not Overwritten
    When Set    pe1    delete local-sids/sid[prefix=${SID}]
    Then Wait For Status Of Row    ${ROW}    refused
    And Wait Until Holds    pe1    ! ip -6 route show table 8986 | grep -q "^${SID} "    5
    When Redis    4    HSET '${ROW}' action uDT46
    Then Wait For SID    pe1    ${SID}

A Redis That Lost All Takes Nothing Down
    ${before}    Kernel Counters    pe1    ${SID}
    When Redis    4    FLUSHALL
    And Wait Until Holds    pe1    redis-cli -s /run/redis/redis.sock -n 0 EXISTS SRV6_MY_SID_TABLE:32:16:16:0:fcbb:0:1:f1:: | grep -q 1    20
    And Restart Service    pe1    redis
    And Restart Service    pe1    srv6-configdbd
    And Wait Until Holds    pe1    redis-cli -s /run/redis/redis.sock -n 1 KEYS 'ASIC_STATE:SAI_OBJECT_TYPE_MY_SID_ENTRY:*' | grep -q fcbb:0:1:f1::    30
    Then SIDs In Kernel Are    ${SID}
    ${after}    Kernel Counters    pe1    ${SID}
    And Should Be Equal    ${after}    ${before}

Rows That Are Deleted Take Their Objects With Them
    Given Redis    4    HSET '${ROW}' action uDT46 decap_vrf Vrf1
    And Redis    4    HSET 'VRF|Vrf1' NULL NULL
    And Redis    4    HSET 'SRV6_MY_LOCATORS|MAIN' prefix fcbb:0:1::
    And Wait For Status Of Row    ${ROW}    accepted
    When Redis    4    DEL '${ROW}' 'VRF|Vrf1' 'SRV6_MY_LOCATORS|MAIN'
    Then Wait Until Holds    pe1    ! ip link show Vrf1    15
    And SIDs In Kernel Are


*** Keywords ***
The Northbound Is Open
    Set    pe1    delete /srv6mgr-srv6:srv6
    Start Service    pe1    srv6-configdbd

The Northbound Is Closed
    Stop Service    pe1    srv6-configdbd
    Stop Service    pe1    srv6-orchagent
    Redis    1    FLUSHDB
    Set    pe1    delete /srv6mgr-srv6:srv6

An Address Behind The Default VRF
    Redis    4    HSET 'SRV6MGR_INTERFACE|to-p' role core
    Wait For Status Of Row    SRV6MGR_INTERFACE|to-p    accepted
    Run On    pe1    ip -6 address add ${INSIDE}/128 dev lo
    Run On    pe2    ip -6 route add ${INSIDE}/128 encap seg6 mode encap segs fcbb:0:1:d46:: dev to-p

The Address Is Gone
    Redis    4    DEL '${INTO_DEFAULT}' 'SRV6MGR_INTERFACE|to-p'
    Run On    pe1    ip -6 address del ${INSIDE}/128 dev lo
    Run On    pe2    ip -6 route del ${INSIDE}/128

Redis
    [Arguments]    ${database}    ${command}
    Run On    pe1    redis-cli -s /run/redis/redis.sock -e -n ${database} ${command}

Wait For Status Of Row
    [Arguments]    ${row}    ${status}
    Wait Until Holds    pe1    redis-cli -s /run/redis/redis.sock -n 6 HGET 'SRV6MGR_CONFIG|${row}' status | grep -q ${status}    20

SIDs In Kernel Are
    [Arguments]    @{prefixes}
    ${found}    SIDs In Kernel    pe1
    Should Be Equal    ${found}    ${prefixes}
