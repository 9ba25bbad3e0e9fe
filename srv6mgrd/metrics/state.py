"""State of the router as metric families of the library: what has few samples. Pure.

Its sources are what srv6mgrd publishes for its readers (docs/adr/0008). What another release wrote
may lack members, which are left out then.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
    StateSetMetricFamily,
    SummaryMetricFamily,
)

from srv6mgrd.counters import node
from srv6mgrd.counters.accounting import ACCOUNTING
from srv6mgrd.counters.store_file import KIND, OBJECT, STATUS
from srv6mgrd.counters.store_reader import Snapshot
from srv6mgrd.metrics import bgp
from srv6mgrd.metrics.query import Kind, Query
from srv6mgrd.model.service import ServiceState
from srv6mgrd.model.status import InstallStatus

Members = Mapping[str, Any]

# Of a record of an object: kind, status, repairs.
_STATUSES = struct.Struct(f"<BB22xQ{OBJECT.size - 32}x")
_MEASUREMENT = "srv6mgr-path-measurement:path-measurement"
_OPER_STATUS = "srv6mgr-interfaces:oper-status"
_PATH_STATES = ("up", "degraded", "down", "unknown")
_DIRECTIONS = {
    "loss-ratio": "round-trip",
    "forward-loss-ratio": "forward",
    "backward-loss-ratio": "backward",
}
_NS, _MS, _US, _PERCENT = 1e9, 1e3, 1e6, 100


@dataclass(frozen=True, slots=True)
class State:
    """What was read at once: the store, and the members of each file beside it."""

    snapshot: Snapshot
    node: Members = field(default_factory=dict)
    observed: Members = field(default_factory=dict)
    accounting: Members = field(default_factory=dict)
    drops: Members = field(default_factory=dict)
    proxies: Members = field(default_factory=dict)
    alarms: Members = field(default_factory=dict)


def families(state: State, query: Query) -> Iterator[Metric]:
    """All that the query wants but for counters of SIDs and accounting."""
    for kind, made in (
        (Kind.OBJECT, _objects(state.snapshot)),
        (Kind.DROP, _drops(state.drops, query)),
        (Kind.VRF, _vrfs(state.observed, query)),
        (Kind.BGP, bgp.families(state.observed, query)),
        (Kind.PROXY, _proxies(state.proxies)),
        (Kind.INTERFACE, _interfaces(state.observed)),
        (Kind.PATH, _paths(state.observed)),
        (Kind.ALARM, _alarms(state.alarms)),
        (Kind.NODE, _node(state)),
    ):
        if query.wants(kind):
            yield from made


def _objects(snapshot: Snapshot) -> Iterator[Metric]:
    counts: Counter[tuple[int, int]] = Counter()
    repairs: Counter[int] = Counter()
    for kind, status, repaired in _STATUSES.iter_unpack(snapshot.objects):
        if kind in KIND:
            counts[kind, status] += 1
            repairs[kind] += repaired
    if not snapshot.current:
        unknown: Counter[tuple[int, int]] = Counter()
        for (kind, _), count in counts.items():
            unknown[kind, InstallStatus.UNKNOWN] += count
        counts = unknown
    objects = GaugeMetricFamily(
        "srv6_objects", "Declared objects by kind and install status.", labels=("kind", "status")
    )
    for kind in sorted(repairs):
        for status in STATUS.values():
            labels = (KIND[kind].text, status.text)
            objects.add_metric(labels, counts[kind, status])
    yield objects
    put_back = CounterMetricFamily(
        "srv6_object_repairs", "Objects put back after drift, by kind.", labels=("kind",)
    )
    for kind, count in sorted(repairs.items()):
        put_back.add_metric((KIND[kind].text,), count)
    yield put_back


def _drops(found: Members, query: Query) -> Iterator[Metric]:
    dropped = CounterMetricFamily(
        "srv6_dropped_packets", "Packets to a SID that were dropped, by reason.",
        labels=("sid", "vrf", "reason", "certainty"),
    )  # fmt: skip
    for one in _entries(found.get(ACCOUNTING, {}), "drops", "drop"):
        vrf = one.get("vrf", "")
        if query.wants_vrf(vrf):
            labels = one["sid"], vrf, one["reason"], one["certainty"]
            dropped.add_metric(labels, int(one["packets"]))
    yield dropped


def _vrfs(observed: Members, query: Query) -> Iterator[Metric]:
    found = StateSetMetricFamily(
        "srv6_vrf_service_state", "Whether the VPN of a VRF works.", labels=("vrf",)
    )
    for one in _entries(observed, "vrfs", "vrf"):
        if "service" in one and query.wants_vrf(one["name"]):
            state = one["service"]["service-state"]
            states = {known.text: known.text == state for known in ServiceState}
            found.add_metric((one["name"],), states)
    yield found


def _proxies(proxies: Members) -> Iterator[Metric]:
    packets = CounterMetricFamily(
        "srv6_proxy_packets", "Packets passed on by a service proxy.", labels=("sid", "direction")
    )
    octets = CounterMetricFamily(
        "srv6_proxy_bytes", "Bytes of these packets, as they came in.",
        labels=("sid", "direction"), unit="bytes",
    )  # fmt: skip
    errors = CounterMetricFamily(
        "srv6_proxy_errors", "Packets that a service proxy dropped.", labels=("sid", "reason")
    )
    for sid, state in proxies.items():
        for direction in ("to-function", "from-function"):
            packets.add_metric((sid, direction), int(state[direction]["pkts"]))
            octets.add_metric((sid, direction), int(state[direction]["octets"]))
        for reason, count in state["errors"].items():
            errors.add_metric((sid, reason), int(count))
    yield from (packets, octets, errors)


def _interfaces(observed: Members) -> Iterator[Metric]:
    up = GaugeMetricFamily(
        "srv6_interface_up", "Whether a declared interface is up.", labels=("interface",)
    )
    for one in _entries(observed, "interfaces", "interface"):
        if (status := one.get("state", {}).get(_OPER_STATUS)) is not None:
            up.add_metric((one["name"],), status == "up")
    yield up


def _paths(observed: Members) -> Iterator[Metric]:
    states = StateSetMetricFamily(
        "srv6_path_state", "State of a measured path.", labels=("session",)
    )
    loss = GaugeMetricFamily(
        "srv6_path_loss_ratio", "Test packets lost in the last interval, of 1.",
        labels=("session", "direction"),
    )  # fmt: skip
    delay = GaugeMetricFamily(
        "srv6_path_round_trip_delay_seconds", "Round-trip delay in the last interval.",
        labels=("session", "statistic"), unit="seconds",
    )  # fmt: skip
    jitter = GaugeMetricFamily(
        "srv6_path_jitter_seconds", "Delay variation in the last interval.",
        labels=("session", "statistic"), unit="seconds",
    )  # fmt: skip
    for one in observed.get(_MEASUREMENT, {}).get("session", ()):
        name, state = one["name"], one["state"]
        states.add_metric((name,), {s: s == state["path-state"] for s in _PATH_STATES})
        measured = state.get("last-measurement", {})
        for leaf, direction in _DIRECTIONS.items():
            if leaf in measured:
                loss.add_metric((name, direction), float(measured[leaf]) / _PERCENT)
        for family, leaf in ((delay, "round-trip-delay"), (jitter, "jitter")):
            for statistic, value in measured.get(leaf, {}).items():
                family.add_metric((name, statistic), value / _US)
    yield from (states, loss, delay, jitter)


def _alarms(found: Members) -> Iterator[Metric]:
    raised = GaugeMetricFamily(
        "srv6_alarms", "Alarms that are not cleared, by severity.", labels=("severity",)
    )
    for one in _entries(found, "summary", "alarm-summary"):
        raised.add_metric((one["severity"],), one["not-cleared"])
    yield raised


def _node(state: State) -> Iterator[Metric]:
    snapshot = state.snapshot
    yield GaugeMetricFamily(
        "srv6mgr_up", "Whether srv6mgrd runs and vouches for what is shown.", snapshot.current
    )
    if snapshot.at:
        yield GaugeMetricFamily(
            "srv6mgr_sample_timestamp_seconds", "When the counters of SIDs were read.",
            snapshot.at / _NS, unit="seconds",
        )  # fmt: skip
    capabilities = state.node.get(node.CAPABILITIES, {})
    about = {name: capabilities[name] for name in ("kernel", "frr") if name in capabilities}
    yield InfoMetricFamily("srv6mgr", "The kernel and FRRouting of the router.", about)
    yield from _statistics(state.node.get(node.STATISTICS, {}))
    yield GaugeMetricFamily(
        "srv6mgr_storage_problems", "Files that srv6mgrd can't write.",
        len(state.node.get(node.STORAGE, {}).get("problem", ())),
    )  # fmt: skip
    yield from _daemons(_entries(state.node, node.DAEMONS, "daemon"))


_STATISTICS = {
    "commits": ("srv6mgr_commits", "Commits carried out."),
    "refused-commits": ("srv6mgr_rejected_commits", "Commits that were rejected."),
    "compares": ("srv6mgr_compares", "Comparisons of the observed with the desired state."),
    "drifts": ("srv6mgr_drifts", "Objects found to differ."),
    "repairs": ("srv6mgr_repairs", "Objects put back."),
}


def _statistics(found: Members) -> Iterator[Metric]:
    for leaf, (name, text) in _STATISTICS.items():
        if leaf in found:
            yield CounterMetricFamily(name, text, int(found[leaf]))


def _daemons(found: Iterable[Members]) -> Iterator[Metric]:
    gap = GaugeMetricFamily(
        "srv6mgr_event_loop_gap_seconds", "Longest gap of the event loop in the last 30 seconds.",
        labels=("daemon",), unit="seconds",
    )  # fmt: skip
    stages = SummaryMetricFamily(
        "srv6mgr_stage_seconds", "Stages of commits and repairs, and how long they took.",
        labels=("daemon", "stage"), unit="seconds",
    )  # fmt: skip
    queues = GaugeMetricFamily("srv6mgr_queue_length", "How many wait.", labels=("daemon", "queue"))
    for one in found:
        name = one["name"]
        gap.add_metric((name,), one["recent-gap"] / _MS)
        for stage in one.get("stage", ()):
            taken = int(stage["total-time"]) / _US
            stages.add_metric((name, stage["name"]), int(stage["count"]), taken)
        for queue in one.get("queue", ()):
            queues.add_metric((name, queue["name"]), queue["length"])
    yield from (gap, stages, queues)


def _entries(members: Members, container: str, name: str) -> Iterable[Members]:
    found: Iterable[Members] = members.get(container, {}).get(name, ())
    return found
