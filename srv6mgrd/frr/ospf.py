"""OSPF of VRFs: lines of ospfd and ospf6d, and whether neighbors are there.

Route maps are those of one daemon: a policy that OSPF applies is in its daemon, too, as far as
it is about its family.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from srv6mgrd.frr import policies
from srv6mgrd.frr.blocks import OSPF6D, OSPFD, block
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.ospf import DefaultInformation, Ospf, OspfInterface, OspfKey
from srv6mgrd.model.status import Kind, ObjectRef

Verdict = tuple[bool, str]

_DAEMONS = {2: OSPFD, 3: OSPF6D}
# ospfd and ospf6d, each with the words that its commands begin with.
_INTERFACE = {2: "ip ospf", 3: "ipv6 ospf6"}
_INSTANCE = {2: "ospf", 3: "ospf6"}


def blocks(desired: Desired) -> list[FrrBlock]:
    """In exactly the lines that FRR 10.3 prints."""
    found: list[FrrBlock] = []
    for version, instances in ((2, desired.ospf), (3, desired.ospfv3)):
        if instances:
            found += _policies(desired, version, instances.values())
        for _, ospf in sorted(instances.items()):
            found += _instance(ospf)
    return found


def _policies(desired: Desired, version: int, instances: Iterable[Ospf]) -> list[FrrBlock]:
    routing = desired.routing_policy
    used = {name for ospf in instances for name in ospf.policies}
    applied = {name: p for name, p in routing.policies.items() if name in used}
    family = 4 if version == 2 else 6
    of_daemon = replace(
        routing,
        policies=applied,
        prefix_sets={
            name: tuple(r for r in ranges if r.prefix.version == family)
            for name, ranges in routing.prefix_sets.items()
        },
    )
    return [replace(b, daemon=_DAEMONS[version]) for b in policies.blocks(of_daemon, 0)]


def _instance(ospf: Ospf) -> Iterator[FrrBlock]:
    daemon, words = _DAEMONS[ospf.version], _INSTANCE[ospf.version]
    serves = (ref(ospf),)
    for interface in ospf.interfaces:
        context = (f"interface {interface.name}",)
        yield block(daemon, context, _interface(ospf, interface), serves)
    lines = [f"{words} router-id {ospf.router_id}"]
    if ospf.default_information is not None:
        lines.append(_default_information(ospf.default_information))
    for source, policy in ospf.redistribute:
        filtered = f" route-map {policies.name_in_frr(policy)}" if policy is not None else ""
        lines.append(f"redistribute {source}{filtered}")
    yield block(daemon, (f"router {words} vrf {ospf.vrf}",), lines, serves)


def _default_information(default: DefaultInformation) -> str:
    """Without ``always`` FRR waits for a default route, which the unreachable one of the VRF is."""
    words = ["default-information originate always"]
    words += [f"metric {default.metric}"] if default.metric is not None else []
    words += ["metric-type 1"] if default.type_1 else []
    return " ".join(words)


def _interface(ospf: Ospf, interface: OspfInterface) -> list[str]:
    words = _INTERFACE[ospf.version]
    lines = [f"{words} area {interface.area}"]
    if interface.cost is not None:
        lines.append(f"{words} cost {interface.cost}")
    if interface.point_to_point:
        lines.append(f"{words} network point-to-point")
    if interface.passive:
        lines.append(f"{words} passive")
    if interface.bfd:
        lines.append(f"{words} bfd")
    if interface.authentication is not None:
        lines += _authentication(ospf.version, interface.authentication)
    return lines


def _authentication(version: int, key: OspfKey) -> list[str]:
    if version == 2:
        of_key = f"ip ospf message-digest-key {key.id} {key.algorithm} {key.password}"
        return ["ip ospf authentication message-digest", of_key]
    return [
        f"ipv6 ospf6 authentication key-id {key.id} hash-algo {key.algorithm} key {key.password}"
    ]


def ref(ospf: Ospf) -> ObjectRef:
    return ObjectRef(Kind.OSPF if ospf.version == 2 else Kind.OSPFV3, ospf.vrf)


def status(desired: Desired, frr: Shows) -> dict[ObjectRef, Verdict]:
    """Of each instance whether its interfaces have neighbors."""
    found = {}
    for ospf in (*desired.ospf.values(), *desired.ospfv3.values()):
        try:
            met = _met(ospf, frr)
        except VtyError as error:
            found[ref(ospf)] = (False, str(error))
            continue
        silent = [i.name for i in ospf.interfaces if not i.passive and i.name not in met]
        protocol = "OSPF" if ospf.version == 2 else "OSPFv3"
        found[ref(ospf)] = (
            not silent,
            f"no {protocol} neighbor at {', '.join(silent)}" * bool(silent),
        )
    return found


def _met(ospf: Ospf, frr: Shows) -> set[str]:
    """Interfaces with a neighbor whose database is ours."""
    return {one.interface for one in neighbors(ospf, frr) if one.state == "Full"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A neighbor as its daemon shows it; ``since`` has how long it is in this state."""

    interface: str
    router_id: str
    state: str
    address: str | None
    since: Mapping[str, Any]


def neighbors(ospf: Ospf, frr: Shows) -> Iterator[Shown]:
    """Of an instance. Raises VtyError."""
    if ospf.version == 2:
        shown = _neighbors_shown(frr, OSPFD, f"show ip ospf vrf {ospf.vrf} neighbor json")
        for router_id, listed in shown.get(ospf.vrf, {}).get("neighbors", {}).items():
            for entry in listed:
                # The name has the address of the interface behind it.
                interface = entry["ifaceName"].split(":")[0]
                # The role of the neighbor follows the state.
                state = str(entry.get("converged") or entry.get("nbrState", "")).split("/")[0]
                yield Shown(interface, router_id, state, entry.get("ifaceAddress"), entry)
        return
    shown = _neighbors_shown(frr, OSPF6D, f"show ipv6 ospf6 vrf {ospf.vrf} neighbor json")
    for entry in shown.get("neighbors", []):
        router_id = str(entry.get("neighborId", ""))
        yield Shown(entry["interfaceName"], router_id, entry.get("state", ""), None, entry)


def _neighbors_shown(frr: Shows, daemon: str, command: str) -> dict[str, Any]:
    try:
        return show_json(frr, daemon, command)
    except VtyError as error:
        if error.errno != errno.EPROTO:
            raise
        return {}  # words instead, while there is no such instance
