"""Objects of accounting. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from srv6mgrd.kinds.accounting.object import (
    ACCOUNTING_PROGRAMS,
    AccountedPort,
    AccountedSid,
    AccountedVrf,
    AccountingHook,
    AccountingPrograms,
    AccountingSources,
)
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model import domain
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.classification import interfaces_of
from srv6mgrd.model.desired import Desired, Sid
from srv6mgrd.plan.target_objects import Target
from srv6mgrd.plan.underlay import underlay

# What behaviors decapsulate.
_FAMILIES = {
    Behavior.END_DT4: (Family.IPV4,),
    Behavior.END_DT6: (Family.IPV6,),
    Behavior.END_DT46: (Family.IPV4, Family.IPV6),
    Behavior.END_DX4: (Family.IPV4,),
    Behavior.END_DX6: (Family.IPV6,),
    Behavior.END_DX2: (Family.ETHERNET,),
}


def need_accounting(
    t: Target, desired: Desired, interfaces: Mapping[str, int], receivers: Collection[str]
) -> None:
    """Once all VRFs are among the objects."""
    if not desired.accounting.enabled:
        return
    t.need(AccountingPrograms())
    own = desired.encapsulation_source
    if own is not None:
        t.need(AccountingSources((own, *sorted(domain.sources(desired) - {own}))))
    classified = {
        name for one in desired.chains.classifiers.values() for name in interfaces_of(one, desired)
    }
    for vrf in desired.vrfs.values():
        device = t.objects.get(f"link {vrf.name}")
        if isinstance(device, VrfDevice):
            t.need(AccountedVrf(vrf.name, device.ifindex))
            for name in sorted(classified & set(vrf.interfaces) & interfaces.keys()):
                t.need(AccountedPort(name, interfaces[name], vrf.name))
    for name in underlay(desired, receivers):
        for program in ACCOUNTING_PROGRAMS:
            t.need(AccountingHook(name, program))


def need_accounted_sid(t: Target, sid: Sid, desired: Desired) -> None:
    if desired.accounting.enabled and (families := _FAMILIES.get(sid.behavior)):
        counted = AccountedSid(sid.prefix, sid.vrf or _vrf_of(sid.interface, desired), families)
        t.objects[counted.key] = counted


def _vrf_of(interface: str | None, desired: Desired) -> str | None:
    """The VRF that a cross-connect sends to."""
    vrfs = desired.vrfs.values() if interface is not None else ()
    return next((vrf.name for vrf in vrfs if interface in vrf.interfaces), None)
