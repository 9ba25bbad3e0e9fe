*** Settings ***
Documentation    Documentation whose commands a reader types: each block runs exactly as it is printed.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] What the pages say.
...              - [Ver] Each command succeeds, and prints what the page says that it prints.
...              - [Ref] docs/tutorial, docs/howto, and what else has commands.

Resource         srv6.resource
Library          tests.robot.library.page.Page


*** Test Cases ***
The First VPN
    [Setup]    There Is No Configuration
    Follow Page    docs/tutorial/first-vpn.md
    [Teardown]    The VPN Is Up

The First Service Chain
    Follow And Restore    docs/tutorial/service-chain.md

Change Safely And Migrate
    [Template]    Follow And Restore
    docs/howto/preview-a-change.md
    docs/howto/confirm-a-change.md
    docs/howto/roll-back.md
    docs/howto/back-up-and-restore.md
    docs/howto/upgrade.md
    docs/howto/migrate-from-ip-route.md
    docs/howto/migrate-from-frr.md

Build VPNs
    [Template]    Follow And Restore
    docs/howto/add-a-vpn.md
    docs/howto/add-ipv6.md
    docs/howto/add-a-static-route.md
    docs/howto/filter-routes.md
    docs/howto/connect-a-customer-with-bgp.md
    docs/howto/share-a-service.md
    docs/howto/steer-traffic.md
    docs/chains.md
    docs/howto/use-usids.md

Find Faults
    [Template]    Follow And Restore
    docs/howto/repair-drift.md
    docs/howto/find-packet-drops.md
    docs/howto/trace-a-path.md
    docs/howto/debug-a-dead-vpn.md
    docs/howto/measure-a-path.md
    docs/howto/handle-alarms.md
    docs/howto/collect-a-support-bundle.md

Measure, Secure And Integrate
    [Template]    Follow And Restore
    docs/howto/read-counters-over-gnmi.md
    docs/howto/export-to-prometheus.md
    docs/howto/limit-users.md
    docs/howto/tls-certificates.md
    docs/howto/use-a-netconf-client.md
    docs/howto/read-sonic-rows.md
    docs/howto/configure-through-config-db.md

Look Things Up
    [Template]    Follow And Restore
    docs/srv6ctl.md
    docs/accounting.md
    docs/alarms.md
    docs/drops.md
    docs/interfaces.md
    docs/migration.md
    docs/model.md
    docs/oam.md
    docs/path-measurement.md
    docs/routing.md
    docs/service-state.md

Remove A VPN
    [Template]    Follow And Restore
    docs/howto/remove-a-vpn.md


*** Keywords ***
There Is No Configuration
    [Documentation]    FRR begins anew: it would wait for its connect timer before the next session.
    Set    pe1    delete /srv6mgr-srv6:srv6
    Set    pe2    delete /srv6mgr-srv6:srv6
    FOR    ${at}    IN    pe1    pe2
        Restart Service    ${at}    frr
        Wait Until Holds    ${at}    ! ip route show table all | grep -w segs    timeout=30
    END
