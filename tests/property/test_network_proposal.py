"""A change that is compiled alone gives the same as compiling everything."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srv6mgrd.model.rejection import RejectedError
from srv6net import proposal
from srv6net.intent.inventory import Inventory, inventory
from srv6net.intent.l3nm import ROOT
from srv6net.proposal import Proposal, propose
from srv6net.transaction.record import Revision
from tests.unit.srv6net.intents import COMMON, access, document, node, router, service

ROUTERS = ("pe1", "pe2", "pe3")
# Some are no name of a device, so that their VRF gets a number.
NAMES = ("red", "blue", "a name that is long", "green", "lo")
# One that several services want now and then.
SHARED = "to-all"
NUMBERS = st.integers(10_000, 10_004)


def rarely(draw: st.DrawFn) -> bool:
    return draw(st.integers(0, 4)) == 4


@st.composite
def profiles(draw: st.DrawFn, role: str) -> dict[str, Any]:
    made: dict[str, Any] = {"profile-id": "p", "role": f"{COMMON}{role}"}
    if draw(st.booleans()):
        target = {"id": 1, "route-targets": [{"route-target": f"0:65000:{draw(NUMBERS)}"}]}
        family = {"address-family": f"{COMMON}dual-stack", "vpn-targets": {"vpn-target": [target]}}
        made["address-family"] = [family]
    return made


@st.composite
def nodes(draw: st.DrawFn, name: str, where: str, *, has_profile: bool) -> dict[str, Any]:
    interface = draw(st.sampled_from([SHARED, *[f"to-{NAMES.index(name)}"] * 2]))
    more: dict[str, Any] = {}
    if draw(st.booleans()):
        local = {"local-address": f"10.0.{draw(st.integers(0, 2))}.1", "prefix-length": 24}
        more["ip-connection"] = {"ipv4": local}
    some = [] if rarely(draw) else [access(name, interface, **more)]
    made = node(where, *some, profile="p" if has_profile and draw(st.booleans()) else "")
    if "active-vpn-instance-profiles" in made and rarely(draw):
        (chosen,) = made["active-vpn-instance-profiles"]["vpn-instance-profile"]
        chosen["rd"] = f"1:192.0.2.{draw(st.integers(1, 3))}:{draw(st.integers(1, 4))}"
    return made


@st.composite
def services_of(draw: st.DrawFn, name: str) -> dict[str, Any]:
    is_hub, has_profile = rarely(draw), draw(st.booleans())
    where = draw(st.lists(st.sampled_from(ROUTERS), unique=True, min_size=1, max_size=3))
    made = [draw(nodes(name, one, has_profile=has_profile)) for one in where]
    more: dict[str, Any] = {}
    if has_profile:
        profile = draw(profiles("hub-role" if is_hub else "any-to-any-role"))
        more["vpn-instance-profiles"] = {"vpn-instance-profile": [profile]}
    if is_hub:
        more["vpn-service-topology"] = f"{COMMON}hub-spoke"
    return service(name, *made, **more)


def listed(found: dict[str, Any]) -> list[Any]:
    entries: list[Any] = found[ROOT]["vpn-services"]["vpn-service"]
    return entries


@st.composite
def edited(draw: st.DrawFn, before: dict[str, Any]) -> dict[str, Any]:
    """The document with one or two services made, changed or removed."""
    after = copy.deepcopy(before)
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=0, max_size=2)):
        kept = [one for one in listed(after) if one["vpn-id"] != name]
        if draw(st.integers(0, 3)):
            kept.insert(draw(st.integers(0, len(kept))), draw(services_of(name)))
        listed(after)[:] = kept
    if rarely(draw) and rarely(draw) and listed(after):
        listed(after).append(copy.deepcopy(listed(after)[0]))
    return after


def inventories() -> list[Inventory]:
    """``function-length`` 3 has no more than seven functions, and one range of targets is short."""
    locator = {"name": "MAIN", "prefix": "fcbb:0:1::/48", "function-length": 3}
    plain = {f"pe{n}": router(n) for n in (1, 2, 3)}
    small = {**plain, "pe1": router(1, locator=locator)}
    few = {"as-number": 65000, "routers": small, "route-targets": [10_000, 10_003]}
    return [inventory({"as-number": 65000, "routers": plain}), inventory(few)]


INVENTORIES = inventories()


def outcome(*values: Any) -> Proposal | list[Any]:
    try:
        return propose(*values)
    except RejectedError as error:
        return list(error.rejections)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_a_change_gives_the_same_as_everything(data: st.DataObject) -> None:
    current, now, wanted = Revision(), 0.0, document()
    for _ in range(data.draw(st.integers(1, 6), "changes")):
        known = data.draw(st.sampled_from(INVENTORIES), "inventory")
        wanted = data.draw(edited(wanted), "document")
        # Sometimes beyond the quarantine of a day.
        now += data.draw(st.sampled_from([1.0, 50_000.0, 90_000.0]), "seconds")
        found = outcome(wanted, known, current, now)
        assert found == outcome(wanted, known, replace(current, inventory=""), now)
        if isinstance(found, Proposal):
            current = found.revision
        else:
            wanted = dict(current.intent) or document()


def test_a_change_does_not_compile_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def site(name: str, where: str) -> dict[str, Any]:
        return service(name, node(where, access(name, f"to-{name}")))

    first = propose(
        document(site("red", "pe1"), site("blue", "pe2")), INVENTORIES[0], Revision(), 1
    )
    monkeypatch.setattr(proposal, "_of_all", lambda *_: pytest.fail("everything was compiled"))
    after = document(site("red", "pe1"), site("blue", "pe3"))
    second = propose(after, INVENTORIES[0], first.revision, 2)
    assert sorted(second.changes) == ["pe2", "pe3"]
    assert second.revision.routers["pe1"] is first.revision.routers["pe1"]
