"""``show routes``: routes of VRFs, with the remote SIDs to which they lead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from ipaddress import ip_address, ip_network
from typing import Any, NamedTuple

import click

from srv6mgrd.cli import vrf_routes
from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show.table import Field, Table, asked, listed
from srv6mgrd.cli.vrf_routes import VrfRoute
from srv6mgrd.model.reserved import ROUTE_PROTOCOL

# linux/rtnetlink.h, zebra/rt_netlink.h
_PROTOCOLS = {
    2: "kernel", 3: "boot", 4: "static", ROUTE_PROTOCOL: "srv6mgr", 186: "bgp", 187: "isis",
    188: "ospf", 196: "static",
}  # fmt: skip
_UNICAST = 1
_KINDS = {2: "local", 3: "broadcast", 6: "blackhole", 7: "unreachable", 8: "prohibit"}
_STYLES = {"installed": "good", "down": "bad", "unreachable": "bad", "drops": "dim"}


class Row(NamedTuple):
    """``state`` is installed, down (its interfaces are), unreachable (no route to the remote SID),
    or drops; ``reason`` says more."""

    route: VrfRoute
    state: str
    reason: str

    @property
    def is_remote(self) -> bool:
        return bool(self.route.sids)


def rows_of(routes: Sequence[VrfRoute]) -> list[Row]:
    """Each with its state. Raises Problem."""
    lost = vrf_routes.unreachable(sid for route in routes for sid in route.sids)
    return [Row(route, *_judged(route, lost)) for route in routes]


def _judged(route: VrfRoute, lost: dict[Any, str]) -> tuple[str, str]:
    if route.kind in _KINDS:
        return ("installed" if route.kind in (2, 3) else "drops"), ""
    gone = [sid for sid in route.sids if sid in lost]
    if route.sids and len(gone) == len(route.sids):
        return "unreachable", f"SID {gone[0]}, {lost[gone[0]]}"
    if route.paths and not any(path.is_up for path in route.paths):
        devices = " ".join(dict.fromkeys(path.device for path in route.paths))
        return "down", f"{devices} is down or has no carrier"
    return "installed", f"SID {gone[0]}, {lost[gone[0]]}" if gone else ""


def _protocol(row: Row) -> str:
    return _PROTOCOLS.get(row.route.protocol, str(row.route.protocol))


def _segments(row: Row) -> str:
    """Of each path; those of one are separated by commas."""
    paths = dict.fromkeys(",".join(map(str, path.segments)) for path in row.route.paths)
    return " ".join(filter(None, paths)) or "-"


def _next_hops(row: Row) -> str:
    hops = (f"{path.next_hop or 'dev'} {path.device}".strip() for path in row.route.paths)
    return ", ".join(dict.fromkeys(hops)) or _KINDS.get(row.route.kind, "-")


def _family(row: Row) -> str:
    return f"ipv{row.route.prefix.version}"


def _json(row: Row) -> dict[str, Any]:
    reported: dict[str, Any] = {
        "vrf": row.route.vrf,
        "prefix": str(row.route.prefix),
        "family": _family(row),
        "protocol": _protocol(row),
        "metric": row.route.metric,
        "type": _KINDS.get(row.route.kind, "unicast"),
        "paths": [
            {
                "segments": [str(sid) for sid in path.segments],
                "next-hop": str(path.next_hop) if path.next_hop is not None else None,
                "interface": path.device,
                "up": path.is_up,
            }
            for path in row.route.paths
        ],
        "state": row.state,
    }
    return reported | ({"reason": row.reason} if row.reason else {})


def _find(wanted: str, prefixes: Sequence[str]) -> str:
    """A prefix, or the longest that covers an address."""
    try:
        if "/" in wanted:
            return str(ip_network(wanted, strict=False))
        address = ip_address(wanted)
    except ValueError:
        cause = "it is no prefix or address"
        raise Problem.of(wanted, cause, "see srv6ctl show routes", Exit.USAGE) from None
    covering = [one for one in map(ip_network, set(prefixes)) if address in one]
    if not covering:
        raise Problem.of(wanted, "no route leads there", "see srv6ctl show routes --all")
    return str(max(covering, key=lambda one: one.prefixlen))


ROUTES: Table[Row] = Table(
    "routes",
    (
        Field("VRF", lambda r: Cell(r.route.vrf, "name")),
        Field("PREFIX", lambda r: str(r.route.prefix),
              key=lambda r: (r.route.prefix.version, r.route.prefix)),
        Field("PROTOCOL", _protocol),
        Field("REMOTE SID", _segments, optional=True),
        Field("NEXT HOP", _next_hops),
        Field("STATE", lambda r: Cell(r.state, _STYLES[r.state])),
        Field("REASON", lambda r: r.reason, optional=True),
    ),
    _json,
    none="no route of a VRF leads to a remote SID; --all shows the others",
    name=lambda r: str(r.route.prefix),
    filters={
        "vrf": lambda r: r.route.vrf,
        "family": _family,
        "protocol": _protocol,
        "sid": _segments,
        "status": lambda r: r.state,
    },
    find=_find,
)  # fmt: skip


@listed(ROUTES)
@click.option("--all", "everything", is_flag=True, help="Include routes without a remote SID.")
def routes(session: Session, everything: bool) -> Iterable[Row]:
    """Remote prefixes of VRFs: their SIDs, next hops and state.

    All routes of the kernel, regardless of their origin. PATTERN is a prefix, an address (the
    longest matching prefix), or has wildcards.
    """
    patterns = asked("vrf")
    tables = {
        name: table
        for name, table in vrf_routes.vrfs().items()
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    found = rows_of(vrf_routes.read(tables))
    return found if everything else [row for row in found if row.is_remote]
