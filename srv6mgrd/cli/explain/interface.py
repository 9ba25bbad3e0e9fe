"""``explain INTERFACE``: what is declared of it, what the kernel has, and what to do about the
difference."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from srv6mgrd.cli import host
from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.units import ago, counted
from srv6mgrd.model import domain
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.interfaces import Interface, mtu_of
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef

_REPAIRED = "srv6mgrd puts it back by itself while it runs (srv6ctl reconcile: at once)"


def is_declared(name: str, desired: Desired) -> bool:
    """Report if something is declared of an interface, be it that a VRF has it."""
    ports = (port for vrf in desired.vrfs.values() for port in vrf.interfaces)
    return name in desired.roles or name in desired.interfaces or name in ports


def explain(session: Session, desired: Desired, name: str) -> bool:
    """Print all that is known of it; whether it is installed and passes packets."""
    seen = host.read()
    ref = ObjectRef(Kind.INTERFACE, name)
    # One that a VRF has, and that nothing else is said of, has no status of its own.
    has_status = name in desired.roles or name in desired.interfaces
    status = session.state.statuses().get(ref, rows.UNKNOWN)
    session.warn_if_stale()
    link, one = seen.links.get(name), desired.interfaces.get(name, Interface(name))
    vrf = next((v.name for v in desired.vrfs.values() if name in v.interfaces), None)
    addresses = [str(address) for address in seen.addresses_of.get(name, ())]
    found = list(differences(name, desired, seen))
    if session.out.as_json:
        reported: dict[str, Any] = {
            "interface": name,
            "vrf": vrf,
            "addresses": [str(address) for address in one.addresses],
            **(rows.status_json(status) if has_status else {}),
            "in-kernel": None
            if link is None
            else {
                "enabled": link.up,
                "carrier": link.carrier,
                "mtu": link.mtu,
                "vrf": link.master or None,
                "addresses": addresses,
            },
            "causes": [{"what": what, "remedy": remedy} for what, remedy in found],
        }
        session.out.json(reported)
    else:
        role = desired.roles.get(name)
        circuit = "customer" if name in domain.attachment_circuits(desired) else "none declared"
        facts: list[tuple[str, Cell | str]] = [
            ("role", role.value if role is not None else circuit),
            ("VRF", vrf or "none"),
            ("declared", _declared(one, desired)),
        ]
        if has_status:
            now = time.time_ns()
            facts.append(("status", rows.status_cell(status)))
            facts.append(("since", ago(status.since, now)))
            facts += [("reason", status.reason)] if status.reason else []
            facts.append(("drift", f"repaired {counted(status.repairs, 'time')}"))
        facts.append(("kernel", _kernel(link)))
        facts.append(("addresses", " ".join(addresses) or "none"))
        session.out.line("interface ", Cell(name, "name"))
        listed = [(Cell(fact, "head"), value) for fact, value in facts]
        session.out.table([Column(""), Column("")], listed, indent="  ")
        for what, remedy in found:
            session.out.item(["  ", Cell("differs  ", "bad")], what)
            session.out.item(["           -> "], remedy)
    return not found and (not has_status or status.status is InstallStatus.INSTALLED)


def differences(name: str, desired: Desired, seen: host.Host) -> Iterator[tuple[str, str]]:
    """What the kernel has otherwise, and what to do."""
    link, one = seen.links.get(name), desired.interfaces.get(name, Interface(name))
    if link is None:
        remedy = _REPAIRED if one.is_created else "create it, or see what it is called now"
        yield "it does not exist", remedy
        return
    vrf = next((v.name for v in desired.vrfs.values() if name in v.interfaces), "")
    if vrf and link.master != vrf:
        yield f"it is in {link.master or 'no VRF'}, not in VRF {vrf}", _REPAIRED
    wanted_up = one.enabled if one.enabled is not None or not one.is_created else True
    if wanted_up is not None and link.up != wanted_up:
        yield f"it is {'up' if link.up else 'down'}, which is not declared", _REPAIRED
    elif wanted_up is None and not link.up:
        yield "it is down, and nothing is declared of that", "declare enabled, or set it up"
    elif link.up and not link.carrier:
        yield "it has no carrier", "see its cable, and the interface at the other end"
    mtu = mtu_of(name, desired.interfaces)
    if mtu is not None and link.mtu != mtu:
        yield f"its MTU is {link.mtu}, declared is {mtu}", _REPAIRED
    for address in one.addresses:
        if address not in seen.addresses_of.get(name, ()):
            yield f"it lacks its address {address}", _REPAIRED


def _declared(one: Interface, desired: Desired) -> str:
    parts = ["loopback"] if one.loopback else []
    parts += [f"VLAN {one.vlan.id} of {one.vlan.parent}"] if one.vlan is not None else []
    parts += [] if one.enabled is None else ["enabled" if one.enabled else "not enabled"]
    mtu = mtu_of(one.name, desired.interfaces)
    parts += [f"MTU {mtu}"] if mtu is not None else []
    parts += [str(address) for address in one.addresses]
    return ", ".join(parts) or "nothing but its role or VRF"


def _kernel(link: host.Link | None) -> Cell | str:
    if link is None:
        return Cell("it is not there", "bad")
    parts = [
        "up" if link.up else "down",
        "carrier" if link.carrier else "no carrier",
        f"MTU {link.mtu}",
    ]
    parts += [f"in {link.master}"] if link.master else []
    return ", ".join(parts)
