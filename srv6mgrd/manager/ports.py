"""Interfaces of what the manager reports to and asks, beside the kernel and FRR."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv6Network
from typing import Any, Protocol

from srv6mgrd.apply.reconciler import Report
from srv6mgrd.counters.node import Statistics
from srv6mgrd.model.capabilities import Capabilities
from srv6mgrd.model.condition import Condition
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.drops import Drop
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.model.status import ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.notifications import Notification


class Outward(Protocol):
    """Where statuses and counters go beside the store (``redis.thread.InThread``). Any thread;
    never waits."""

    def publish(self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> None: ...

    def publish_counters(self, counters: Mapping[str, SidCounters]) -> None: ...

    def publish_proxies(self, proxies: Mapping[IPv6Network, ProxyState]) -> None: ...

    def publish_accounting(self, found: Mapping[str, Any]) -> None: ...


class Node(Protocol):
    """State of the node as a whole (``counters.node.NodeWriter``)."""

    @property
    def statistics(self) -> Statistics: ...

    def write(self) -> None: ...


class Proxies(Protocol):
    """State of the service proxies (``counters.proxies.ProxiesWriter``)."""

    def write(self, proxies: Mapping[IPv6Network, ProxyState]) -> None: ...


class Accounting(Protocol):
    """A part of accounting (``counters.accounting.AccountingWriter``)."""

    def write(self, found: Mapping[str, Any] | None) -> None: ...


class Drops(Protocol):
    """Why packets to SIDs are dropped (``drops.watch.DropWatch``). In the thread of samples."""

    since: int

    @property
    def found(self) -> Iterable[Drop]: ...

    def sample(
        self, desired: Desired, totals: Mapping[str, SidCounters], moved: Iterable[str]
    ) -> bool: ...

    def end(self) -> None: ...


class Observed(Protocol):
    """State of sessions, adjacencies and interfaces (``counters.observed.ObservedWriter``)."""

    def stage(self, part: str, members: Mapping[str, Any]) -> None: ...

    def publish(self) -> None: ...


class Alarms(Protocol):
    """Where conditions are reported."""

    def report(self, source: str, conditions: Iterable[Condition]) -> None:
        """These are all conditions that ``source`` sees now. In the event loop; never waits."""
        ...


class CapabilityMonitor(Protocol):
    """What the node offers (``capability_monitor.CapabilityMonitor``)."""

    @property
    def kernel(self) -> Capabilities: ...

    def probe(self) -> bool: ...


class Conductor(Protocol):
    """What the rooms ask of who conducts them (``manager.conductor.Manager``)."""

    def request_reconcile(self) -> None:
        """A compare is due."""
        ...

    def retry_later(self) -> None:
        """A compare is due after a while, which doubles."""
        ...

    def report(self, report: Report, repaired: Iterable[ObjectRef] = ()) -> None:
        """Make known what a pass did, and what it put back."""
        ...

    def notify(self, reported: Iterable[Notification]) -> None: ...

    def count(self, *, commits: int = 0, rejected: int = 0) -> None:
        """Count in the statistics of the node."""
        ...

    def drifted(self, objects: int, repaired: int) -> None:
        """Count what a compare found to differ, and put back."""
        ...
