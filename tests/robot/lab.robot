*** Settings ***
Documentation    The lab on a kernel that has what it needs: LAB_KERNEL=host, shown inside the lab's own kernel.
...
...              - [Top] A lab inside the lab, without nodes and with the two-PE network.
...              - [Cfg] LAB_KERNEL=host, LAB_ROOT=/.
...              - [Ver] Nodes come up and reach each other; exit statuses and words are those of the command, or 125;
...              no process, mount, link, namespace, socket or file is left behind, whichever way it ends.
...              - [Ref] lab/README.md.

Library          tests.robot.library.inner_lab.InnerLab
Resource         srv6.resource

Suite Setup      Run Keywords    Remember The Network    pe1    AND    Remember Traces
Test Teardown    Nothing Is Left Behind


*** Variables ***
${TOPOLOGY}    lab/topologies/two-pe.toml


*** Test Cases ***
A Network Comes Up On The Running Kernel
    ${done}    Lab    run    --topology    ${TOPOLOGY}    --    on    pe1    ping    -qc3    -i0.05    2001:db8::2
    Should Be Equal As Integers    ${done}[status]    0    ${done}[err]
    Should Contain    ${done}[out]    3 received

The Network Outside Does Not Notice
    When Lab    run    --topology    ${TOPOLOGY}    --    on    pe1    ip    address    add    192.0.2.1/32    dev    lo
    Then The Network Is Unchanged    pe1

The Exit Status Is The Commands
    [Template]    It Ends With
    # status, words on standard error, arguments of lab
    0      ${EMPTY}    run    --    true
    7      ${EMPTY}    run    --    sh    -c    exit 7
    143    ${EMPTY}    run    --    sh    -c    kill -TERM $$
    9      ${EMPTY}    run    --topology    ${TOPOLOGY}    --    on    p    sh    -c    exit 9
    127    lab: nothing: No such file or directory    run    --    nothing
    125    lab: nothing.toml: No such file or directory (there are: *)    run    --topology    nothing.toml    --    true
    125    lab: network inner: is not open (open it with: lab start FILE)    exec    --name    inner    pe1    true
    2      *    run

However It Ends Nothing Is Left Behind
    [Template]    Ended By
    SIGTERM    143
    SIGINT     130
    SIGKILL    -9

A Lab Is Left Open And Ended
    ${done}    Lab    start    --name    inner    ${TOPOLOGY}
    Should Be Equal As Integers    ${done}[status]    0    ${done}[err]
    ${done}    Lab    exec    --name    inner    pe2    hostname
    Should Be Equal    ${done}[out]    pe2
    ${done}    Lab    stop    --name    inner
    Should Be Equal As Integers    ${done}[status]    0    ${done}[err]


*** Keywords ***
It Ends With
    [Arguments]    ${status}    ${words}    @{arguments}
    ${done}    Lab    @{arguments}
    Should Be Equal As Integers    ${done}[status]    ${status}
    Should Match    ${done}[err]    ${words}

Ended By
    [Arguments]    ${signal}    ${status}
    Given Begin Lab    run    --topology    ${TOPOLOGY}    --    sh    -c    echo running; on pe1 sleep 600
    ${ended}    Signal Lab    ${signal}
    Then Should Be Equal As Integers    ${ended}    ${status}
    And Nothing Is Left Behind
