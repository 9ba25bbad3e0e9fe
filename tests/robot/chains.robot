*** Settings ***
Documentation     A customer's packets go through a firewall on one router and a shaper on the other, and around what fails.
...
...               - [Top] client - pe1 - pe2 - server, a firewall with two links to pe1, a shaper with two links to pe2:
...               lab/topologies/chain.toml. The functions forward, and know nothing of SRv6.
...               - [Cfg] examples/chain: VPN red at both edges, the functions, one chain in both directions, classifiers.
...               - [Ver] Packets of both families go through both functions, there and back, and are counted exactly; what
...               the firewall filters is lost; when it fails, packets go around it or are dropped, as declared, and come
...               back; a restart loses nothing; what is no longer declared leaves nothing behind.
...               - [Ref] RFC 7665; draft-ietf-spring-sr-service-programming.

Resource          srv6.resource
Library           tests.robot.library.chains.Chains
Library           tests.robot.library.cli.Cli

Suite Setup       The Chain Is Declared
Suite Teardown    All Is As Before
Test Teardown     End All Flows


*** Variables ***
${SERVER}       10.2.0.10
${SERVER_V6}    fd00:2::10
# Longer than it may take, for a machine that does other work.
${AT_MOST}      ${2.0}


*** Test Cases ***
Packets Go Through Both Functions There And Back
    [Template]    Pings Go Through
    ${SERVER}       20
    ${SERVER_V6}    21

What The Firewall Filters Is Lost
    [Setup]    Run On    firewall    nft add rule inet filter forward meta length gt 1000 counter drop
    Run On    client    ! ping -q -c3 -i0.2 -W1 -s1200 ${SERVER}
    All Pings Arrive    client    ${SERVER}    5
    [Teardown]    The Firewall Filters Nothing

Packets Go Around A Firewall That Fails
    [Documentation]    Its links stay up, and its neighbors answer.
    Given Begin Flow    client    ${SERVER}
    When Run On    firewall    nft add rule inet filter forward drop
    And Wait For Function State    pe1    firewall    down
    ${lost}    End Flow    client    ${SERVER}
    Then Should Be True    ${lost.blocked} < ${AT_MOST}    ${lost}
    And All Pings Arrive    client    ${SERVER}    10
    And All Pings Arrive    client    ${SERVER_V6}    10
    [Teardown]    The Firewall Filters Nothing

They Go Through It Again When It Works
    Given Wait For Function State    pe1    firewall    up
    Then Pings Go Through    ${SERVER}    12

A Link That Goes Down Is Seen As Well
    [Template]    Packets Go Around While A Link Is Down
    firewall    out    pe1    10.2.0.0/16 via 10.9.1.1    fd00:2::/48 via fd09:1::1
    shaper    in    pe2    10.1.0.0/16 via 10.9.2.1    fd00:1::/48 via fd09:2::1

Nothing Gets Past A Firewall That Fails Where The Chain Says So
    Given Declare The Chain    on_failure=drop
    And The Chain Works
    When Run On    firewall    nft add rule inet filter forward drop
    And Wait For Function State    pe1    firewall    down
    Then No Ping Arrives    client    ${SERVER}
    And Wait For Chain Drops    pe1    1
    [Teardown]    The Chain Bypasses Again

A Function That Drains Keeps Its Flows
    [Documentation]    There is no other one for new flows: they go without it.
    Given Begin Flow    client    ${SERVER}
    When Declare The Chain    drain=firewall
    And Wait For Function State    pe1    firewall    draining
    Then No Packet Was Lost    client    ${SERVER}
    [Teardown]    The Chain Bypasses Again

A Restart Loses Nothing
    Given Begin Flow    client    ${SERVER}
    When Restart Service    pe1    srv6mgrd
    And The Chain Works
    Then No Packet Was Lost    client    ${SERVER}

The Same Again Writes Nothing
    ${said}    Ctl    pe1    diff /src/examples/chain/pe1.json
    Log    ${said}
    ${said}    Ctl    pe1    plan /src/examples/chain/pe1.json
    Should Contain    ${said}    nothing

What Is No Longer Declared Leaves Nothing
    When Ctl    pe1    delete service-chaining --yes
    Then Nothing Of Chains Is Left    pe1
    [Teardown]    The Chain Bypasses Again


*** Keywords ***
The Chain Is Declared
    Functions Are Set Up
    Declare The Chain
    The Chain Works
    Wait For Traffic    client    ${SERVER}
    Wait For Traffic    client    ${SERVER_V6}

All Is As Before
    Functions Are Taken Down
    FOR    ${edge}    IN    pe1    pe2
        Set    ${edge}    delete /srv6mgr-srv6:srv6
    END

The Firewall Filters Nothing
    Run On    firewall    nft flush chain inet filter forward
    Wait For Function State    pe1    firewall    up

The Chain Bypasses Again
    Run On    firewall    nft flush chain inet filter forward
    Declare The Chain
    The Chain Works
    Wait For Traffic    client    ${SERVER}

Pings Go Through
    [Documentation]    As many requests and answers as were sent, through each function, by the rule of the family.
    [Arguments]    ${address}    ${count}
    ${firewall}    Packets Through    pe1    firewall
    ${shaper}    Packets Through    pe2    shaper
    All Pings Arrive    client    ${address}    ${count}
    Wait For Packets Through    pe1    firewall    ${${firewall} + 2 * ${count}}
    Wait For Packets Through    pe2    shaper    ${${shaper} + 2 * ${count}}

Packets Go Around While A Link Is Down
    [Documentation]    The link takes the function's routes along.
    [Arguments]    ${function}    ${link}    ${edge}    @{routes}
    Run On    ${function}    sysctl -qw net.ipv6.conf.${link}.keep_addr_on_down=1
    Run On    ${function}    ip link set ${link} down
    TRY
        Wait For Function State    ${edge}    ${function}    down
        All Pings Arrive    client    ${SERVER}    10
    FINALLY
        Run On    ${function}    ip link set ${link} up
        FOR    ${route}    IN    @{routes}
            Run On    ${function}    ip route replace ${route}
        END
    END
    Wait For Function State    ${edge}    ${function}    up
