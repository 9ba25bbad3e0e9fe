"""``show static-routes``: the static routes of VRFs, with status."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.static_routes import NextHop, StaticRoute
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


class _Row(NamedTuple):
    route: StaticRoute
    status: ObjectStatus


def _text(hop: NextHop) -> str:
    """``10.1.0.10 eth1 bfd``, and the preference unless it is FRR's own."""
    parts = [hop.special.value] if hop.special is not None else []
    parts += [str(hop.address)] if hop.address is not None else []
    parts += [hop.interface] if hop.interface is not None else []
    parts += ["bfd"] if hop.bfd else []
    parts += [f"[{hop.preference}]"] if hop.preference != 1 else []
    return " ".join(parts)


def _route_json(route: StaticRoute) -> dict[str, Any]:
    reported: dict[str, Any] = {
        "vrf": route.vrf,
        "prefix": str(route.prefix),
        "next-hop": [_hop_json(hop) for hop in route.next_hops],
    }
    return reported if route.tag is None else reported | {"tag": route.tag}


def _hop_json(hop: NextHop) -> dict[str, Any]:
    reported: dict[str, Any] = {
        "index": hop.index,
        "address": str(hop.address) if hop.address is not None else None,
        "interface": hop.interface,
        "special-next-hop": hop.special,
        "preference": hop.preference,
        "bfd": hop.bfd,
    }
    return {name: value for name, value in reported.items() if value is not None}


STATIC_ROUTES: Table[_Row] = Table(
    "static-routes",
    (
        Field("VRF", lambda r: Cell(r.route.vrf, "name")),
        Field("PREFIX", lambda r: str(r.route.prefix)),
        Field("NEXT HOPS", lambda r: ", ".join(map(_text, r.route.next_hops))),
        Field("TAG", lambda r: "-" if r.route.tag is None else str(r.route.tag), right=True,
              key=lambda r: r.route.tag or 0),
        *rows.state_fields(lambda r: r.status),
    ),
    lambda r: _route_json(r.route) | rows.status_json(r.status),
    none="no static route is declared",
    name=lambda r: str(r.route.prefix),
    filters={"vrf": lambda r: r.route.vrf, "status": lambda r: r.status.status.text},
)  # fmt: skip


@listed(STATIC_ROUTES)
def static_routes(session: Session) -> Iterable[_Row]:
    """Static routes of VRFs and their next hops."""
    desired, statuses = session.desired(), session.state.statuses()
    return [
        _Row(route, statuses.get(ObjectRef(Kind.STATIC_ROUTE, name), rows.UNKNOWN))
        for name, route in sorted(desired.static_routes.items())
    ]
