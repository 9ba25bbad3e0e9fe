"""BGP sessions as metric families of the library. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from srv6mgrd.metrics.query import Query
from srv6mgrd.model.leaking import DEFAULT_VRF

_BGP = "srv6mgr-bgp:bgp"
_LABELS = ("vrf", "neighbor")
# Of lists of sessions, the leaf that names one.
_LISTS = {"neighbor": "address", "unnumbered-neighbor": "interface", "dynamic-neighbor": "address"}

Members = Mapping[str, Any]


def families(observed: Members, query: Query) -> Iterator[Metric]:
    """Of sessions in all VRFs that the query wants."""
    established = GaugeMetricFamily(
        "srv6_bgp_session_established", "Whether a BGP session is established.", labels=_LABELS
    )
    transitions = CounterMetricFamily(
        "srv6_bgp_session_transitions", "How often a BGP session was established.", labels=_LABELS
    )
    prefixes = GaugeMetricFamily(
        "srv6_bgp_prefixes", "Prefixes accepted from a neighbor, or advertised to it.",
        labels=(*_LABELS, "afi_safi", "direction"),
    )  # fmt: skip
    for vrf, instance in _instances(observed):
        if not query.wants_vrf(vrf):
            continue
        for name, state in _sessions(instance):
            established.add_metric((vrf, name), state.get("session-state") == "established")
            transitions.add_metric((vrf, name), int(state.get("established-transitions", 0)))
            for family in state.get("afi-safi", ()):
                for direction, count in family.get("prefixes", {}).items():
                    prefixes.add_metric((vrf, name, family["name"], direction), count)
    yield from (established, transitions, prefixes)


def _instances(observed: Members) -> Iterator[tuple[str, Members]]:
    yield DEFAULT_VRF, observed.get(_BGP, {})
    for vrf in observed.get("vrfs", {}).get("vrf", ()):
        yield vrf["name"], vrf.get(_BGP, {})


def _sessions(instance: Members) -> Iterator[tuple[str, Members]]:
    for of in (instance, *instance.get("peer-group", ())):
        for name, key in _LISTS.items():
            for session in of.get(name, ()):
                if "state" in session:
                    yield session[key], session["state"]
