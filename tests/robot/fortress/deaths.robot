*** Settings ***
Documentation     srv6mgrd dies inside a commit: the client hears of it, the commit is whole or not at all, the next one passes.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; commits of 5,000 SIDs over each northbound.
...               - [Ver] An answer within 2 s, writable within 5 s, no packet of a tenant lost.
...               - [Ref] docs/adr/0024, docs/security.md.

Resource          fortress.resource
Library           tests.robot.library.netconf.Netconf
Library           tests.robot.library.deaths.Deaths

Suite Setup       Run Keywords    The VPN Is Up    AND    Start Netconf    pe1
Suite Teardown    Run Keywords    Stop Netconf    pe1    AND    Configure    pe1
Test Setup        Run Keywords    Only The Example Is Configured    pe1    AND    Both Tenants Send
Test Teardown     End All Flows


*** Test Cases ***
A Commit Over gNMI
    Kill At Each Stage    pe1    gNMI    0.1    0.5    0.9
    No Tenant Lost A Packet

A Commit Over NETCONF
    Kill At Each Stage    pe1    NETCONF    0.1    0.5    0.9
    No Tenant Lost A Packet

A Commit Of srv6ctl
    Kill At Each Stage    pe1    srv6ctl    0.1    0.5    0.9
    No Tenant Lost A Packet

Rows Of CONFIG_DB
    Start Service    pe1    srv6-configdbd
    Kill While CONFIG DB Is Read    pe1    1000
    No Tenant Lost A Packet
    [Teardown]    Run Keywords    End All Flows    AND    Stop Service    pe1    srv6-configdbd
