"""``show ospf``: OSPF of VRFs, with status."""

from __future__ import annotations

import time

import click

from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.show import rows
from srv6mgrd.model.outcomes import ospf as declared
from srv6mgrd.model.status import Kind


@click.command()
@json_option
@pass_session
def ospf(session: Session) -> None:
    """OSPF of VRFs, and what it misses."""
    desired, statuses = session.desired(), session.state.statuses()
    session.warn_if_stale()
    now, table, listed = time.time_ns(), [], []
    for ref in declared(desired):
        found = (desired.ospf if ref.kind is Kind.OSPF else desired.ospfv3)[ref.name]
        status = statuses.get(ref, rows.UNKNOWN)
        interfaces = [interface.name for interface in found.interfaces]
        table.append(
            (
                Cell(ref.name, "name"),
                str(found.version),
                " ".join(interfaces),
                rows.status_cell(status),
                rows.since_cell(status, now),
                status.reason,
            )
        )
        listed.append(
            {"vrf": ref.name, "version": found.version, "interface": interfaces}
            | rows.status_json(status)
        )
    columns = (Column("VRF"), Column("VERSION", right=True), Column("INTERFACES"), *rows.STATE)
    session.out.listing({"ospf": listed}, columns, table, "no VRF speaks OSPF")
