"""Whether IS-IS carries the locator to other routers (RFC 9352), and what it lacks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from srv6mgrd.frr.blocks import BFDD, ISISD
from srv6mgrd.frr.isis import TAG
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.isis import Isis
from srv6mgrd.model.status import Kind, ObjectRef

# Whether the locator reaches other routers, and why not; beside one that does what is amiss.
Verdict = tuple[bool, str]


def status(desired: Desired, frr: Shows) -> dict[ObjectRef, Verdict]:
    """Of each locator that is advertised."""
    isis = desired.isis
    if isis is None:
        return {}
    names = (isis.locator, *isis.additional_locators)
    refs = {name: ObjectRef(Kind.LOCATOR, name) for name in names}
    try:
        lsps = list(_own(isis, frr))
        silent = _silent(isis, frr)
    except VtyError as error:
        return {ref: (False, str(error)) for ref in refs.values()}
    flooded = (True, "; ".join([*_overloaded(lsps), *_unwatched(isis, frr)]))
    if silent:
        flooded = (False, f"no IS-IS neighbor at {', '.join(silent)}")
    found: dict[ObjectRef, Verdict] = {}
    for name, ref in refs.items():
        prefix = str(desired.locators[name].prefix)
        missing = f"isisd does not advertise locator {name} yet; see that zebra has"
        if name == isis.locator and not _advertises(lsps, prefix):
            found[ref] = False, f"{missing} it"
        elif name != isis.locator and not _reaches(lsps, prefix):
            found[ref] = False, f"{missing} a static route to {prefix}"
        else:
            found[ref] = flooded
    return found


def _own(isis: Isis, frr: Shows) -> Iterator[Mapping[str, Any]]:
    """Our link state PDUs, of each level."""
    # One that is full goes on in the next fragment.
    for fragment in range(256):
        own = f"{isis.system_id}.00-{fragment:02x}"
        database = show_json(frr, ISISD, f"show isis database detail {own} json")
        found = [
            lsp
            for area in database.get("areas", ())
            if area.get("area", {}).get("name") == TAG
            for level in area.get("levels", ())
            for lsp in level.get("lsps", ())
        ]
        yield from found
        if not found or not isis.additional_locators:
            return


def _advertises(lsps: Iterable[Mapping[str, Any]], prefix: str) -> bool:
    """Whether one of them carries the SRv6 locator."""
    return any(lsp.get("srv6Locator", {}).get("prefix") == prefix for lsp in lsps)


def _reaches(lsps: Iterable[Mapping[str, Any]], prefix: str) -> bool:
    """Whether one of them carries the prefix."""
    return any(prefix == r.get("prefix") for lsp in lsps for r in lsp.get("ipv6Reach", ()))


def _overloaded(lsps: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    if any(lsp.get("attPOl", "").endswith("/1") for lsp in lsps):
        yield "other routers send nothing through this one, which has the overload bit"


def circuits(frr: Shows) -> Iterator[Mapping[str, Any]]:
    """Interfaces of the instance, each with a neighbor if there is one. Raises VtyError."""
    for area in show_json(frr, ISISD, "show isis neighbor json").get("areas", ()):
        if area.get("area") == TAG:
            yield from area.get("circuits", ())


def _silent(isis: Isis, frr: Shows) -> list[str]:
    """Interfaces that have no neighbor and should have one."""
    met = {circuit["interface"] for circuit in circuits(frr) if circuit.get("state") == "Up"}
    return [i.name for i in isis.interfaces if not i.passive and i.name not in met]


def _unwatched(isis: Isis, frr: Shows) -> Iterator[str]:
    """Why BFD watches no neighbor; isisd goes on without it."""
    watched = [i.name for i in isis.interfaces if i.bfd]
    if not watched:
        return
    try:
        peers = json.loads(frr.show(BFDD, "show bfd peers json").strip() or "[]")
    except (VtyError, ValueError):
        yield "no neighbor is watched by BFD, since bfdd does not run"
        return
    for name in watched:
        states = {p.get("status") for p in peers if p.get("interface") == name}
        if "up" not in states:
            state = min(filter(None, states), default="not there yet")
            yield f"the neighbor at {name} is not watched: its BFD session is {state}"
