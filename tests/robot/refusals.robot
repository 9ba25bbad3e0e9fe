*** Settings ***
Documentation    Refusals: what can't be is refused whole, in plain words, and changes nothing.
...
...              - [Top] pe1 of the two-PE network, both VRFs configured.
...              - [Cfg] Set requests that contradict the model, the declared state, or the kernel.
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

SID Shorter Than Locator And Function
    INVALID_ARGUMENT    SID fcbb:0:1:300::/56: its prefix is shorter than locator and function of MAIN (64); write it as /64 or /128
    ...    update local-sids/sid[prefix=fcbb:0:1:300::/56] {"locator": "MAIN", "behavior": "End"}

SID With Function 0
    INVALID_ARGUMENT    SID fcbb:0:1::/64: function 0 is the locator itself; choose a function from 1
    ...    update local-sids/sid[prefix=fcbb:0:1::/64] {"locator": "MAIN", "behavior": "End"}

SID Within Another SID
    INVALID_ARGUMENT    SID fcbb:0:1:64::1/128: it overlaps SID fcbb:0:1:64::/64; give each SID a function of its own
    ...    update local-sids/sid[prefix=fcbb:0:1:64::1/128] {"locator": "MAIN", "behavior": "End"}

Same SID Twice In One Set
    INVALID_ARGUMENT    SID fcbb:0:1:1::/64: it is declared twice; declare it once
    ...    update local-sids {"sid": [{"prefix": "fcbb:0:1:1::/64", "locator": "MAIN", "behavior": "End"}, {"prefix": "fcbb:0:1:1::/64", "locator": "MAIN", "behavior": "End"}]}

SID Of A Locator That Does Not Exist
    INVALID_ARGUMENT    SID fcbb:0:1:1::/64: locator OTHER does not exist; create it or name an existing locator
    ...    update local-sids/sid[prefix=fcbb:0:1:1::/64] {"locator": "OTHER", "behavior": "End"}

SID Of A VRF That Does Not Exist
    INVALID_ARGUMENT    SID fcbb:0:1:1::/64: VRF green does not exist; create it or name an existing VRF
    ...    update local-sids/sid[prefix=fcbb:0:1:1::/64] {"locator": "MAIN", "behavior": "End.DT46", "vrf": "green"}

Decapsulation Without A VRF
    INVALID_ARGUMENT    SID fcbb:0:1:1::/64: End.DT4 and End.DT46 look up a VRF; add vrf
    ...    update local-sids/sid[prefix=fcbb:0:1:1::/64] {"locator": "MAIN", "behavior": "End.DT4"}

End With A VRF
    INVALID_ARGUMENT    SID fcbb:0:1:1::/64: only End.T, End.DT4, End.DT6 and End.DT46 take a vrf; remove vrf or change the behavior
    ...    update local-sids/sid[prefix=fcbb:0:1:1::/64] {"locator": "MAIN", "behavior": "End", "vrf": "red"}

Unknown Behavior
    INVALID_ARGUMENT    SID fcbb:0:1:1::/64: behavior 'End.DT47' is unknown; name one that the model has, such as End, End.X, End.DT46
    ...    update local-sids/sid[prefix=fcbb:0:1:1::/64] {"locator": "MAIN", "behavior": "End.DT47"}

SID Without A Behavior
    INVALID_ARGUMENT    SID fcbb:0:1:1::/64: behavior is missing; add behavior
    ...    update local-sids/sid[prefix=fcbb:0:1:1::/64] {"locator": "MAIN"}

Malformed SID
    INVALID_ARGUMENT    SID fcbb:0:1:zz::/64: prefix 'fcbb:0:1:zz::/64' is no IPv6 prefix; write it like fcbb:0:1:64::/64
    ...    update local-sids {"sid": [{"prefix": "fcbb:0:1:zz::/64", "locator": "MAIN", "behavior": "End"}]}

Malformed Locator Prefix
    INVALID_ARGUMENT    locator WEST: prefix 'fcbb:0:5::/129' is no IPv6 prefix; write it like fcbb:0:1:64::/64
    ...    update locators/locator[name=WEST] {"prefix": "fcbb:0:5::/129"}

Locator Within Another Locator
    INVALID_ARGUMENT    locator WEST: prefix fcbb:0:1:8000::/56 overlaps fcbb:0:1::/48 of locator MAIN; give each locator a prefix of its own
    ...    update locators/locator[name=WEST] {"prefix": "fcbb:0:1:8000::/56", "node-length": 24}

Locator Whose Lengths Do Not Add Up
    INVALID_ARGUMENT    locator WEST: the prefix length is not block-length + node-length; correct the prefix or the lengths
    ...    update locators/locator[name=WEST] {"prefix": "fcbb:0:5::/48", "node-length": 24}

Two VRFs On One Table
    INVALID_ARGUMENT    VRF green: table 10 is already used by VRF red; choose another table-id
    ...    update vrfs/vrf[name=green] {"table-id": 10}

VRF On The Table Of The SIDs
    INVALID_ARGUMENT    VRF green: table 8986 holds the local SIDs; choose another table-id
    ...    update vrfs/vrf[name=green] {"table-id": 8986}

VRF On The Main Table
    INVALID_ARGUMENT    VRF green: table 0 and 253 to 255 are the kernel's own (unspec, default, main, local); choose another table-id
    ...    update vrfs/vrf[name=green] {"table-id": 254}

VRF Without A Table
    INVALID_ARGUMENT    VRF green: table-id is missing; add table-id
    ...    update vrfs/vrf[name=green] {"interface": ["to-p"]}

VRF Whose Name Is Too Long
    INVALID_ARGUMENT    VRF a-name-of-18-chars: a VRF name is a Linux device name: 1 to 15 characters; shorten it
    ...    update vrfs/vrf[name=a-name-of-18-chars] {"table-id": 30}

Interface In Two VRFs
    INVALID_ARGUMENT    VRF red: interface to-ce-red is already in VRF blue; list it in one VRF only
    ...    update vrfs/vrf[name=blue] {"interface": ["to-ce-red"]}

VRF In Use Deleted
    INVALID_ARGUMENT    SID fcbb:0:1:64::/64: VRF red does not exist; create it or name an existing VRF
    ...    delete vrfs/vrf[name=red]

Exported SID Deleted
    INVALID_ARGUMENT    VRF red: SID fcbb:0:1:64::/64 does not exist; create it or name an existing SID
    ...    delete local-sids/sid[prefix=${RED1}]

Locator In Use Deleted
    INVALID_ARGUMENT    SID fcbb:0:1:c8::/64: locator MAIN does not exist; create it or name an existing locator\nSID fcbb:0:1:64::/64: locator MAIN does not exist; create it or name an existing locator
    ...    delete locators/locator[name=MAIN]

Export Of Another VRFs SID
    INVALID_ARGUMENT    VRF red: export-sid fcbb:0:1:c8::/64 is End.DT46 of VRF blue; name an End.DT46 SID of VRF red
    ...    update vrfs/vrf[name=red] {"srv6mgr-bgp:bgp": {"export-sid": "${BLUE1}"}}

Export Without A BGP Speaker
    INVALID_ARGUMENT    VRF blue: the VRF exchanges VPN routes but the router has no BGP speaker; add /srv6mgr-srv6:srv6/srv6mgr-bgp:bgp with as-number and router-id\nVRF red: the VRF exchanges VPN routes but the router has no BGP speaker; add /srv6mgr-srv6:srv6/srv6mgr-bgp:bgp with as-number and router-id
    ...    delete srv6mgr-bgp:bgp

Malformed Route Target
    INVALID_ARGUMENT    VRF red: a route target is AS:number or IPv4-address:number; write it like 65000:100
    ...    update vrfs/vrf[name=red] {"srv6mgr-bgp:bgp": {"import-rt": ["65000"]}}

Route Distinguisher Of Another VRF
    INVALID_ARGUMENT    VRF red: route distinguisher 65000:120 is already that of VRF blue; give it one of its own
    ...    update vrfs/vrf[name=red] {"srv6mgr-bgp:bgp": {"rd": "65000:120"}}

Reserved AS Number
    INVALID_ARGUMENT    BGP: AS number 0 is reserved; choose another as-number
    ...    update srv6mgr-bgp:bgp {"as-number": 0}

Password With A Blank
    INVALID_ARGUMENT    BGP neighbor 2001:db8::2: a BGP password consists of printable ASCII characters without blanks; choose another
    ...    update srv6mgr-bgp:bgp/neighbor[address=2001:db8::2] {"password": "two words"}

Password With A Letter That Is Not ASCII
    INVALID_ARGUMENT    BGP neighbor 2001:db8::2: a BGP password consists of printable ASCII characters without blanks; choose another
    ...    update srv6mgr-bgp:bgp/neighbor[address=2001:db8::2] {"password": "geh\u00e4im"}

Neighbor That FRR Refuses In The Middle Of A Commit
    ABORTED    FRR bgpd 'router bgp 65000 vrf blue': FRR refused it: bgpd: Can not configure the local system as neighbor (at 'router bgp 65000 vrf blue / neighbor 10.1.0.1 remote-as 65100'); correct the configuration, or FRR's own where it stands in the way
    ...    update vrfs/vrf[name=green] {"table-id": 30, "srv6mgr-bgp:bgp": {"rd": "65000:130", "import-rt": ["65000:30"], "export-rt": ["65000:30"], "export-auto": [null], "locator": "MAIN"}}
    ...    update vrfs/vrf[name=blue]/srv6mgr-bgp:bgp {"neighbor": [{"address": "10.1.0.1", "remote-as": 65100}], "rd": "65000:125"}
    ...    update srv6mgr-bgp:bgp {"neighbor": [{"address": "2001:db8::9", "remote-as": 65000}]}

Unknown Node
    NOT_FOUND    VRF red: /srv6mgr-srv6:srv6/vrfs/vrf[name='red']/colour is unknown to the model; correct the name or remove it
    ...    update vrfs/vrf[name=red] {"colour": "red"}

Unknown Path
    NOT_FOUND    path /srv6/tunnels/tunnel[name=a]: /srv6 has no node 'tunnels'; see Capabilities for the models served
    ...    update tunnels/tunnel[name=a] {"to": "b"}

Status Is Not Configuration
    INVALID_ARGUMENT    path /srv6/vrfs/vrf[name=red]/state: is read-only; update configuration only
    ...    update vrfs/vrf[name=red]/state {"repairs": "0"}

Number In Quotes
    INVALID_ARGUMENT    VRF green: table-id '30' is no number; write it without quotes
    ...    update vrfs/vrf[name=green] {"table-id": "30"}

Several Mistakes At Once
    INVALID_ARGUMENT    SID fcbb:0:9:1::/64: it is outside locator MAIN (fcbb:0:1::/48); choose a SID in this prefix, or another locator\nVRF red: interface to-ce-red is already in VRF blue; list it in one VRF only
    ...    update vrfs/vrf[name=blue] {"interface": ["to-ce-red"]}
    ...    update local-sids/sid[prefix=fcbb:0:9:1::/64] {"locator": "MAIN", "behavior": "End"}

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
    When Set Is Refused    pe1    ${status}    ${words}    @{lines}
    Then The Network Is Unchanged    pe1

A Foreign Device
    [Arguments]    ${device}
    Run On    pe1    ip link add ${device}
    Remember The Network    pe1

No Foreign Device
    [Arguments]    ${device}
    Run On    pe1    ip link del ${device}
    Remember The Network    pe1
