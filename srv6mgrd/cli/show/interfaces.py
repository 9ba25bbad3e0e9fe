"""``show interfaces``: what is declared of each, with status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.desired import Role
from srv6mgrd.model.interfaces import Interface
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


class _Row(NamedTuple):
    """``seen`` is what the kernel has."""

    name: str
    declared: Interface
    role: Role | None
    vrf: str
    seen: Mapping[str, Any]
    status: ObjectStatus


def _json(row: _Row) -> dict[str, Any]:
    return (
        _declared(row.declared, row.role)
        | {"vrf": row.vrf or None}
        | rows.status_json(row.status)
        | ({"observed": row.seen} if row.seen else {})
    )


INTERFACES: Table[_Row] = Table(
    "interfaces",
    (
        Field("INTERFACE", lambda r: Cell(r.name, "name")),
        Field("ROLE", lambda r: r.role.value if r.role is not None else "-"),
        Field("VRF", lambda r: r.vrf or "-"),
        Field("TYPE", lambda r: _kind(r.declared)),
        Field("ENABLED", lambda r: _enabled(r.declared)),
        Field("STATE", lambda r: _oper_cell(r.seen)),
        Field("MTU", lambda r: str(r.declared.mtu or "-"), right=True,
              key=lambda r: r.declared.mtu or 0),
        Field("ADDRESSES", lambda r: " ".join(map(str, r.declared.addresses)) or "-"),
        *rows.state_fields(lambda r: r.status),
    ),
    _json,
    none="no interface is declared",
    name=lambda r: r.name,
    filters={
        "vrf": lambda r: r.vrf,
        "role": lambda r: r.role.value if r.role is not None else "",
        "status": lambda r: r.status.status.text,
    },
)  # fmt: skip


@listed(INTERFACES)
def interfaces(session: Session) -> Iterable[_Row]:
    """Interfaces: roles, VRFs, VLANs, MTU and addresses as declared."""
    desired, statuses = session.desired(), session.state.statuses()
    vrf_of = {port: vrf.name for vrf in desired.vrfs.values() for port in vrf.interfaces}
    seen = _seen(session)
    return [
        _Row(
            name,
            desired.interfaces.get(name, Interface(name)),
            desired.roles.get(name),
            vrf_of.get(name, ""),
            seen.get(name, {}),
            statuses.get(ObjectRef(Kind.INTERFACE, name), rows.UNKNOWN),
        )
        for name in sorted({**desired.roles, **desired.interfaces})
    ]


def _seen(session: Session) -> dict[str, dict[str, Any]]:
    """Of each declared interface what the kernel has."""
    observed = session.state.observed().get("interfaces", {}).get("interface", ())
    return {
        entry["name"]: {leaf.rpartition(":")[2]: value for leaf, value in entry["state"].items()}
        for entry in observed
    }


def _oper_cell(seen: Mapping[str, Any]) -> Cell:
    state = seen.get("oper-status", "-")
    # A loopback and a dummy have no other state than unknown.
    return Cell(state, "good" if state == "up" else "" if state in ("unknown", "-") else "warn")


def _kind(one: Interface) -> str:
    if one.vlan is not None:
        return f"VLAN {one.vlan.id} of {one.vlan.parent}"
    return "loopback" if one.loopback else "-"


def _enabled(one: Interface) -> str:
    return "-" if one.enabled is None else "yes" if one.enabled else "no"


def _declared(one: Interface, role: Role | None) -> dict[str, Any]:
    """In the model's words; null for what is left as it is."""
    vlan = one.vlan
    return {
        "name": one.name,
        "role": role.value if role is not None else None,
        "type": "loopback" if one.loopback else None,
        "vlan": vlan and {"parent-interface": vlan.parent, "vlan-id": vlan.id},
        "enabled": one.enabled,
        "mtu": one.mtu,
        "addresses": [str(address) for address in one.addresses],
    }
