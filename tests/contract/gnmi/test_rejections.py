"""Every rejection in full: the gRPC status and the exact message, through sysrepo, libyang, srv6mgrd's
checks and srv6-gnmid. What needs the kernel or FRR to be rejected is in suite rejections."""
# Messages are on one line, to be found by them.
# ruff: noqa: E501

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.contract.gnmi.client import Client, Core, failing
from tests.contract.gnmi.data import SRV6
from tests.contract.gnmi.rich_status import violations
from tests.contract.gnmi.test_set import config
from tests.contract.rejections import MISTAKES, Mistake, judge

INVALID_ARGUMENT, NOT_FOUND = "INVALID_ARGUMENT", "NOT_FOUND"
PE1 = Path(__file__).parents[3] / "examples/l3vpn/pe1.json"


@dataclass(frozen=True, slots=True)
class Case:
    """One Set on a router with the configuration of PE1."""

    name: str
    status: str
    message: str
    updates: tuple[tuple[str, Any], ...]
    deletes: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


def update(path: str, value: Any) -> tuple[str, Any]:
    return path, value


def delete(path: str) -> str:
    return path


def case(name: str, status: str, message: str, *operations: tuple[str, Any] | str) -> Case:
    updates = tuple(o for o in operations if not isinstance(o, str))
    return Case(name, status, message, updates, tuple(o for o in operations if isinstance(o, str)))


CASES = (
    case(
        "SID Outside Its Locator",
        INVALID_ARGUMENT,
        "SID fcbb:0:9:1::/64: it is outside locator MAIN (fcbb:0:1::/48); choose a SID in this prefix, or another locator",
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:9:1::/64]", {"locator": "MAIN", "behavior": "End"}
        ),
    ),
    case(
        "SID Shorter Than Locator And Function",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:300::/56: its prefix is shorter than locator and function of MAIN (64); write it as /64 or /128",
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:1:300::/56]", {"locator": "MAIN", "behavior": "End"}
        ),
    ),
    case(
        "SID With Function 0",
        INVALID_ARGUMENT,
        "SID fcbb:0:1::/64: function 0 is the locator itself; choose a function from 1",
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:1::/64]", {"locator": "MAIN", "behavior": "End"}
        ),
    ),
    case(
        "SID Within Another SID",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:64::1/128: it overlaps SID fcbb:0:1:64::/64; give each SID a function of its own",
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:1:64::1/128]",
            {"locator": "MAIN", "behavior": "End"},
        ),
    ),
    case(
        "Same SID Twice In One Set",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:1::/64: it is declared twice; declare it once",
        update(
            "/srv6/local-sids",
            {
                "sid": [
                    {"prefix": "fcbb:0:1:1::/64", "locator": "MAIN", "behavior": "End"},
                    {"prefix": "fcbb:0:1:1::/64", "locator": "MAIN", "behavior": "End"},
                ]
            },
        ),
    ),
    case(
        "SID Of A Locator That Does Not Exist",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:1::/64: locator OTHER does not exist; create it or name an existing locator",
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:1:1::/64]", {"locator": "OTHER", "behavior": "End"}
        ),
    ),
    case(
        "SID Of A VRF That Does Not Exist",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:1::/64: VRF green does not exist; create it or name an existing VRF",
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:1:1::/64]",
            {"locator": "MAIN", "behavior": "End.DT46", "vrf": "green"},
        ),
    ),
    case(
        "Decapsulation Without A VRF",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:1::/64: End.DT4 and End.DT46 look up a VRF; add vrf",
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:1:1::/64]",
            {"locator": "MAIN", "behavior": "End.DT4"},
        ),
    ),
    case(
        "End With A VRF",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:1::/64: only End.T, End.DT4, End.DT6 and End.DT46 take a vrf; remove vrf or change the behavior",
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:1:1::/64]",
            {"locator": "MAIN", "behavior": "End", "vrf": "red"},
        ),
    ),
    case(
        "Unknown Behavior",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:1::/64: behavior 'End.DT47' is unknown; name one that the model has, such as End, End.X, End.DT46",
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:1:1::/64]",
            {"locator": "MAIN", "behavior": "End.DT47"},
        ),
    ),
    case(
        "SID Without A Behavior",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:1::/64: behavior is missing; add behavior",
        update("/srv6/local-sids/sid[prefix=fcbb:0:1:1::/64]", {"locator": "MAIN"}),
    ),
    case(
        "Malformed SID",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:zz::/64: prefix 'fcbb:0:1:zz::/64' is no IPv6 prefix; write it like fcbb:0:1:64::/64",
        update(
            "/srv6/local-sids",
            {"sid": [{"prefix": "fcbb:0:1:zz::/64", "locator": "MAIN", "behavior": "End"}]},
        ),
    ),
    case(
        "Malformed Locator Prefix",
        INVALID_ARGUMENT,
        "locator WEST: prefix 'fcbb:0:5::/129' is no IPv6 prefix; write it like fcbb:0:1:64::/64",
        update("/srv6/locators/locator[name=WEST]", {"prefix": "fcbb:0:5::/129"}),
    ),
    case(
        "Locator Within Another Locator",
        INVALID_ARGUMENT,
        "locator WEST: prefix fcbb:0:1:8000::/56 overlaps fcbb:0:1::/48 of locator MAIN; give each locator a prefix of its own",
        update(
            "/srv6/locators/locator[name=WEST]", {"prefix": "fcbb:0:1:8000::/56", "node-length": 24}
        ),
    ),
    case(
        "Locator Whose Lengths Do Not Add Up",
        INVALID_ARGUMENT,
        "locator WEST: the prefix length is not block-length + node-length; correct the prefix or the lengths",
        update("/srv6/locators/locator[name=WEST]", {"prefix": "fcbb:0:5::/48", "node-length": 24}),
    ),
    case(
        "Two VRFs On One Table",
        INVALID_ARGUMENT,
        "VRF green: table 10 is already used by VRF red; choose another table-id",
        update("/srv6/vrfs/vrf[name=green]", {"table-id": 10}),
    ),
    case(
        "VRF On The Table Of The SIDs",
        INVALID_ARGUMENT,
        "VRF green: table 8986 holds the local SIDs; choose another table-id",
        update("/srv6/vrfs/vrf[name=green]", {"table-id": 8986}),
    ),
    case(
        "VRF On The Main Table",
        INVALID_ARGUMENT,
        "VRF green: table 0 and 253 to 255 are the kernel's own (unspec, default, main, local); choose another table-id",
        update("/srv6/vrfs/vrf[name=green]", {"table-id": 254}),
    ),
    case(
        "VRF Without A Table",
        INVALID_ARGUMENT,
        "VRF green: table-id is missing; add table-id",
        update("/srv6/vrfs/vrf[name=green]", {"interface": ["to-p"]}),
    ),
    case(
        "VRF Whose Name Is Too Long",
        INVALID_ARGUMENT,
        "VRF a-name-of-18-chars: a VRF name is a Linux device name: 1 to 15 characters; shorten it",
        update("/srv6/vrfs/vrf[name=a-name-of-18-chars]", {"table-id": 30}),
    ),
    case(
        "Interface In Two VRFs",
        INVALID_ARGUMENT,
        "VRF red: interface to-ce-red is already in VRF blue; list it in one VRF only",
        update("/srv6/vrfs/vrf[name=blue]", {"interface": ["to-ce-red"]}),
    ),
    case(
        "VRF In Use Deleted",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:64::/64: VRF red does not exist; create it or name an existing VRF",
        delete("/srv6/vrfs/vrf[name=red]"),
    ),
    case(
        "Exported SID Deleted",
        INVALID_ARGUMENT,
        "VRF red: SID fcbb:0:1:64::/64 does not exist; create it or name an existing SID",
        delete("/srv6/local-sids/sid[prefix=fcbb:0:1:64::/64]"),
    ),
    case(
        "Locator In Use Deleted",
        INVALID_ARGUMENT,
        "SID fcbb:0:1:c8::/64: locator MAIN does not exist; create it or name an existing locator\nSID fcbb:0:1:64::/64: locator MAIN does not exist; create it or name an existing locator",
        delete("/srv6/locators/locator[name=MAIN]"),
    ),
    case(
        "Export Of Another VRFs SID",
        INVALID_ARGUMENT,
        "VRF red: export-sid fcbb:0:1:c8::/64 is End.DT46 of VRF blue; name an End.DT46 SID of VRF red",
        update("/srv6/vrfs/vrf[name=red]", {"srv6mgr-bgp:bgp": {"export-sid": "fcbb:0:1:c8::/64"}}),
    ),
    case(
        "Export Without A BGP Speaker",
        INVALID_ARGUMENT,
        "VRF blue: the VRF exchanges VPN routes but the router has no BGP speaker; add /srv6mgr-srv6:srv6/srv6mgr-bgp:bgp with as-number and router-id\nVRF red: the VRF exchanges VPN routes but the router has no BGP speaker; add /srv6mgr-srv6:srv6/srv6mgr-bgp:bgp with as-number and router-id",
        delete("/srv6/srv6mgr-bgp:bgp"),
    ),
    case(
        "Malformed Route Target",
        INVALID_ARGUMENT,
        "VRF red: a route target is AS:number or IPv4-address:number; write it like 65000:100",
        update("/srv6/vrfs/vrf[name=red]", {"srv6mgr-bgp:bgp": {"import-rt": ["65000"]}}),
    ),
    case(
        "Route Distinguisher Of Another VRF",
        INVALID_ARGUMENT,
        "VRF red: route distinguisher 65000:120 is already that of VRF blue; give it one of its own",
        update("/srv6/vrfs/vrf[name=red]", {"srv6mgr-bgp:bgp": {"rd": "65000:120"}}),
    ),
    case(
        "Reserved AS Number",
        INVALID_ARGUMENT,
        "BGP: AS number 0 is reserved; choose another as-number",
        update("/srv6/srv6mgr-bgp:bgp", {"as-number": 0}),
    ),
    case(
        "Password With A Blank",
        INVALID_ARGUMENT,
        "BGP neighbor 2001:db8::2: a BGP password consists of printable ASCII characters without blanks; choose another",
        update("/srv6/srv6mgr-bgp:bgp/neighbor[address=2001:db8::2]", {"password": "two words"}),
    ),
    case(
        "Password With A Letter That Is Not ASCII",
        INVALID_ARGUMENT,
        "BGP neighbor 2001:db8::2: a BGP password consists of printable ASCII characters without blanks; choose another",
        update("/srv6/srv6mgr-bgp:bgp/neighbor[address=2001:db8::2]", {"password": "gehäim"}),
    ),
    case(
        "Unknown Node",
        NOT_FOUND,
        "VRF red: /srv6mgr-srv6:srv6/vrfs/vrf[name='red']/colour is unknown to the model; correct the name or remove it",
        update("/srv6/vrfs/vrf[name=red]", {"colour": "red"}),
    ),
    case(
        "Unknown Path",
        NOT_FOUND,
        "path /srv6/tunnels/tunnel[name=a]: /srv6 has no node 'tunnels'; see Capabilities for the models served",
        update("/srv6/tunnels/tunnel[name=a]", {"to": "b"}),
    ),
    case(
        "Status Is Not Configuration",
        INVALID_ARGUMENT,
        "path /srv6/vrfs/vrf[name=red]/state: is read-only; update configuration only",
        update("/srv6/vrfs/vrf[name=red]/state", {"repairs": "0"}),
    ),
    case(
        "Number In Quotes",
        INVALID_ARGUMENT,
        "VRF green: table-id '30' is no number; write it without quotes",
        update("/srv6/vrfs/vrf[name=green]", {"table-id": "30"}),
    ),
    case(
        "Several Mistakes At Once",
        INVALID_ARGUMENT,
        "SID fcbb:0:9:1::/64: it is outside locator MAIN (fcbb:0:1::/48); choose a SID in this prefix, or another locator\nVRF red: interface to-ce-red is already in VRF blue; list it in one VRF only",
        update("/srv6/vrfs/vrf[name=blue]", {"interface": ["to-ce-red"]}),
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:9:1::/64]", {"locator": "MAIN", "behavior": "End"}
        ),
    ),
    case(
        "One Mistake Beside Good Lines",
        INVALID_ARGUMENT,
        "VRF blue: SID fcbb:0:1:c8::/64 does not exist; create it or name an existing SID",
        update("/srv6/vrfs/vrf[name=green]", {"table-id": 30}),
        update(
            "/srv6/local-sids/sid[prefix=fcbb:0:1:30::/64]",
            {"locator": "MAIN", "behavior": "End.DT46", "vrf": "green"},
        ),
        delete("/srv6/local-sids/sid[prefix=fcbb:0:1:c8::/64]"),
    ),
)


@pytest.fixture
def router(gnmi: Client, core: Core) -> Client:
    core.judge = judge
    gnmi.set(replace={"/": json.loads(PE1.read_text())})
    return gnmi


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rejected_and_nothing_changed(router: Client, case: Case) -> None:
    before = config(router)
    code, message = failing(router.set, delete=case.deletes, update=dict(case.updates))
    assert (code.name, message) == (case.status, case.message)
    assert config(router) == before


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_tag_and_path_are_those_of_netconf(gnmi: Client, core: Core, mistake: Mistake) -> None:
    """See ``netconf/test_errors.py``."""
    core.judge = judge
    gnmi.set(update={"/srv6": SRV6})
    with pytest.raises(grpc.RpcError) as raised:
        gnmi.set(update={"/srv6": mistake.config})
    error: Any = raised.value
    assert error.details() == mistake.message
    assert violations(error) == [(mistake.path, mistake.message, mistake.app_tag)]


def test_each_rejection_has_its_path(gnmi: Client, core: Core) -> None:
    core.judge = judge
    gnmi.set(update={"/srv6": SRV6})
    outside = [f"fcbb:0:9:{n}::/64" for n in range(1, 200)]
    sids = [{"prefix": prefix, "locator": "main", "behavior": "End"} for prefix in outside]
    with pytest.raises(grpc.RpcError) as raised:
        gnmi.set(update={"/srv6/local-sids": {"sid": sids[:3]}})
    paths = [path for path, _, _ in violations(raised.value)]
    assert paths == [f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{p}']" for p in outside[:3]]
    # As many as there is room for beside the text, which is cut itself.
    with pytest.raises(grpc.RpcError) as raised:
        gnmi.set(update={"/srv6/local-sids": {"sid": sids}})
    assert "characters more" in raised.value.details()  # type: ignore[attr-defined]
