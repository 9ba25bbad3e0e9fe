"""``show interfaces``: what is declared of each, with status."""

from __future__ import annotations

import time
from typing import Any

import click

from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.show import rows
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.interfaces import Interface
from srv6mgrd.model.status import Kind, ObjectRef


@click.command()
@json_option
@pass_session
def interfaces(session: Session) -> None:
    """Interfaces: roles, VRFs, VLANs, MTU and addresses as declared."""
    desired, statuses = session.desired(), session.state.statuses()
    session.warn_if_stale()
    vrf_of = {port: vrf.name for vrf in desired.vrfs.values() for port in vrf.interfaces}
    now, table, listed = time.time_ns(), [], []
    seen = _seen(session)
    for name in sorted({**desired.roles, **desired.interfaces}):
        one = desired.interfaces.get(name, Interface(name))
        status = statuses.get(ObjectRef(Kind.INTERFACE, name), rows.UNKNOWN)
        role = desired.roles.get(name)
        table.append(
            (
                Cell(name, "name"),
                role.value if role is not None else "-",
                vrf_of.get(name, "-"),
                _kind(one),
                _enabled(one),
                _oper_cell(seen.get(name, {})),
                str(one.mtu or "-"),
                " ".join(map(str, one.addresses)) or "-",
                rows.status_cell(status),
                rows.since_cell(status, now),
                status.reason,
            )
        )
        listed.append(
            _declared(desired, one)
            | {"vrf": vrf_of.get(name)}
            | rows.status_json(status)
            | ({"observed": seen[name]} if name in seen else {})
        )
    columns = (
        Column("INTERFACE"),
        Column("ROLE"),
        Column("VRF"),
        Column("TYPE"),
        Column("ENABLED"),
        Column("STATE"),
        Column("MTU", right=True),
        Column("ADDRESSES"),
        *rows.STATE,
    )
    session.out.listing({"interfaces": listed}, columns, table, "no interface is declared")


def _seen(session: Session) -> dict[str, dict[str, Any]]:
    """Of each declared interface what the kernel has."""
    observed = session.state.observed().get("interfaces", {}).get("interface", ())
    return {
        entry["name"]: {leaf.rpartition(":")[2]: value for leaf, value in entry["state"].items()}
        for entry in observed
    }


def _oper_cell(seen: dict[str, Any]) -> Cell:
    state = seen.get("oper-status", "-")
    # A loopback and a dummy have no other state than unknown.
    return Cell(state, "good" if state == "up" else "" if state in ("unknown", "-") else "warn")


def _kind(one: Interface) -> str:
    if one.vlan is not None:
        return f"VLAN {one.vlan.id} of {one.vlan.parent}"
    return "loopback" if one.loopback else "-"


def _enabled(one: Interface) -> str:
    return "-" if one.enabled is None else "yes" if one.enabled else "no"


def _declared(desired: Desired, one: Interface) -> dict[str, Any]:
    """In the model's words; null for what is left as it is."""
    role, vlan = desired.roles.get(one.name), one.vlan
    return {
        "name": one.name,
        "role": role.value if role is not None else None,
        "type": "loopback" if one.loopback else None,
        "vlan": vlan and {"parent-interface": vlan.parent, "vlan-id": vlan.id},
        "enabled": one.enabled,
        "mtu": one.mtu,
        "addresses": [str(address) for address in one.addresses],
    }
