*** Settings ***
Documentation    Refusals: what can't be is refused whole, in plain words, and changes nothing.
...
...              - [Top] pe1 of the two-PE network, both VRFs configured.
...              - [Cfg] Set requests that libyang, srv6mgrd's checks, the kernel or FRR reject, one of each kind; all others
...              are in tests/contract/gnmi/test_rejections.py.
...              - [Ver] The gRPC status; the exact words, which name object, cause and remedy; links, addresses,
...              rules, routes of all tables, nftables, sysctls, FRR, Redis and configuration as before.
...              - [Ref] gNMI specification 3.4.7; RFC 7950 section 8; RFC 8986 section 3.1; drivers/net/vrf.c.

Resource         srv6.resource

Suite Setup      Run Keywords    The VPN Is Up    AND    Remember The Network    pe1
Test Template    Is Refused And Changes Nothing


*** Test Cases ***
# Each row: gRPC status, words, then the lines of one Set. Words stand on one line, to be found by them.
# robocop: off=LEN08
SID Outside Its Locator
    INVALID_ARGUMENT    SID fcbb:0:9:1::/64: it is outside locator MAIN (fcbb:0:1::/48); choose a SID in this prefix, or another locator
    ...    update local-sids/sid[prefix=fcbb:0:9:1::/64] {"locator": "MAIN", "behavior": "End"}

SID Of A VRF That Does Not Exist
    INVALID_ARGUMENT    SID fcbb:0:1:1::/64: VRF green does not exist; create it or name an existing VRF
    ...    update local-sids/sid[prefix=fcbb:0:1:1::/64] {"locator": "MAIN", "behavior": "End.DT46", "vrf": "green"}

Neighbor That FRR Refuses In The Middle Of A Commit
    ABORTED    FRR bgpd 'router bgp 65000 vrf blue': FRR refused it: bgpd: Can not configure the local system as neighbor (at 'router bgp 65000 vrf blue / neighbor 10.1.0.1 remote-as 65100'); correct the configuration, or FRR's own where it is in the way
    ...    update vrfs/vrf[name=green] {"table-id": 30, "srv6mgr-bgp:bgp": {"rd": "65000:130", "import-rt": ["65000:30"], "export-rt": ["65000:30"], "export-auto": [null], "locator": "MAIN"}}
    ...    update vrfs/vrf[name=blue]/srv6mgr-bgp:bgp {"neighbor": [{"address": "10.1.0.1", "remote-as": 65100}], "rd": "65000:125"}
    ...    update srv6mgr-bgp:bgp {"neighbor": [{"address": "2001:db8::9", "remote-as": 65000}]}

One Mistake Beside Good Lines
    INVALID_ARGUMENT    VRF blue: SID fcbb:0:1:c8::/64 does not exist; create it or name an existing SID
    ...    update vrfs/vrf[name=green] {"table-id": 30}
    ...    update local-sids/sid[prefix=fcbb:0:1:30::/64] {"locator": "MAIN", "behavior": "End.DT46", "vrf": "green"}
    ...    delete local-sids/sid[prefix=${BLUE1}]

VRF Whose Name A Foreign VRF Has
    [Setup]    A Foreign Device    green type vrf table 77
    INVALID_ARGUMENT    VRF green: something that srv6mgr did not make is already there (VRF green); remove it, or declare another name, table or prefix
    ...    update vrfs/vrf[name=green] {"table-id": 30}
    [Teardown]    No Foreign Device    green

VRF Whose Name A Foreign Device Has
    [Setup]    A Foreign Device    green type dummy
    INVALID_ARGUMENT    VRF green: its device can't be made: a dummy device of this name is there already, which srv6mgr did not make; declare another name, or remove what is there
    ...    update vrfs/vrf[name=green] {"table-id": 30}
    [Teardown]    No Foreign Device    green

VRF On The Table Of A Foreign VRF
    [Setup]    A Foreign Device    other type vrf table 30
    INVALID_ARGUMENT    VRF green: table 30 is already used by VRF other; choose another table-id\nunreachable IPv4 default of table 30: table 30 belongs to VRF other, which srv6mgr did not make; choose another table-id\nunreachable IPv6 default of table 30: table 30 belongs to VRF other, which srv6mgr did not make; choose another table-id
    ...    update vrfs/vrf[name=green] {"table-id": 30}
    [Teardown]    No Foreign Device    other


*** Keywords ***
Is Refused And Changes Nothing
    [Arguments]    ${status}    ${words}    @{lines}
    When Set Is Rejected    pe1    ${status}    ${words}    @{lines}
    Then The Network Is Unchanged    pe1

A Foreign Device
    [Arguments]    ${device}
    Run On    pe1    ip link add ${device}
    Remember The Network    pe1

No Foreign Device
    [Arguments]    ${device}
    Run On    pe1    ip link del ${device}
    Remember The Network    pe1
