"""Conditions: faults that exist now, with cause and remedy. Pure.

A condition is to an alarm (RFC 8632) what a measurement is to a log: a monitor of something
reports all conditions that exist, again and again, and one that is no longer reported is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Severity(IntEnum):
    """``al:severity`` of RFC 8632; a greater one is worse."""

    WARNING = 3  # The service is not affected.
    MINOR = 4  # The service is degraded.
    MAJOR = 5  # A service is down.
    CRITICAL = 6  # All services of the node are down.

    @property
    def text(self) -> str:
        """The YANG enum."""
        return self.name.lower()


class ConditionType(StrEnum):
    """What is wrong: the identity of an alarm type. The parts of a service first, then the
    host."""

    BGP_SESSION_DOWN = "bgp-session-down"
    BGP_NEIGHBOR_UNREACHABLE = "bgp-neighbor-unreachable"
    BGP_NEXT_HOP_LOST = "bgp-next-hop-lost"
    EXPORT_INCOMPLETE = "export-incomplete"
    ROUTE_UNRESOLVED = "route-unresolved"
    ROUTE_NOT_IN_KERNEL = "route-not-in-kernel"
    REMOTE_SID_UNREACHABLE = "remote-sid-unreachable"
    LOCATOR_UNREACHABLE = "locator-unreachable"
    CORE_MTU_TOO_SMALL = "core-mtu-too-small"
    CORE_INTERFACE_DOWN = "core-interface-down"
    VRF_INTERFACE_DOWN = "vrf-interface-down"
    NEXT_HOP_UNREACHABLE = "next-hop-unreachable"
    PATH_DOWN = "path-down"
    PATH_DEGRADED = "path-degraded"
    SERVICE_FUNCTION_DOWN = "service-function-down"
    NOT_INSTALLED = "not-installed"
    ROUTING_DAEMON_DOWN = "routing-daemon-down"

    ROLLBACK_FAILED = "rollback-failed"
    STATE_NOT_WRITTEN = "state-not-written"
    DISK_NEARLY_FULL = "disk-nearly-full"
    CERTIFICATE_EXPIRY = "certificate-expiry"
    DAEMON_DOWN = "daemon-down"
    REDIS_UNREACHABLE = "redis-unreachable"
    TUNNEL_DOWN = "tunnel-down"
    CLOCK_NOT_SYNCHRONIZED = "clock-not-synchronized"


@dataclass(frozen=True, slots=True)
class Condition:
    """``resource`` is the data path of the declared object (``model.paths``), ``cause`` says what
    is the case, ``remedy`` what to do. A condition is identified by its type and resource."""

    type: ConditionType
    resource: str
    severity: Severity
    cause: str
    remedy: str

    @property
    def key(self) -> tuple[ConditionType, str]:
        return self.type, self.resource
