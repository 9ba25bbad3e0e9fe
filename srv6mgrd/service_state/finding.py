"""What a judgement finds wrong, and what it does to services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Network

from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.service import ServiceState

# Seconds for which something has to be so before it counts. While a commit is carried out, or
# routing converges, parts of a service are away for a moment.
AT_ONCE, CONVERGENCE, COMMIT, FIRST_CONTACT = 0.0, 1.0, 2.0, 30.0


@dataclass(frozen=True, slots=True)
class Finding:
    """``vrfs`` and ``sids`` are the services that it affects, with the best state that they can
    have with it. ``hold`` in seconds; ``is_shared`` when all services of the node depend on it."""

    type: ConditionType
    resource: str
    cause: str
    remedy: str
    vrfs: Mapping[str, ServiceState] = field(default_factory=dict)
    sids: Mapping[IPv6Network, ServiceState] = field(default_factory=dict)
    hold: float = AT_ONCE
    is_shared: bool = False

    @property
    def key(self) -> tuple[ConditionType, str]:
        return self.type, self.resource

    @property
    def worst(self) -> ServiceState:
        return max((*self.vrfs.values(), *self.sids.values()), default=ServiceState.UP)

    @property
    def severity(self) -> Severity:
        """By what it does to services (RFC 8632)."""
        states = (*self.vrfs.values(), *self.sids.values())
        if self.is_shared and states and min(states) is ServiceState.DOWN:
            return Severity.CRITICAL
        by_state = {ServiceState.DOWN: Severity.MAJOR, ServiceState.DEGRADED: Severity.MINOR}
        return by_state.get(self.worst, Severity.WARNING)

    @property
    def condition(self) -> Condition:
        return Condition(self.type, self.resource, self.severity, self.cause, self.remedy)
