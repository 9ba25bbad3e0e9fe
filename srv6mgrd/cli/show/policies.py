"""``show policies``: routing policies, who applies them, with status."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click

from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.show import rows
from srv6mgrd.model.bgp import Neighbor
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.routing_policy import ApplyPolicy
from srv6mgrd.model.status import Kind, ObjectRef


@click.command()
@json_option
@pass_session
def policies(session: Session) -> None:
    """Routing policies, and what they are applied to."""
    desired, statuses = session.desired(), session.state.statuses()
    session.warn_if_stale()
    now, table, listed = time.time_ns(), [], []
    for name, policy in sorted(desired.routing_policy.policies.items()):
        status = statuses.get(ObjectRef(Kind.ROUTING_POLICY, name), rows.UNKNOWN)
        applied = list(applied_to(desired, name))
        table.append(
            (
                Cell(name, "name"),
                str(len(policy.statements)),
                ", ".join(applied) or "-",
                rows.status_cell(status),
                rows.since_cell(status, now),
                status.reason,
            )
        )
        listed.append(
            {"name": name, "statements": len(policy.statements), "applied-to": applied}
            | rows.status_json(status)
        )
    columns = (
        Column("POLICY"),
        Column("STATEMENTS", right=True),
        Column("APPLIED TO"),
        *rows.STATE,
    )
    session.out.listing({"policies": listed}, columns, table, "no routing policy is declared")


def applied_to(desired: Desired, policy: str) -> Iterator[str]:
    """``import of VRF red``, ``export to 10.1.0.2 of VRF red``: where a policy is applied."""
    for neighbor in desired.bgp.neighbors if desired.bgp is not None else ():
        yield from _of_neighbor(neighbor, policy, "")
    for vrf in sorted(desired.vrfs.values(), key=lambda v: v.name):
        if vrf.bgp is None:
            continue
        yield from _of(vrf.bgp.apply_policy, policy, f"import of VRF {vrf.name}",
                       f"export of VRF {vrf.name}")  # fmt: skip
        for neighbor in vrf.bgp.neighbors:
            yield from _of_neighbor(neighbor, policy, f" of VRF {vrf.name}")


def _of_neighbor(neighbor: Neighbor, policy: str, of: str) -> Iterator[str]:
    address = neighbor.address
    yield from _of(
        neighbor.apply_policy, policy, f"import from {address}{of}", f"export to {address}{of}"
    )


def _of(apply: ApplyPolicy, policy: str, imports: str, exports: str) -> Iterator[str]:
    if apply.import_policy == policy:
        yield imports
    if apply.export_policy == policy:
        yield exports
