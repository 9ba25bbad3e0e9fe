*** Settings ***
Documentation     From the packages of an earlier state of the repository to those of this one, with a VPN in service.
...
...               - [Top] pe1 - p - pe2, tenants red and blue; pe1 and pe2 boot a fresh Debian.
...               - [Cfg] The packages that an earlier state builds (lab/previous.py), and one gNMI Set per provider edge.
...               - [Ver] The upgrade keeps configuration and traffic; afterwards, services, modules and Redis are those
...               of the new packages; a boot restores all from the disk.
...               - [Ref] docs/howto/upgrade.md; Debian Policy chapter 6.

Resource          srv6.resource
Library           tests.robot.library.packages.Packages

Suite Setup       Install The Previous Packages    pe1    pe2
Suite Teardown    Keep Journal    pe1    pe2
Test Teardown     End All Flows

Test Tags         fresh


*** Variables ***
@{SERVICES}         srv6mgrd    srv6-gnmid    srv6-stampd    srv6-netconfd    srv6-redis
...                 srv6-configdbd    srv6-orchagent    frr
# Without defaults: later revisions of the modules have more of them.
${CONFIGURATION}    sysrepocfg -X -d running -f json -m srv6mgr-srv6


*** Test Cases ***
The VPN Is In Service With The Previous Packages
    Given Start BGP    pe1    pe2
    And Run On    pe1    systemctl enable --now srv6-configdbd srv6-orchagent
    When Configure    pe1
    And Configure    pe2
    Then The VPN Has Converged
    And All Pings Arrive    ce-red1    ${SITE2}
    And All Pings Arrive    ce-blue1    ${SITE2_V6}

An Upgrade Keeps Configuration And Traffic
    [Documentation]    pe2 still has the previous packages.
    [Timeout]    10 minutes
    Given Begin Flow    ce-red1    ${SITE2}
    And Begin Flow    ce-blue1    ${SITE2_V6}
    ${before}    Run On    pe1    ${CONFIGURATION}
    When Install The Packages    pe1
    And Wait For Unit    pe1    srv6-gnmid
    Then Wait For Unit    pe1    srv6mgrd
    And All Is Installed    pe1    timeout=90
    ${after}    Run On    pe1    ${CONFIGURATION}
    And Should Be Equal    ${after}    ${before}
    And No Packet Was Lost    ce-red1    ${SITE2}
    And No Packet Was Lost    ce-blue1    ${SITE2_V6}

Services, Modules And Redis Are Those Of The New Packages
    Units Are Active    pe1    @{SERVICES}
    The Modules Are Those Of The Packages    pe1
    Unit Is Off    pe1    redis-server@srv6mgr
    Run On    pe1    srv6ctl doctor || [ $? = 1 ]

Packets Are Counted Exactly
    Given Note Counters    pe1 ${RED1}    pe2 ${RED2}
    When All Pings Arrive    ce-red1    ${SITE2}    20
    Then Counted Since    pe1 ${RED1}    20
    And Counted Since    pe2 ${RED2}    20

The Other Edge Is Upgraded
    Given Begin Flow    ce-red1    ${SITE2}
    When Install The Packages    pe2
    And Wait For Unit    pe2    srv6-gnmid
    Then All Is Installed    pe2    timeout=90
    And No Packet Was Lost    ce-red1    ${SITE2}

A Boot Restores The VPN
    [Documentation]    Of what the services left, nothing stays but the disk.
    [Timeout]    10 minutes
    Given Shut Down    pe1
    And Run Fails    pe1    ip link show red
    When Boot    pe1
    Then Units Are Active    pe1    @{SERVICES}
    And The VPN Has Converged
    And All Pings Arrive    ce-red1    ${SITE2}
    And All Pings Arrive    ce-blue1    ${SITE2_V6}
