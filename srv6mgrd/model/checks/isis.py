"""IS-IS: interfaces that can't be of the underlay."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.checks.sids import taken
from srv6mgrd.model.desired import Desired, Role
from srv6mgrd.model.paths import isis_path
from srv6mgrd.model.rejection import Rejection


def check(desired: Desired) -> Iterator[Rejection]:
    if desired.isis is None:
        return
    ports = {port: vrf.name for vrf in desired.vrfs.values() for port in vrf.interfaces}
    for interface in desired.isis.interfaces:
        why = taken(desired, interface.name) if interface.name != "lo" else ""
        if interface.name in ports:
            why = f"is in VRF {ports[interface.name]}"
        elif desired.roles.get(interface.name) is Role.CUSTOMER:
            why = "has the role customer"
        if why:
            yield Rejection(
                names.isis_interface(interface.name),
                f"it {why}",
                "name interfaces that lead to routers of the domain",
                "isis-interface",
                f"{isis_path()}/interface[name='{interface.name}']",
            )
