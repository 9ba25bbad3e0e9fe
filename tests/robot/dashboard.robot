*** Settings ***
Documentation     The tutorial of the first dashboard: srv6-metricsd and Prometheus.
...
...               - [Top] pe1 - p - pe2, tenants red and blue; p collects.
...               - [Cfg] What the page says. Prometheus runs with the settings of its package.
...               - [Ver] Each command succeeds, and prints what the page says that it prints.
...               - [Ref] docs/tutorial/dashboard.md.

Resource          srv6.resource
Library           tests.robot.library.collector.Collector
Library           tests.robot.library.page.Page

Suite Setup       Run Keywords    Install Collector    p    AND    Metrics Have A Group    pe1    pe2
Suite Teardown    Run Keywords    Remove Collector    p    AND    Metrics Have No Group    pe1    pe2


*** Test Cases ***
The First Dashboard
    The VPN Is Up
    Follow And Restore    docs/tutorial/dashboard.md


*** Keywords ***
Metrics Have A Group
    [Documentation]    As the packages set it up.
    [Arguments]    @{routers}
    FOR    ${at}    IN    @{routers}
        Run On    ${at}    groupadd --system _srv6-metricsd && mkdir -p /etc/srv6mgr
    END

Metrics Have No Group
    [Arguments]    @{routers}
    FOR    ${at}    IN    @{routers}
        Run On    ${at}    groupdel _srv6-metricsd && rm -rf /etc/srv6mgr
    END
