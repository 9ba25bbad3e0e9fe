*** Settings ***
Documentation     Faults of the host are alarms: raised and cleared within seconds, with cause and remedy.
...
...               - [Top] pe1 - p - pe2, tenants red and blue.
...               - [Cfg] The two-PE VPN; each case harms the host of pe1 in one way and repairs it.
...               - [Ver] A sound router has no alarm. Each fault is one of the right severity, and cleared after repair;
...               it stays over a restart of srv6mgrd, and an operator acknowledges it.
...               - [Ref] docs/alarms.md; RFC 8632.

Resource          fortress.resource
Library           tests.robot.library.alarms.Alarms
Library           tests.robot.library.cli.Cli

Suite Setup       Run Keywords    The VPN Is Up    AND    No Alarm Is Active    pe1
Suite Teardown    Run On    pe1    rm -f /etc/srv6mgr/test.* /etc/srv6mgr/gnmid.toml


*** Variables ***
${STATE}     /var/lib/srv6mgr
${TUNNEL}    'tunnel_servers = ["localhost:57401"]' 'tunnel_ca = "/etc/hosts"' 'pam = "srv6mgr"'


*** Test Cases ***
A Daemon That Died
    When Kill Service    pe1    srv6-gnmid
    Then Alarm Is Raised    pe1    daemon-down    minor    srv6-gnmid does not run    systemctl start srv6-gnmid
    And Doctor Says    pe1    srv6-gnmid does not run
    When Start Service    pe1    srv6-gnmid
    Then Alarm Is Cleared    pe1    daemon-down

Redis Is Gone
    When Stop Service    pe1    redis
    Then Alarm Is Raised    pe1    redis-unreachable    minor    does not answer    systemctl start srv6-redis
    When Start Service    pe1    redis
    Then Alarm Is Cleared    pe1    redis-unreachable

A Certificate Comes To Its End
    When Make Certificate    pe1    10
    Then Alarm Is Raised    pe1    certificate-expiry    warning    ends on    put a new certificate
    When Make Certificate    pe1    -2000
    Then Alarm Is Raised    pe1    certificate-expiry    major    ended on
    And Doctor Says    pe1    ended on
    When Make Certificate    pe1    300
    Then Alarm Is Cleared    pe1    certificate-expiry

A Tunnel Server That Nobody Runs
    Given Run On    pe1    printf '%s\n' ${TUNNEL} >/etc/srv6mgr/gnmid.toml
    When Restart Service    pe1    srv6-gnmid
    Then Alarm Is Raised    pe1    tunnel-down    minor    Connection refused    see that the tunnel server runs
    And Doctor Says    pe1    the tunnel to localhost:57401 is down
    When Run On    pe1    rm /etc/srv6mgr/gnmid.toml
    And Restart Service    pe1    srv6-gnmid
    Then Alarm Is Cleared    pe1    tunnel-down

A Full Disk, Acknowledged
    Given Run On    pe1    mount -t tmpfs -o size=1m full ${STATE} && head -c 1m /dev/zero >${STATE}/fill || true
    ${number}    Alarm Is Raised    pe1    disk-nearly-full    minor    ${STATE}    remove what fills it
    When Ctl    pe1    ack ${number} --text 'a new disk is on its way'
    Then Alarm Has State    pe1    ${number}    ack
    When Run On    pe1    umount ${STATE}
    Then Alarm Is Cleared    pe1    disk-nearly-full

An Alarm Stays Over A Restart
    Given Kill Service    pe1    srv6-gnmid
    And Alarm Is Raised    pe1    daemon-down    minor    srv6-gnmid does not run
    When Restart Service    pe1    srv6mgrd
    Then Alarm Is Raised    pe1    daemon-down    minor    srv6-gnmid does not run
    When Start Service    pe1    srv6-gnmid
    Then Alarm Is Cleared    pe1    daemon-down
    And No Alarm Is Active    pe1


*** Keywords ***
Doctor Says
    [Arguments]    ${node}    ${words}
    ${said}    Ctl Whatever    ${node}    doctor
    Should Contain    ${said}    ${words}
