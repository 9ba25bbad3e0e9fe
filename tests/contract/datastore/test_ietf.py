"""The IETF view through sysrepo, with stand-ins for the IETF's modules."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.datastore.ietf import PATH, IetfSubscription
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.desired import Sid
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.gnmi.client import Core

STAND_IN = Path(__file__).parent / "stand-in"
MODULES = ("ietf-routing", "ietf-segment-routing", "ietf-srv6-types", "ietf-srv6-base")
DT46, UN, PSP = "fcbb:0:1:64::/64", "fcbb:0:1::/48", "fcbb:0:1:2::/64"
PREFIXED = f"{PATH}/sid[sid='{{}}']"


def declared(prefix: str, behavior: Behavior, **more: Any) -> Sid:
    return Sid(IPv6Network(prefix), more.pop("locator", "MAIN"), behavior, **more)


SIDS = [
    declared(DT46, Behavior.END_DT46, vrf="red"),
    declared(UN, Behavior.END, flavors=frozenset({Flavor.NEXT_CSID}), counters=False),
    declared(PSP, Behavior.END, flavors=frozenset({Flavor.PSP}), locator="n" * 64),
    declared("fcbb:0:1:3::/64", Behavior.END),
]
STATUSES = {
    DT46: ObjectStatus(InstallStatus.INSTALLED),
    UN: ObjectStatus(InstallStatus.PENDING, "wait"),
    PSP: ObjectStatus(InstallStatus.INSTALLED),
}


def sysrepoctl(*arguments: str) -> None:
    subprocess.run(["sysrepoctl", *arguments], check=True, capture_output=True, text=True)


def read(xpath: str = PATH) -> list[dict[str, Any]]:
    """The entries that sysrepo shows of the operational datastore."""
    out = subprocess.run(
        ["sysrepocfg", "-X", "-d", "operational", "-f", "json", "-x", xpath],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = json.loads(out)
    for member in ("ietf-routing:routing", "ietf-segment-routing:segment-routing",
                   "ietf-srv6-base:srv6", "sids"):  # fmt: skip
        found = found.get(member, {})
    entries: list[dict[str, Any]] = found.get("sid", [])
    return entries


@pytest.fixture(scope="module")
def router(core: Core, place: Path) -> Core:
    core.report({ObjectRef(Kind.SID, prefix): status for prefix, status in STATUSES.items()})
    core.count({DT46: SidCounters(7, 700, 1, 1), UN: SidCounters(9, 900, 0, 1)})
    return core


@pytest.fixture(scope="module")
def view(router: Core, place: Path) -> Iterator[IetfSubscription]:
    sysrepoctl("--search-dirs", str(STAND_IN), *(
        word for m in MODULES for word in ("--install", str(next(STAND_IN.glob(f"{m}@*"))))
    ))  # fmt: skip
    view = IetfSubscription(place / "store", lambda: {sid.prefix: sid for sid in SIDS})
    assert view.start()
    yield view
    view.close()
    for module in reversed(MODULES):
        sysrepoctl("--uninstall", module)


def test_without_the_modules_there_is_no_view_and_no_error(router: Core, place: Path) -> None:
    view = IetfSubscription(place / "store", dict)
    assert view.start() is False
    view.close()


def test_a_sid_as_the_draft_shows_it(view: IetfSubscription) -> None:
    by_sid = {entry["sid"]: entry for entry in read()}
    assert by_sid[DT46] == {
        "sid": DT46,
        "behavior": "ietf-srv6-types:End.DT46",
        "locator": "MAIN",
        "allocation": {
            "alloc-type": "Explicit",
            "owner": [{"type": "ietf-srv6-types:static", "instance": "srv6mgr", "is-winner": True}],
        },
        "forwarding": {"is-installed": True},
        "counters": {"success": {"in-pkts": "7", "in-octets": "700"}},
    }
    # Without a status, nothing is known of it.
    assert set(by_sid) == set(STATUSES)


def test_what_is_not_installed_and_does_not_count(view: IetfSubscription) -> None:
    (entry,) = read(PREFIXED.format(UN))
    assert entry["behavior"] == "ietf-srv6-types:END.NEXT-CSID"
    assert entry["forwarding"] == {"is-installed": False}
    assert entry["allocation"]["owner"][0]["is-winner"] is False
    assert "counters" not in entry


def test_what_the_modules_do_not_know_is_left_out(view: IetfSubscription) -> None:
    (entry,) = read(PREFIXED.format(PSP))
    assert "behavior" not in entry
    assert "locator" not in entry
    assert entry["forwarding"] == {"is-installed": True}


def test_one_leaf_of_one_sid(view: IetfSubscription) -> None:
    leaf = PREFIXED.format(DT46) + "/counters/success/in-pkts"
    assert read(leaf) == [{"sid": DT46, "counters": {"success": {"in-pkts": "7"}}}]


def test_a_commit_is_not_held_up(view: IetfSubscription, router: Core) -> None:
    """State follows at once; nothing is cached."""
    ref = ObjectRef(Kind.SID, UN)
    router.store.set_statuses(
        {**router.store.statuses(), ref: ObjectStatus(InstallStatus.INSTALLED)}
    )
    begin = time.monotonic()
    (entry,) = read(PREFIXED.format(UN))
    assert time.monotonic() - begin < 2
    assert entry["forwarding"] == {"is-installed": True}
    router.store.set_statuses({**router.store.statuses(), ref: STATUSES[UN]})
