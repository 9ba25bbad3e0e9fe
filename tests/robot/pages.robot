*** Settings ***
Documentation    Documentation whose commands a reader types: each block runs exactly as it is printed.
...
...              - [Top] pe1 - p - pe2, tenants red and blue.
...              - [Cfg] What the pages say.
...              - [Ver] Each command succeeds, and prints what the page says that it prints.
...              - [Ref] docs/tutorial, docs/howto.

Resource         srv6.resource
Library          tests.robot.library.page.Page


*** Test Cases ***
The First VPN
    [Setup]    There Is No Configuration
    Follow Page    docs/tutorial/first-vpn.md

Tasks
    [Setup]    Run Keywords    There Is No Configuration    AND    The VPN Is Up
    [Template]    Follow Page
    docs/howto/preview-a-change.md
    docs/howto/confirm-a-change.md
    docs/howto/roll-back.md
    docs/howto/back-up-and-restore.md
    docs/howto/debug-a-dead-vpn.md
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
