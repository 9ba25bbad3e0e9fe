*** Settings ***
Documentation     The Debian packages, in a fresh Debian with systemd: install, upgrade, remove, purge, and the VPN meanwhile.
...
...               - [Top] pe1 - p - pe2, tenants red and blue; pe1 and pe2 boot a fresh Debian and have no more
...               than the packages bring.
...               - [Cfg] What docs/install.md tells an operator to do, then one gNMI Set per provider edge.
...               - [Ver] Services start, closed to the network; the VPN carries traffic, also through a crash of
...               srv6mgrd, an upgrade and a removal; purging leaves what was there before.
...               - [Ref] Debian Policy chapter 6; RFC 8341 (NACM).

Resource          srv6.resource
Library           tests.robot.library.access.Access
Library           tests.robot.library.packages.Packages
Library           tests.robot.library.page.Page

Suite Setup       Install Packages    pe1    pe2
Suite Teardown    Keep Journal    pe1    pe2
Test Teardown     End All Flows

Test Tags         fresh


*** Variables ***
${CERTIFICATE}    /var/lib/srv6mgr/gnmid/selfsigned
@{ENABLED}        srv6-configdbd    srv6-orchagent    srv6-netconf-sshd
${NETWORKD}       /etc/systemd/networkd.conf.d
@{SERVICES}       srv6mgrd    srv6-gnmid    srv6-stampd    srv6-netconfd
...               srv6-redis


*** Test Cases ***
The Services Are Up
    [Template]    Units Are Active
    pe1    @{SERVICES}
    pe2    @{SERVICES}

What Is Off Until It Is Enabled Is Off
    [Template]    Unit Is Off
    pe1    srv6-configdbd
    pe1    srv6-orchagent
    pe1    srv6-netconf-sshd
    pe1    srv6-netconf-tls

They Are Closed To The Network
    Only Loopback Listens    pe1    9339
    Nobody Gets In Without A Name    pe1

The Sockets Are For A Group
    Run On    pe1    stat -c %G:%a /run/srv6mgr/gnmi.sock | grep -x srv6mgr:660
    Run On    pe1    stat -c %G:%a /run/srv6mgr/netconf.sock | grep -x srv6mgr:660

A User Of The Group Is Checked By PAM
    [Documentation]    As the package has it: members of the group alone, and NACM lets nobody but root write.
    Given Add User    pe1    alice    srv6mgr
    And Add User    pe1    bob
    And Run On    pe1    printf 'alice:of alice\\nbob:of bob\\n' | chpasswd
    Then A Password Is Right    pe1    alice    of alice
    And A Password Is Wrong    pe1    alice    of bob
    And A Password Is Wrong    pe1    bob    of bob

Each Has A Certificate Of Its Own
    ${one}    Run On    pe1    sha256sum <${CERTIFICATE}.crt
    ${other}    Run On    pe2    sha256sum <${CERTIFICATE}.crt
    Should Not Be Equal    ${one}    ${other}
    Run On    pe1    stat -c %U:%a ${CERTIFICATE}.key | grep -x root:600

They Have No More Rights Than They Need
    [Documentation]    The scores that docs/install.md states.
    [Template]    The Exposure Is
    srv6mgrd          3.0
    srv6-redis        0.4
    srv6-gnmid        2.2
    srv6-netconfd     1.5
    srv6-stampd       1.4
    srv6-configdbd    2.2
    srv6-metricsd     1.3
    srv6-orchagent    1.1
    srv6-netconf-sshd    3.2
    srv6-netconf-tls     2.3

The Manager Writes Sysctls Of The Network Alone
    ${pid}    Run On    pe1    systemctl show --value -p MainPID srv6mgrd
    Run On    pe1    nsenter -t ${pid} -m sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/seg6_enabled'
    Run Fails    pe1    nsenter -t ${pid} -m sh -c 'cat /proc/sys/kernel/printk > /proc/sys/kernel/printk'
    Run Fails    pe1    nsenter -t ${pid} -m touch /etc/passwd

The Autopkgtest Passes
    Run On    pe2    sh /src/packaging/deb/debian/tests/l3vpn

Without The Drop-In Networkd Takes Away What Others Made
    [Documentation]    What the drop-in is for; masked as systemd.syntax(7) says, it counts for nothing.
    Given Run On    pe2    ip link add other type dummy && ip link set other up
    And Run On    pe2    ip -6 rule add pref 3000 to 2001:db8:99::/48 lookup 99 protocol bgp
    And Run On    pe2    ip -6 route add unreachable 2001:db8:98::/48 proto bgp
    ${made}    Routes And Rules    pe2
    When Networkd Configures    pe2    other
    ${left}    Routes And Rules    pe2
    Then Should Be Equal    ${left}    ${made}
    When Run On    pe2    mkdir -p ${NETWORKD} && ln -s /dev/null ${NETWORKD}/50-srv6mgr.conf
    And Networkd Configures    pe2    other
    Then Run Fails    pe2    ip -6 rule | grep 2001:db8:99::
    And Run Fails    pe2    ip -6 route | grep 2001:db8:98::
    ${said}    Run On    pe2    srv6ctl doctor || true
    And Should Contain    ${said}    systemd-networkd removes routes and rules of others
    [Teardown]    Run Keywords    Networkd Ends    pe2    AND    Run On    pe2    ip link delete other

Shells Complete What Is Typed
    [Template]    Shell Completes
    pe2    bash
    pe2    zsh
    pe2    fish

The Tutorial Leads To Counted Packets Within Ten Minutes
    [Documentation]    With the time that the installation took.
    [Timeout]    11 minutes
    Given Start BGP    pe1    pe2
    ${before}    Get Time    epoch
    When Follow Page    docs/tutorial/first-vpn.md
    ${after}    Get Time    epoch
    Then It Took With The Installation At Most    ${{ ${after} - ${before} }}    600

Its Drop-In Gives BGP Its Descriptors
    [Documentation]    FRR's own unit has 1,024, which last for 499 VRFs.
    Run On    pe1    grep -E 'Max open files +16384 +16384' /proc/$(cat /run/frr/bgpd.pid)/limits

The VPN Comes Up
    When Configure    pe1
    And Configure    pe2
    Then The VPN Has Converged
    And All Pings Arrive    ce-red1    ${SITE2}
    And All Pings Arrive    ce-blue1    ${SITE2_V6}
    And No Ping Arrives    ce-red1    10.2.0.99

The Doctor Finds Nothing Wrong
    [Documentation]    What docs/install.md tells an operator to look with.
    ${said}    Run On    pe1    srv6ctl doctor
    Should Match Regexp    ${said}    frr.*version 10\\.3
    Should Contain    ${said}    declared are installed

Networkd Leaves The VPN Alone
    [Documentation]    It gets the link to p to configure, and the packages' drop-in.
    Given Begin Flow    ce-red1    ${SITE2}
    ${before}    Routes And Rules    pe1
    When Networkd Configures    pe1    to-p
    ${after}    Routes And Rules    pe1
    Then Should Be Equal    ${after}    ${before}
    And No Packet Was Lost    ce-red1    ${SITE2}
    ${said}    Run On    pe1    srv6ctl doctor
    And Should Contain    ${said}    systemd-networkd leaves foreign routes and rules alone
    [Teardown]    Run Keywords    End All Flows    AND    Networkd Ends    pe1

What Is Enabled Runs
    When Run On    pe1    systemctl enable --now srv6-configdbd srv6-orchagent
    Then Units Are Active    pe1    srv6-configdbd    srv6-orchagent
    And Is Fed    pe1    srv6-configdbd
    And Is Fed    pe1    srv6-orchagent
    And Run On    pe1    ps -o user:20= -C srv6-orchagent | grep -x _srv6-orchagent

SONiC's Tables Are Read And Shown
    When Redis On    pe1    4    HSET    VRF|Vrf1    NULL    NULL
    Then Wait For Row    pe1    SRV6MGR_CONFIG|VRF|Vrf1    accepted
    And Run On    pe1    ip link show Vrf1 type vrf
    And Wait For Row    pe1    SRV6MGR_ASIC|VRF_TABLE|Vrf1    installed
    When Redis On    pe1    4    DEL    VRF|Vrf1
    Then Wait Until Holds    pe1    ! ip link show Vrf1    timeout=20

NETCONF Over SSH Is There When It Is Enabled
    Given Log In With A Key    pe1
    When Run On    pe1    systemctl enable --now srv6-netconf-sshd
    Then Only Loopback Listens    pe1    830
    And NETCONF Says Hello    pe1

The Lab Is There
    When Install The Tests    pe2
    Then Run On    pe2    srv6mgr-lab --help

Packets Are Counted Exactly
    Given Note Counters    pe1 ${RED1}    pe2 ${RED2}
    When All Pings Arrive    ce-red1    ${SITE2}    20
    Then Counted Since    pe1 ${RED1}    20
    And Counted Since    pe2 ${RED2}    20

A Crash Of The Manager Loses No Packet
    Given Begin Flow    ce-red1    ${SITE2}
    When Kill Unit    pe1    srv6mgrd
    And Wait For Unit    pe1    srv6mgrd
    Then All Is Installed    pe1
    And Is Fed    pe1    srv6mgrd
    And No Packet Was Lost    ce-red1    ${SITE2}

An Upgrade Keeps Configuration And Traffic
    [Documentation]    Byte code of all Python modules is made anew.
    [Timeout]    10 minutes
    Given Begin Flow    ce-red1    ${SITE2}
    ${before}    Value Of    pe1    /srv6mgr-srv6:srv6    kind=config
    When Upgrade Packages    pe1
    And Wait For Unit    pe1    srv6-gnmid
    Then Units Are Active    pe1    @{ENABLED}
    ${modules}    Modules Of Ours    pe1
    Then Should Be Equal    ${modules}[srv6mgr-proxy]    2099-01-01
    ${after}    Value Of    pe1    /srv6mgr-srv6:srv6    kind=config
    And Should Be Equal    ${after}    ${before}
    And All Is Installed    pe1
    And No Packet Was Lost    ce-red1    ${SITE2}

Removed Packages Leave The Router Forwarding
    Given Begin Flow    ce-red1    ${SITE2}
    And Begin Flow    ce-blue1    ${SITE2_V6}
    When Remove Packages    pe1
    Then Run Fails    pe1    ps -C srv6mgrd,srv6-gnmid,srv6-stampd,srv6-netconfd,srv6-configdbd,srv6-metricsd,srv6-orchagent
    And Run Fails    pe1    ss -Htln '( sport = :830 or sport = :9339 )' | grep .
    And All Pings Arrive    ce-red1    ${SITE2}
    And No Packet Was Lost    ce-red1    ${SITE2}
    And No Packet Was Lost    ce-blue1    ${SITE2_V6}

Purged Packages Leave Nothing Of Theirs And All Of Others
    Given Run On    pe1    ip link add foreign type dummy && ip link set foreign up
    And Run On    pe1    ip -6 route add fcbb:0:1:999::/64 dev foreign proto static
    When Purge Packages    pe1
    Then Run Fails    pe1    ip -6 route show table all | grep 'proto 86'
    And Run Fails    pe1    ip -6 rule show | grep 'proto 86'
    And Run Fails    pe1    grep -x srv6mgr /sys/class/net/*/ifalias
    And Run Fails    pe1    getent passwd _srv6-orchagent
    And Run Fails    pe1    vtysh -c 'show running-config' | grep -E 'vrf red|fcbb|segment-routing'
    ${files}    Files Of Ours    pe1
    And Should Be Empty    ${files}
    ${modules}    Modules Of Ours    pe1
    And Should Be Empty    ${modules}
    And Run On    pe1    ip -6 route show proto static | grep foreign
    And Run On    pe1    sysrepoctl --list | grep ietf-netconf-acm
    And Run On    pe1    grep -x bgpd=yes /etc/frr/daemons


*** Keywords ***
The Exposure Is
    [Arguments]    ${unit}    ${score}
    ${found}    Exposure Of    pe1    ${unit}
    Should Be Equal As Numbers    ${found}    ${score}
