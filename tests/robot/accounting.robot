*** Settings ***
Documentation     Accounting: who sends how much to whom, by tenant and remote router.
...
...               - [Top] pe1 - p - pe2; tenants red and blue, one customer each at both sites.
...               - [Cfg] The two-PE VPN; accounting is enabled on both provider edges.
...               - [Ver] Each packet is counted in its tenant's row at both ends; srv6ctl, gNMI, NETCONF's datastore,
...               Redis and metrics show the same, also why packets are dropped; rows survive a restart and a VRF that is deleted and made again; when
...               accounting is disabled nothing is left.
...               - [Ref] RFC 8986 section 4.8 (End.DT46), section 5 (headend behaviors).

Resource          srv6.resource
Library           String
Library           tests.robot.library.accounting.Accounting
Library           tests.robot.library.cli.Cli
Library           tests.robot.library.drops.DropReasons
Library           tests.robot.library.metrics.Metrics

Suite Setup       Run Keywords    The VPN Is Up    AND    Serve Metrics    pe1    pe2
Suite Teardown    Stop Metrics    pe1    pe2
Test Teardown     End All Flows


*** Variables ***
${PE1}           2001:db8::1
${PE2}           2001:db8::2
${RED1_SID}      fcbb:0:1:64::
${RED2_SID}      fcbb:0:2:64::
${BLUE1_SID}     fcbb:0:1:c8::
${BLUE2_SID}     fcbb:0:2:c8::
${RED_OF_PE1}    {"table-id": 10, "interface": ["to-ce-red"], "srv6mgr-bgp:bgp": {"rd": "65000:110",
...              "import-rt": ["65000:10"], "export-rt": ["65000:10"], "export-sid": "${RED1}"}}
${RED_SID}       {"locator": "MAIN", "behavior": "End.DT46", "vrf": "red"}


*** Test Cases ***
One Line Enables It
    Ctl    pe1    set accounting enabled true --yes
    Ctl    pe2    set accounting enabled true --yes

Each Packet Is In Its Tenant's Row At Both Ends
    [Template]    Pings Are Accounted
    # from    to    packets    row    remote SIDs
    ce-red1    ${SITE2}    25    red ipv4    ${RED2_SID} ${RED1_SID}
    ce-red1    ${SITE2_V6}    17    red ipv6    ${RED2_SID} ${RED1_SID}
    ce-blue1    ${SITE2}    11    blue ipv4    ${BLUE2_SID} ${BLUE1_SID}
    ce-blue1    ${SITE2_V6}    30    blue ipv6    ${BLUE2_SID} ${BLUE1_SID}

All Ways Show The Same
    Accounting Is The Same Everywhere    pe1
    Accounting Is The Same Everywhere    pe2

Metrics Name What Each SID Does
    Counters Of SIDs Name Behavior And VRF    pe1
    VPNs Are Up In Metrics    pe1    blue    red

Rows Survive A Restart
    Given Note Accounting    pe1    pe2
    When Restart Service    pe1    srv6mgrd
    And All Is Installed    pe1
    Then Pings Go On From There

A VRF That Is Made Again Goes On Counting
    [Documentation]    Blue takes none of red's packets, and red has its rows again.
    Given Note Accounting    pe1    pe2
    When Set    pe1    delete vrfs/vrf[name=red]    delete local-sids/sid[prefix=${RED1}]
    Then VRFs Accounted On    pe1    blue
    When Set    pe1
    ...    update vrfs/vrf[name=red] ${RED_OF_PE1}
    ...    update local-sids/sid[prefix=${RED1}] ${RED_SID}
    And The VPN Has Converged
    Then VRFs Accounted On    pe1    blue    red
    And Pings Go On From There

Every Way Says Why Packets Are Dropped
    [Documentation]    Pings to a SID: nothing is attached before the first error, and 30 s after the last one.
    [Setup]    Nothing Watches Drops    pe1
    Given Begin Errors    pe2    ${RED1_SID}
    And Wait For Drops    pe1    ${RED1}    upper-layer
    ${screen}    Ctl    pe1    top
    Should Contain    ${screen}    upper-layer
    When End Errors
    Then Drops Are Reported Everywhere    pe1    ${RED1}    upper-layer    red
    ${words}    Ctl    pe1    explain ${RED1} --listen 0
    And Should Contain    ${words}    packets with TCP, UDP or ICMPv6 for the SID itself
    And Wait Until Keyword Succeeds    45 s    1 s    Nothing Watches Drops    pe1
    [Teardown]    End Errors

Nothing Is Left When It Is Disabled
    When Ctl    pe1    set accounting enabled false --yes
    Then Run On    pe1    ! ls -d /sys/fs/bpf/srv6mgr-accounting*
    And Run On    pe1    ! bpftool net show dev to-p | grep tcx
    And Ctl    pe2    set accounting enabled false --yes


*** Keywords ***
Nothing Watches Drops
    [Documentation]    On the interface to the core.
    [Arguments]    ${router}
    Run On    ${router}    ! bpftool net show dev to-p | grep -w watch

Pings Are Accounted
    [Documentation]    Requests go to the SID at site 2, and replies to the one at site 1.
    [Arguments]    ${from}    ${to}    ${packets}    ${row}    ${sids}
    ${sid2}    ${sid1}    Split String    ${sids}
    Note Accounting    pe1    pe2
    All Pings Arrive    ${from}    ${to}    ${packets}
    Accounted Since    pe1    sent ${row} ${sid2}    ${packets}
    Accounted Since    pe2    received ${row} ${PE1}    ${packets}
    Accounted Since    pe2    sent ${row} ${sid1}    ${packets}
    Accounted Since    pe1    received ${row} ${PE2}    ${packets}

Pings Go On From There
    [Documentation]    What was noted before is still counted.
    All Pings Arrive    ce-red1    ${SITE2}    7
    Accounted Since    pe1    sent red ipv4 ${RED2_SID}    7
    Accounted Since    pe1    received red ipv4 ${PE2}    7
