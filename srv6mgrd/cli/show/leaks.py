"""``show leaks``: what VRFs import from other VRFs of the router, with status."""

from __future__ import annotations

import time

import click

from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.show import rows
from srv6mgrd.model.status import Kind, ObjectRef


@click.command()
@json_option
@pass_session
def leaks(session: Session) -> None:
    """What VRFs import from other VRFs of the router."""
    desired, statuses = session.desired(), session.state.statuses()
    session.warn_if_stale()
    now, table, listed = time.time_ns(), [], []
    for name, leak in sorted(desired.leaks.items()):
        status = statuses.get(ObjectRef(Kind.ROUTE_LEAK, name), rows.UNKNOWN)
        table.append(
            (
                Cell(leak.importer, "name"),
                leak.source,
                leak.policy or "-",
                rows.status_cell(status),
                rows.since_cell(status, now),
                status.reason,
            )
        )
        reported = {"vrf": leak.importer, "from": leak.source}
        if leak.policy is not None:
            reported["policy"] = leak.policy
        listed.append(reported | rows.status_json(status))
    columns = (Column("VRF"), Column("FROM"), Column("POLICY"), *rows.STATE)
    session.out.listing({"leaks": listed}, columns, table, "no VRF imports from another one")
