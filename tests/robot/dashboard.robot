*** Settings ***
Documentation     The tutorial of the first dashboard: gNMI, Telegraf, Prometheus.
...
...               - [Top] pe1 - p - pe2, tenants red and blue; p collects.
...               - [Cfg] What the page says. Telegraf and Prometheus run with the settings of their packages.
...               - [Ver] Each command succeeds, and prints what the page says that it prints.
...               - [Ref] docs/tutorial/dashboard.md.

Resource          srv6.resource
Library           tests.robot.library.collector.Collector
Library           tests.robot.library.page.Page

Suite Setup       Run Keywords    Install Collector    p    AND    PAM Checks Passwords    pe1    pe2
Suite Teardown    Run Keywords    Remove Collector    p    AND    Nobody Checks Passwords    pe1    pe2


*** Test Cases ***
The First Dashboard
    The VPN Is Up
    Follow And Restore    docs/tutorial/dashboard.md


*** Keywords ***
PAM Checks Passwords
    [Documentation]    As the packages set it up.
    [Arguments]    @{routers}
    FOR    ${at}    IN    @{routers}
        Run On    ${at}    cp /src/packaging/deb/debian/srv6mgr.pam /etc/pam.d/srv6mgr
        Run On    ${at}    mkdir -p /etc/srv6mgr && echo 'pam = "srv6mgr"' >/etc/srv6mgr/gnmid.toml
    END

Nobody Checks Passwords
    [Arguments]    @{routers}
    FOR    ${at}    IN    @{routers}
        Run On    ${at}    rm -r /etc/srv6mgr /etc/pam.d/srv6mgr && userdel collector
        Restart Service    ${at}    srv6-gnmid
    END
