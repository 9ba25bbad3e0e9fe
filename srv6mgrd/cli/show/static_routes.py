"""``show static-routes``: the static routes of VRFs, with status."""

from __future__ import annotations

import time
from typing import Any

import click

from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.show import rows
from srv6mgrd.model.static_routes import NextHop, StaticRoute
from srv6mgrd.model.status import Kind, ObjectRef


@click.command("static-routes")
@json_option
@pass_session
def static_routes(session: Session) -> None:
    """Static routes of VRFs and their next hops."""
    desired, statuses = session.desired(), session.state.statuses()
    session.warn_if_stale()
    now, table, listed = time.time_ns(), [], []
    for name, route in sorted(desired.static_routes.items()):
        status = statuses.get(ObjectRef(Kind.STATIC_ROUTE, name), rows.UNKNOWN)
        table.append(
            (
                Cell(route.vrf, "name"),
                str(route.prefix),
                ", ".join(map(_text, route.next_hops)),
                "-" if route.tag is None else str(route.tag),
                rows.status_cell(status),
                rows.since_cell(status, now),
                status.reason,
            )
        )
        listed.append(_json(route) | rows.status_json(status))
    columns = (
        Column("VRF"),
        Column("PREFIX"),
        Column("NEXT HOPS"),
        Column("TAG", right=True),
        *rows.STATE,
    )
    session.out.listing({"static-routes": listed}, columns, table, "no static route is declared")


def _text(hop: NextHop) -> str:
    """``10.1.0.10 eth1 bfd``, and the preference unless it is FRR's own."""
    parts = [hop.special.value] if hop.special is not None else []
    parts += [str(hop.address)] if hop.address is not None else []
    parts += [hop.interface] if hop.interface is not None else []
    parts += ["bfd"] if hop.bfd else []
    parts += [f"[{hop.preference}]"] if hop.preference != 1 else []
    return " ".join(parts)


def _json(route: StaticRoute) -> dict[str, Any]:
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
