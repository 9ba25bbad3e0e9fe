*** Settings ***
Documentation     The path to the other edge is measured with STAMP, and its state follows what the core does.
...
...               - [Top] The two-PE network; netem on both interfaces of the core router.
...               - [Cfg] VPN of examples/l3vpn; a session on pe1, a reflector on pe2.
...               - [Ver] Delay is that of netem, loss that of a filter, of each direction; thresholds degrade the path; it goes down with the core or
...               with the reflector, within 5 s, and comes back; srv6ctl and gNMI say so.
...               - [Ref] docs/path-measurement.md; RFC 8762.

Resource          ../srv6.resource
Library           tests.robot.library.cli.Cli

Suite Setup       The Path Is Measured
Suite Teardown    The Path Is Measured No More


*** Variables ***
${MEASUREMENT}    srv6mgr-path-measurement:path-measurement
${PATH}           ${MEASUREMENT}/session[name=pe2]
${SESSION}        update ${PATH} {"destination-address": "2001:db8::2", "interval": 20, "measurement-interval": 5}
${REFLECTOR}      update ${MEASUREMENT}/reflector {"allowed-prefix": ["2001:db8::1/128"]}
${LOSSES}         SEPARATOR=${SPACE}
...               table ip6 losses { chain forward { type filter hook forward priority 0;
...               udp dport 862 @th,64,32 & 7 == 3 drop; udp sport 862 @th,64,32 & 15 == 4 drop; }; }
# Each way.
${DELAY_MS}       ${20}


*** Test Cases ***
Delay Is That Of The Core
    When The Core Has    delay ${DELAY_MS}ms
    Then Wait Until Keyword Succeeds    30 s    1 s    The Delay Is    ${{2 * $DELAY_MS * 1000}}    0.05
    And Wait Until Keyword Succeeds    30 s    1 s    The Loss Is    0    1
    ${state}    The Path
    And Should Be Equal    ${state}[timestamps]    kernel

Loss Is That Of Each Direction
    [Documentation]    Of 8 test packets p drops one, of 16 answers of the rest one: by the sequence numbers in them.
    Given The Core Has    delay 1ms
    When Run On    p    nft '${LOSSES}'
    Then Wait Until Keyword Succeeds    30 s    1 s    The Loss Is    18.75    1
    And Wait Until Keyword Succeeds    10 s    1 s    The Losses Are    12.5    ${{100 / 14}}    1
    ${shown}    Ctl    pe1    show paths
    And Should Match Regexp    ${shown}    \\(there 1[123]\\.\\d*%, back [678]\\.\\d*%\\)
    When Run On    p    nft delete table ip6 losses
    Then Wait Until Keyword Succeeds    30 s    1 s    The Losses Are    0    0    0.001
    [Teardown]    Run On    p    nft delete table ip6 losses 2>/dev/null || true

A Threshold Degrades The Path
    Given The Core Has    delay ${DELAY_MS}ms
    When Set    pe1    update ${PATH}/thresholds {"delay": 30000}
    Then Wait For The Path    degraded    20 s
    ${state}    The Path
    And Should Match Regexp    ${state}[reason]    ^99% of delay \\d+ us exceeds 30000 us$
    When The Core Has    delay 1ms
    Then Wait For The Path    up    20 s

It Goes Down With The Core
    Given Wait For The Path    up    20 s
    When Run On    p    ip link set to-pe2 down
    Then Wait For The Path    down    5 s
    ${shown}    Ctl    pe1    show paths
    And Should Match Regexp    ${shown}    pe2 +2001:db8::2 +- +down .*no answer
    ${said}    Ctl Ends With    pe1    2    doctor --quiet
    And Should Contain    ${said}    path pe2 to 2001:db8::2 is down: no answer
    When Run On    p    ip link set to-pe2 up && for to in 2001:db8::2/128 fcbb:0:2::/48; do ip -6 route replace $to via 2001:db8:2::1; done
    Then Wait For The Path    up    20 s
    And Wait For Traffic    ce-red1    ${SITE2}

It Goes Down With The Reflector
    When Set    pe2    delete ${MEASUREMENT}/reflector
    Then Wait For The Path    down    5 s
    ${state}    The Path
    And Should Be Equal    ${state}[reason]    2001:db8::2 answers at port 862 that nothing listens
    When Set    pe2    ${REFLECTOR}
    Then Wait For The Path    up    20 s
    And Wait Until Keyword Succeeds    5 s    0.2 s    The Reflector Is Up

It Is Unknown Without The Daemon
    When Stop Service    pe1    srv6-stampd
    Then Wait For The Path    unknown    10 s
    When Start Service    pe1    srv6-stampd
    Then Wait For The Path    up    20 s


*** Keywords ***
The Path Is Measured
    The VPN Is Up
    Start Service    pe1    srv6-stampd
    Start Service    pe2    srv6-stampd
    Set    pe2    ${REFLECTOR}
    Set    pe1    ${SESSION}
    Wait For The Path    up    20 s

The Path Is Measured No More
    Run On    p    for i in to-pe1 to-pe2; do tc qdisc del dev $i root 2>/dev/null || true; done
    Set    pe1    delete ${MEASUREMENT}
    Set    pe2    delete ${MEASUREMENT}
    Stop Service    pe1    srv6-stampd
    Stop Service    pe2    srv6-stampd

The Core Has
    [Documentation]    On the way there and on the way back.
    [Arguments]    ${shape}
    Run On    p    for i in to-pe1 to-pe2; do tc qdisc replace dev $i root netem ${shape}; done

The Path
    ${state}    Value Of    pe1    ${PATH}/state    state
    RETURN    ${state}

Wait For The Path
    [Arguments]    ${path_state}    ${timeout}
    Wait Until Keyword Succeeds    ${timeout}    0.2 s    The Path Is    ${path_state}

The Path Is
    [Arguments]    ${path_state}
    ${state}    The Path
    Should Be Equal    ${state}[path-state]    ${path_state}

The Reflector Is Up
    ${reflector}    Value Of    pe2    ${MEASUREMENT}/reflector/state    state
    Should Be Equal    ${reflector}[oper-status]    up

The Delay Is
    [Documentation]    The median, in microseconds, within a share of it.
    [Arguments]    ${expected}    ${share}
    ${state}    The Path
    VAR    ${found}    ${state}[last-measurement][round-trip-delay][median]
    Should Be True    abs(${found} - ${expected}) <= ${share} * ${expected}    ${found} us

The Losses Are
    [Documentation]    In percent, of the way there and of the way back, within so much.
    [Arguments]    ${forward}    ${backward}    ${within}
    ${state}    The Path
    VAR    ${found}    ${state}[last-measurement]
    Should Be True    abs(${found}[forward-loss-ratio] - ${forward}) <= ${within}    ${found}
    Should Be True    abs(${found}[backward-loss-ratio] - ${backward}) <= ${within}    ${found}

The Loss Is
    [Documentation]    In percent, within so much. Of 250 packets.
    [Arguments]    ${expected}    ${within}
    ${state}    The Path
    VAR    ${found}    ${state}[last-measurement][loss-ratio]
    Should Be True    abs(${found} - ${expected}) <= ${within}    ${found}%
