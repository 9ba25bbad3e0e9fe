"""IS-IS of the underlay: isisd's lines, and whether it advertises the locator (RFC 9352).

isisd takes the locator from zebra, so it advertises the one that bgpd composes SIDs of.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from typing import Any

from srv6mgrd.frr.blocks import ISISD, block
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.checks import SID_DEVICE
from srv6mgrd.model.desired import Desired, Isis, IsisInterface
from srv6mgrd.plan.objects import FrrBlock

# Name of our instance; others on the router are the operator's.
TAG = "srv6mgr"
# What isisd does when no metric is given, and does not print.
_METRIC = 10
_LEVELS = {"level-1": ["is-type level-1"], "level-2": ["is-type level-2-only"], "level-1-2": []}


def blocks(isis: Isis) -> list[FrrBlock]:
    """isisd's part, in exactly the lines that FRR 10.3 prints it with."""
    root = f"router isis {TAG}"
    net = f"net {isis.area}.{isis.system_id}.00"
    # The End SID of the locator that isisd advertises hangs on our device, not on a ``sr0``.
    srv6 = [f"locator {isis.locator}", f"interface {SID_DEVICE}"]
    return [
        *(block(ISISD, (f"interface {i.name}",), _interface(i)) for i in isis.interfaces),
        block(ISISD, (root,), [*_LEVELS[isis.level], net]),
        block(ISISD, (root, "segment-routing srv6"), srv6),
    ]


def _interface(interface: IsisInterface) -> list[str]:
    lines = [f"ipv6 router isis {TAG}"]
    if interface.metric not in (None, _METRIC):
        lines.append(f"isis metric {interface.metric}")
    if interface.point_to_point:
        lines.append("isis network point-to-point")
    if interface.passive:
        lines.append("isis passive")
    return lines


def unadvertised(desired: Desired, frr: Shows) -> str:
    """Why the locator reaches no other router, in plain words; empty when it does."""
    isis = desired.isis
    if isis is None:
        return ""
    own = f"{isis.system_id}.00-00"
    try:
        database = _json(frr, f"show isis database detail {own} json")
        neighbors = _json(frr, "show isis neighbor json")
    except VtyError as error:
        return str(error)
    if not _advertises(database, str(desired.locators[isis.locator].prefix)):
        return f"isisd does not advertise locator {isis.locator} yet; see that zebra has it"
    met = _met(neighbors)
    silent = [i.name for i in isis.interfaces if not i.passive and i.name not in met]
    return f"no IS-IS neighbor at {', '.join(silent)}" if silent else ""


def _advertises(database: Mapping[str, Any], prefix: str) -> bool:
    """Whether one of our link state PDUs carries the SRv6 locator."""
    lsps = (
        lsp
        for area in database.get("areas", ())
        if area.get("area", {}).get("name") == TAG
        for level in area.get("levels", ())
        for lsp in level.get("lsps", ())
    )
    return any(lsp.get("srv6Locator", {}).get("prefix") == prefix for lsp in lsps)


def _met(neighbors: Mapping[str, Any]) -> set[str]:
    """Interfaces with a neighbor that is up."""
    return {
        circuit["interface"]
        for area in neighbors.get("areas", ())
        if area.get("area") == TAG
        for circuit in area.get("circuits", ())
        if circuit.get("state") == "Up"
    }


def _json(frr: Shows, command: str) -> dict[str, Any]:
    try:
        found = json.loads(frr.show(ISISD, command).strip() or "{}")
    except json.JSONDecodeError as error:
        # isisd has words instead for what it has not.
        raise VtyError(errno.EPROTO, f"isisd gave no JSON for '{command}' ({error})") from error
    return found if isinstance(found, dict) else {}
