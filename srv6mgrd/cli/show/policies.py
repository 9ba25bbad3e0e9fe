"""``show policies``: routing policies, who applies them, with status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.bgp import Neighbor
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.routing_policy import ApplyPolicy
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


class _Row(NamedTuple):
    name: str
    statements: int
    applied: list[str]
    status: ObjectStatus


def _json(row: _Row) -> dict[str, Any]:
    reported = {"name": row.name, "statements": row.statements, "applied-to": row.applied}
    return reported | rows.status_json(row.status)


POLICIES: Table[_Row] = Table(
    "policies",
    (
        Field("POLICY", lambda r: Cell(r.name, "name")),
        rows.number("STATEMENTS", lambda r: r.statements),
        Field("APPLIED TO", lambda r: ", ".join(r.applied) or "-"),
        *rows.state_fields(lambda r: r.status),
    ),
    _json,
    none="no routing policy is declared",
    name=lambda r: r.name,
    filters={"status": lambda r: r.status.status.text},
)


@listed(POLICIES)
def policies(session: Session) -> Iterable[_Row]:
    """Routing policies, and where they are applied."""
    desired, statuses = session.desired(), session.state.statuses()
    return [
        _Row(
            name,
            len(policy.statements),
            list(applied_to(desired, name)),
            statuses.get(ObjectRef(Kind.ROUTING_POLICY, name), rows.UNKNOWN),
        )
        for name, policy in sorted(desired.routing_policy.policies.items())
    ]


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
