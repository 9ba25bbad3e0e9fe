"""The interfaces to the core. Pure."""

from __future__ import annotations

from collections.abc import Collection

from srv6mgrd.model import domain
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.reserved import OWN_DEVICES


def underlay(desired: Desired, receivers: Collection[str]) -> set[str]:
    """Interfaces on which packets of other routers of the SRv6 domain come in; ``receivers`` are
    those on which the stack gets packets at all."""
    ports = {name for vrf in desired.vrfs.values() for name in vrf.interfaces}
    found = set(receivers) - ports - domain.customers(desired) - OWN_DEVICES
    return found & domain.core(desired) if domain.is_closed(desired) else found
