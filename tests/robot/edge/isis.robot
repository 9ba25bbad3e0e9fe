*** Settings ***
Documentation     IS-IS of the underlay: two edges share a locator, and traffic to it survives the death of either.
...
...               - [Top] pe1 - p - pe2; a network of red's that both customers reach.
...               - [Cfg] The two-PE VPN; both edges have a locator of their own and one in common, with BFD and passwords.
...               - [Ver] Every packet of p to the shared SID is counted at a customer, but for those in the time of a failure.
...               - [Ref] RFC 9352 section 5, RFC 5882, RFC 5304.

Resource          ../srv6.resource

Suite Setup       Run Keywords    The VPN Is Up    AND    The Underlay Speaks IS-IS
Suite Teardown    The Underlay Is As It Was


*** Variables ***
${SHARED}         locators/locator[name=SHARED]
${ISIS}           srv6mgr-isis:isis
# Of the network behind both customers, and the SID that leads to it on both edges.
${SERVICE}        fd00:9::9
${SHARED_SID}     fcbb:0:a:64::
# BFD has to see the failure (0.9 s), and IS-IS to change the route; a busy machine takes longer.
${FEW_PACKETS}    200

${LOCATOR}        update locators {"locator": [{"name": "SHARED", "prefix": "fcbb:0:a::/48"}]}
${SID}            update local-sids {"sid": [{"prefix": "fcbb:0:a:64::/64", "locator": "SHARED", "behavior": "End.DT46", "vrf": "red"}]}
${ROUTE}          update vrfs/vrf[name=red]/srv6mgr-routing:static-routes/route[prefix=fd00:9::/64]
${INTERFACES}     [{"name": "lo", "passive": true}, {"name": "to-p", "point-to-point": true, "bfd": true, "hello-authentication": {"password": "of-the-links"}}]
@{P}
...               interface to-pe1
...               ipv6 router isis core
...               isis network point-to-point
...               isis bfd
...               isis password md5 of-the-links
...               interface to-pe2
...               ipv6 router isis core
...               isis network point-to-point
...               isis metric 20
...               isis bfd
...               isis password md5 of-the-links
...               router isis core
...               is-type level-2-only
...               spf-delay-ietf init-delay 50 short-delay 200 long-delay 5000 holddown 10000 time-to-learn 500
...               domain-password md5 of-the-domain authenticate snp validate
...               net 49.0001.0000.0000.0003.00


*** Test Cases ***
An Edge That Is Gone Is Replaced By The Other
    [Documentation]    pe1 is nearer. It falls silent without a link going down, and comes back.
    Given The Next Hop Of The Shared Locator Is    to-pe1
    And Wait Until Keyword Succeeds    60 s    0.5 s    No Change Was Seen Of Late
    And Wait For Bfd    p    ${2}
    ${before}    Echoes At Customers
    When Begin Echoes
    And Echoes Have Arrived    ce-red1    50
    And The First Edge Falls Silent
    Then The Next Hop Of The Shared Locator Is    to-pe2
    And Echoes Have Arrived    ce-red2    50
    ${sent}    End Echoes
    ${after}    Echoes At Customers
    ${lost}    Evaluate    ${sent} - (${after} - ${before})
    Log    ${lost} of ${sent} packets lost at 50 a second    console=True
    And Should Be True    0 <= ${lost} <= ${FEW_PACKETS}
    When The First Edge Speaks Again
    Then The Next Hop Of The Shared Locator Is    to-pe1
    [Teardown]    Run Keywords    Run Keyword And Ignore Error    End Echoes    AND    The First Edge Speaks Again

The Route To A Further Locator Is Repaired
    ${before}    Repairs Of    pe1    ${SHARED}
    When Vtysh Configures    pe1    no ipv6 route fcbb:0:a::/48 blackhole tag 8986
    Then Wait For Repair    pe1    ${SHARED}    ${before}    timeout=90
    And Wait For Status    pe1    ${SHARED}    installed    timeout=60


*** Keywords ***
The Underlay Speaks IS-IS
    Start Service    p    frr
    FOR    ${node}    IN    pe1    pe2    p
        Run On    ${node}    for d in bfdd isisd; do /usr/lib/frr/$d -d -f /dev/null --log file:/tmp/$d.log </dev/null >/tmp/$d.out 2>&1; done
    END
    Vtysh Configures    p    @{P}
    Shared Locator On    pe1    0000.0000.0001    fd00:1::10
    Shared Locator On    pe2    0000.0000.0002    fd00:2::10
    FOR    ${node}    IN    ce-red1    ce-red2
        Run On    ${node}    ip address add ${SERVICE}/128 dev lo
    END
    Run On    p    ip -6 route add ${SERVICE}/128 encap seg6 mode encap segs ${SHARED_SID} dev to-pe1
    FOR    ${node}    IN    pe1    pe2
        Wait For Status    ${node}    ${SHARED}    installed    ${EMPTY}    timeout=90
        Wait For Status    ${node}    locators/locator[name=MAIN]    installed    ${EMPTY}    timeout=90
    END

Shared Locator On
    [Arguments]    ${node}    ${system}    ${customer}
    Set
    ...    ${node}
    ...    ${LOCATOR}
    ...    ${SID}
    ...    ${ROUTE} {"next-hop": [{"index": 1, "address": "${customer}"}]}
    ...    update ${ISIS} {"area": "49.0001", "system-id": "${system}", "locator": "MAIN", "interface": ${INTERFACES}}
    ...    update ${ISIS} {"additional-locator": ["SHARED"], "domain-authentication": {"password": "of-the-domain"}}

The Underlay Is As It Was
    Run On    p    ip -6 route del ${SERVICE}/128
    FOR    ${node}    IN    ce-red1    ce-red2
        Run On    ${node}    ip address del ${SERVICE}/128 dev lo
    END
    FOR    ${node}    IN    pe1    pe2
        Configure    ${node}
    END
    FOR    ${node}    IN    pe1    pe2    p
        Run On
        ...    ${node}
        ...    for d in isisd bfdd; do pid=$(cat /run/frr/$d.pid) || continue; kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.1; done; done
    END
    Stop Service    p    frr
    Run On    p    ip -6 route flush proto isis
    The VPN Has Converged

The Next Hop Of The Shared Locator Is
    [Arguments]    ${interface}
    Wait Until Keyword Succeeds    60 s    0.1 s    The Route Leads Through    ${interface}

The Route Leads Through
    [Arguments]    ${interface}
    ${route}    Run On    p    ip -6 route show fcbb:0:a::/48
    Should Contain    ${route}    dev ${interface}

No Change Was Seen Of Late
    [Documentation]    p computes routes soon after the next one (RFC 8405: QUIET).
    ${shown}    Run On    p    vtysh -c 'show isis spf-delay-ietf' | grep 'Current state'
    Should Not Contain    ${shown}    WAIT

The First Edge Falls Silent
    [Documentation]    Neither end of its link hears the other; the link stays up.
    Run On    pe1    tc qdisc add dev to-p root netem loss 100%
    Run On    p    tc qdisc add dev to-pe1 root netem loss 100%

The First Edge Speaks Again
    Run On    pe1    tc qdisc del dev to-p root 2>/dev/null || true
    Run On    p    tc qdisc del dev to-pe1 root 2>/dev/null || true

Begin Echoes
    [Documentation]    50 a second, until they are ended; nobody answers p.
    Run On    p    ping -q -i 0.02 ${SERVICE} >/tmp/echoes 2>&1 & echo $! >/tmp/echoes.pid

End Echoes
    [Documentation]    How many were sent.
    Run On    p    pid=$(cat /tmp/echoes.pid); kill -INT $pid; while kill -0 $pid 2>/dev/null; do sleep 0.1; done; rm /tmp/echoes.pid
    ${sent}    Run On    p    sed -n 's/ packets transmitted.*//p' /tmp/echoes
    RETURN    ${{int($sent)}}

Echoes Of
    [Arguments]    ${node}
    ${count}    Run On    ${node}    nstat -asz Icmp6InEchos | awk '/Icmp6InEchos/ {print $2}'
    RETURN    ${{int($count)}}

Echoes At Customers
    ${one}    Echoes Of    ce-red1
    ${two}    Echoes Of    ce-red2
    RETURN    ${{$one + $two}}

Echoes Have Arrived
    [Documentation]    So many more than now.
    [Arguments]    ${node}    ${more}
    ${now}    Echoes Of    ${node}
    Wait Until Keyword Succeeds    60 s    0.1 s    More Echoes Than    ${node}    ${now + ${more}}

More Echoes Than
    [Arguments]    ${node}    ${count}
    ${now}    Echoes Of    ${node}
    Should Be True    ${now} >= ${count}
