"""``path-measurement`` of a configuration as YANG JSON (RFC 7951) to desired state."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address, IPv6Network
from typing import Any

from srv6mgrd.model.path_measurement import PORT, PathMeasurement, Session, Thresholds

_Entry = Mapping[str, Any]


def path_measurement(e: _Entry) -> PathMeasurement:
    reflector: _Entry = e.get("reflector", {})
    return PathMeasurement(
        port=reflector.get("port", PORT),
        allowed=tuple(sorted(map(_network, reflector.get("allowed-prefix", ())))),
        sessions={one["name"]: _session(one) for one in e.get("session", ())},
    )


def _network(prefix: str) -> IPv6Network:
    return IPv6Network(prefix, strict=False)


def _session(e: _Entry) -> Session:
    source = e.get("source-address")
    return Session(
        name=e["name"],
        destination=IPv6Address(e["destination-address"]),
        port=e.get("destination-port", PORT),
        source=IPv6Address(source) if source is not None else None,
        segment_list=e.get("segment-list"),
        interval=e.get("interval", 100),
        measurement_interval=e.get("measurement-interval", 60),
        thresholds=_thresholds(e.get("thresholds", {})),
    )


def _thresholds(e: _Entry) -> Thresholds:
    loss = e.get("loss-ratio")
    return Thresholds(e.get("delay"), e.get("jitter"), float(loss) if loss is not None else None)
