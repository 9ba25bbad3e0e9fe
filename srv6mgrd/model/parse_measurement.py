"""``path-measurement`` of a configuration as YANG JSON (RFC 7951) to desired state."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from srv6mgrd.model.path_measurement import (
    PORT,
    PathMeasurement,
    Prefixes,
    Session,
    Thresholds,
)

_Entry = Mapping[str, Any]


def path_measurement(e: _Entry) -> PathMeasurement:
    reflector: _Entry = e.get("reflector", {})
    return PathMeasurement(
        port=reflector.get("port", PORT),
        allowed=_networks(reflector),
        sessions={one["name"]: _session(one) for one in e.get("session", ())},
        vrfs={one["name"]: _networks(one) for one in reflector.get("vrf", ())},
        key=_key(reflector),
        return_paths=reflector.get("return-paths", False),
    )


def _networks(e: _Entry) -> Prefixes:
    found = (ip_network(one, strict=False) for one in e.get("allowed-prefix", ()))
    return tuple(sorted(found, key=lambda one: (one.version, one)))


def _address(text: str | None) -> IPv4Address | IPv6Address | None:
    return ip_address(text) if text is not None else None


def _key(e: _Entry) -> bytes | None:
    authentication: _Entry = e.get("authentication", {})
    if (text := authentication.get("keystring")) is not None:
        return str(text).encode()
    text = authentication.get("hexadecimal-string")
    return bytes.fromhex(text.replace(":", "")) if text is not None else None


def _session(e: _Entry) -> Session:
    return Session(
        name=e["name"],
        destination=ip_address(e["destination-address"]),
        port=e.get("destination-port", PORT),
        source=_address(e.get("source-address")),
        segment_list=e.get("segment-list"),
        interval=e.get("interval", 100),
        measurement_interval=e.get("measurement-interval", 60),
        thresholds=_thresholds(e.get("thresholds", {})),
        vrf=e.get("vrf"),
        node_address=_address(e.get("destination-node-address")),
        return_segment_list=e.get("return-segment-list"),
        key=_key(e),
    )


def _thresholds(e: _Entry) -> Thresholds:
    loss = e.get("loss-ratio")
    return Thresholds(e.get("delay"), e.get("jitter"), float(loss) if loss is not None else None)
