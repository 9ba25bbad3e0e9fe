"""``show neighbors``: BGP, OSPF and IS-IS neighbors, with the state of each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.cli.units import ago, ns_of
from srv6mgrd.model import bgp as model
from srv6mgrd.model.bgp import PeerKind
from srv6mgrd.model.desired import Desired

_BGP, _ISIS = "srv6mgr-bgp:bgp", "srv6mgr-isis:isis"
_OSPF = {"OSPF": "srv6mgr-ospf:ospf", "OSPFv3": "srv6mgr-ospf:ospfv3"}
_DEFAULT = "default"
_GOOD = ("established", "full", "up")
_UNKNOWN = "unknown"

State = Mapping[str, Any]


class Neighbor(NamedTuple):
    """A session or adjacency; ``state`` is its container of that name."""

    vrf: str
    protocol: str
    neighbor: str
    interface: str
    remote_as: int
    state: State

    @property
    def state_cell(self) -> Cell:
        name = _name(self.state)
        return Cell(name, "good" if name in _GOOD else "dim" if name == _UNKNOWN else "warn")

    @property
    def reason(self) -> str:
        """Why it is down; what ended a session before it came up again is in the JSON."""
        is_good = _name(self.state) in _GOOD
        return "" if is_good else str(self.state.get("last-reset-reason", ""))


def neighbors_of(desired: Desired, observed: State) -> Iterator[Neighbor]:
    speaker = desired.bgp.neighbors if desired.bgp is not None else ()
    yield from _sessions(_DEFAULT, speaker, observed.get(_BGP, {}))
    yield from _circuits(observed.get(_ISIS, {}))
    seen = {entry["name"]: entry for entry in observed.get("vrfs", {}).get("vrf", ())}
    for name, vrf in sorted(desired.vrfs.items()):
        entry: State = seen.get(name, {})
        if vrf.bgp is not None:
            yield from _sessions(name, vrf.bgp.neighbors, entry.get(_BGP, {}))
        for protocol, member in _OSPF.items():
            for interface in entry.get(member, {}).get("interface", ()):
                for one in interface["neighbor"]:
                    at = interface["name"]
                    yield Neighbor(name, protocol, f"{one['router-id']} at {at}", at, 0, one)


def _sessions(vrf: str, declared: tuple[model.Neighbor, ...], seen: State) -> Iterator[Neighbor]:
    for neighbor in declared:
        listed = seen.get(neighbor.kind.value, ())
        entry: State = next((e for e in listed if e[neighbor.kind.key] == neighbor.address), {})
        if neighbor.kind is PeerKind.DYNAMIC:
            for one in entry.get("dynamic-neighbor", ()):
                yield Neighbor(
                    vrf, "BGP", one["address"], "", one.get("remote-as", 0), one["state"]
                )
            continue
        at = neighbor.address if neighbor.kind is PeerKind.UNNUMBERED else ""
        state = entry.get("state", {})
        yield Neighbor(vrf, "BGP", neighbor.address, at, neighbor.remote_as, state)


def _circuits(seen: State) -> Iterator[Neighbor]:
    for interface in seen.get("interface", ()):
        for one in interface["adjacency"]:
            at = interface["name"]
            yield Neighbor(_DEFAULT, "IS-IS", f"{one['neighbor']} at {at}", at, 0, one)


def _name(state: State) -> str:
    return str(state.get("session-state") or state.get("state") or _UNKNOWN)


def _prefixes(state: State, what: str) -> str:
    """Of each family: ``ipv4 3, ipv6 1``; of the only one, its number."""
    families = {e["name"]: e["prefixes"][what] for e in state.get("afi-safi", ())}
    if len(families) == 1:
        return str(*families.values())
    return " ".join(f"{name.removesuffix('-unicast')}:{n}" for name, n in families.items()) or "-"


def neighbor_json(row: Neighbor) -> dict[str, Any]:
    reported = {
        "vrf": row.vrf,
        "protocol": row.protocol,
        "neighbor": row.neighbor.partition(" at ")[0],
        "interface": row.interface or None,
        "remote-as": row.remote_as or None,
        "state": _name(row.state),
    }
    left = ("address", "remote-as", "router-id", "neighbor", "level", "session-state", "state")
    reported |= {name: value for name, value in row.state.items() if name not in left}
    return {name: value for name, value in reported.items() if value is not None}


def _changed(row: Neighbor) -> int:
    """When it came to its state; 0 where that is not known."""
    return ns_of(row.state["last-change"]) if "last-change" in row.state else 0


def _count(row: Neighbor, what: str) -> int:
    return sum(int(family["prefixes"][what]) for family in row.state.get("afi-safi", ()))


NEIGHBORS: Table[Neighbor] = Table(
    "neighbors",
    (
        Field("VRF", lambda r: Cell(r.vrf, "name")),
        Field("PROTOCOL", lambda r: r.protocol),
        Field("NEIGHBOR", lambda r: r.neighbor),
        Field("AS", lambda r: str(r.remote_as or "-"), right=True, key=lambda r: r.remote_as),
        Field("STATE", lambda r: r.state_cell),
        Field("SINCE", lambda r: ago(at, time.time_ns()) if (at := _changed(r)) else "-",
              right=True, key=lambda r: -_changed(r)),
        Field("ACCEPTED", lambda r: _prefixes(r.state, "accepted"), right=True,
              key=lambda r: _count(r, "accepted")),
        Field("ADVERTISED", lambda r: _prefixes(r.state, "advertised"), right=True,
              key=lambda r: _count(r, "advertised")),
        Field("BFD", lambda r: r.state.get("bfd-state", "-")),
        Field("REASON", lambda r: r.reason, optional=True),
    ),
    neighbor_json,
    none="no neighbor is declared or seen",
    name=lambda r: r.neighbor.partition(" at ")[0],
    filters={
        "vrf": lambda r: r.vrf,
        "protocol": lambda r: r.protocol.lower(),
        "status": lambda r: _name(r.state),
    },
)  # fmt: skip


@listed(NEIGHBORS)
def neighbors(session: Session) -> Iterable[Neighbor]:
    """BGP sessions and adjacencies of OSPF and IS-IS."""
    return neighbors_of(session.desired(), session.state.observed())


@listed(NEIGHBORS)
def bgp(session: Session) -> Iterable[Neighbor]:
    """BGP sessions of the router and of all VRFs: neighbors --protocol bgp."""
    found = neighbors_of(session.desired(), session.state.observed())
    return (row for row in found if row.protocol == "BGP")
