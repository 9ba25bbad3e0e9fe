"""The types of alarms: the inventory. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from srv6mgrd.model.condition import ConditionType, Severity

_WARNING, _MINOR, _MAJOR, _CRITICAL = Severity


@dataclass(frozen=True, slots=True)
class AlarmType:
    """``description`` is that of the identity in srv6mgr-alarms, and ``base`` the one that it is
    derived from."""

    description: str
    severities: tuple[Severity, ...]

    @property
    def base(self) -> str:
        return "service-alarm" if self.severities == _SERVICE else "host-alarm"


# What all types are derived from, and those that are known: of newer ones nothing else is.
_ABSTRACT = ("srv6mgr-alarm", "alarm-type-id")
_KINDS = frozenset(ConditionType)
_SERVICE = (_WARNING, _MINOR, _MAJOR, _CRITICAL)

CATALOGUE: Mapping[ConditionType, AlarmType] = {
    ConditionType.BGP_SESSION_DOWN: AlarmType(
        "A BGP session that is declared and enabled is not established.", _SERVICE
    ),
    ConditionType.BGP_NEIGHBOR_UNREACHABLE: AlarmType(
        "This router has no route to a BGP neighbor whose session is still up, or the neighbor"
        " stopped answering echoes.",
        _SERVICE,
    ),
    ConditionType.BGP_NEXT_HOP_LOST: AlarmType(
        "A BGP session lives on, though the address that it advertises as next hop is gone from"
        " this router.",
        _SERVICE,
    ),
    ConditionType.EXPORT_INCOMPLETE: AlarmType(
        "Routes of a VRF are not advertised with the SID that is declared.", _SERVICE
    ),
    ConditionType.ROUTE_UNRESOLVED: AlarmType(
        "Routes that a VRF imports have no next hop that resolves.", _SERVICE
    ),
    ConditionType.ROUTE_NOT_IN_KERNEL: AlarmType(
        "The kernel has lost routes that FRR takes to be installed.", _SERVICE
    ),
    ConditionType.REMOTE_SID_UNREACHABLE: AlarmType(
        "This router has no route to a SID of another edge.", _SERVICE
    ),
    ConditionType.LOCATOR_UNREACHABLE: AlarmType(
        "A neighbor has no route to a locator of this router.", _SERVICE
    ),
    ConditionType.CORE_MTU_TOO_SMALL: AlarmType(
        "The MTU of a core interface has no room for a customer's packet and its outer header.",
        _SERVICE,
    ),
    ConditionType.CORE_INTERFACE_DOWN: AlarmType("A core interface is down.", _SERVICE),
    ConditionType.VRF_INTERFACE_DOWN: AlarmType("An interface of a VRF is down.", _SERVICE),
    ConditionType.NEXT_HOP_UNREACHABLE: AlarmType(
        "The neighbor that a SID leads to does not answer.", _SERVICE
    ),
    ConditionType.PATH_DOWN: AlarmType("A measured path loses all test packets.", _SERVICE),
    ConditionType.PATH_DEGRADED: AlarmType(
        "A measured path exceeds a threshold of delay, jitter or loss.", _SERVICE
    ),
    ConditionType.SERVICE_FUNCTION_DOWN: AlarmType(
        "A service function lets no packets through; chains go around it, or drop.", _SERVICE
    ),
    ConditionType.NOT_INSTALLED: AlarmType("A declared object is not installed.", _SERVICE),
    ConditionType.ROUTING_DAEMON_DOWN: AlarmType(
        "A daemon of FRR that the configuration needs does not run, or does not answer.", _SERVICE
    ),
    ConditionType.ROLLBACK_FAILED: AlarmType(
        "A commit that was not confirmed in time could not be rolled back; srv6mgrd goes on"
        " trying.",
        (_MAJOR,),
    ),
    ConditionType.STATE_NOT_WRITTEN: AlarmType(
        "srv6mgrd cannot read or write a file in which it keeps state, or has set a damaged one"
        " aside.",
        (_WARNING, _MINOR),
    ),
    ConditionType.DISK_NEARLY_FULL: AlarmType(
        "The file system of a directory of srv6mgr is nearly full.", (_WARNING, _MINOR)
    ),
    ConditionType.CERTIFICATE_EXPIRY: AlarmType(
        "A certificate that a northbound presents ends within 14 days, or has ended.",
        (_WARNING, _MAJOR),
    ),
    ConditionType.DAEMON_DOWN: AlarmType(
        "A daemon that is enabled on this host does not run.", (_MINOR,)
    ),
    ConditionType.REDIS_UNREACHABLE: AlarmType(
        "Redis does not answer, so that the tables of SONiC are out of date.", (_MINOR,)
    ),
    ConditionType.TUNNEL_DOWN: AlarmType(
        "A tunnel that srv6-gnmid dials is not up, so that nobody reaches this router through it.",
        (_MINOR,),
    ),
    ConditionType.CLOCK_NOT_SYNCHRONIZED: AlarmType(
        "The clock of this host is not synchronized, or was set by a second and more.",
        (_WARNING,),
    ),
}


def is_derived(kind: str, identity: str) -> bool:
    """Report if the type of an alarm is an identity, or derived from it."""
    known = CATALOGUE.get(ConditionType(kind)) if kind in _KINDS else None
    bases = _ABSTRACT if known is None else (known.base, *_ABSTRACT)
    return identity == kind or identity in bases
