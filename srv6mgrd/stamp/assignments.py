"""What srv6-stampd is to do: a file that srv6mgrd writes and srv6-stampd reads, so that the latter
needs no access to the configuration (docs/adr/0038). It holds keys, and is for these two alone."""

from __future__ import annotations

import grp
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any

from srv6mgrd.counters.node import publish_secret
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.path_measurement import PORT, Prefixes, Session, Thresholds

# The user and group of srv6-stampd.
_GROUP = "_srv6-stampd"


@dataclass(frozen=True, slots=True)
class SessionAssignment:
    """A session with what the rest of the configuration says of it."""

    session: Session
    source: IPv4Address | IPv6Address | None = None
    segments: tuple[IPv6Address, ...] = ()
    return_segments: tuple[IPv6Address, ...] = ()


@dataclass(frozen=True, slots=True)
class ReflectorAssignment:
    """Senders that are answered, by VRF; those of the router itself are in ``""``."""

    port: int = PORT
    allowed: Mapping[str, Prefixes] = field(default_factory=dict)
    key: bytes | None = field(default=None, repr=False)
    return_paths: bool = False

    def allowed_in(self, vrf: str, version: int) -> Prefixes:
        """Those of IPv4, or of IPv6."""
        return tuple(one for one in self.allowed.get(vrf, ()) if one.version == version)


@dataclass(frozen=True, slots=True)
class Assignments:
    """All that srv6-stampd does."""

    reflector: ReflectorAssignment = ReflectorAssignment()
    sessions: Mapping[str, SessionAssignment] = field(default_factory=dict)


def beside(store: Path) -> Path:
    """Where the file is, given the store."""
    return store.with_name("stamp.json")


def readers() -> int | None:
    """The group of srv6-stampd; None where it runs as root."""
    try:
        return grp.getgrnam(_GROUP).gr_gid
    except KeyError:
        return None


def write(file: Path, found: Assignments, group: int | None) -> None:
    """Raises OSError."""
    publish_secret(file, encode(found), group)


def assignments(desired: Desired) -> Assignments:
    """Those of a configuration. A session is left out as long as a segment list of it, or its VRF,
    is not installed."""
    declared, lists = desired.path_measurement, desired.segment_lists
    sessions = {}
    for name, one in declared.sessions.items():
        if one.vrf is not None and one.vrf not in desired.vrfs:
            continue
        if not {one.segment_list, one.return_segment_list} <= {None, *lists}:
            continue
        there, back = (
            lists[each].segments if each is not None else ()
            for each in (one.segment_list, one.return_segment_list)
        )
        source = one.source
        if source is None and one.vrf is None and one.destination.version == 6:
            source = desired.encapsulation_source
        sessions[name] = SessionAssignment(one, source, there, back)
    in_vrfs = {name: a for name, a in declared.vrfs.items() if name in desired.vrfs}
    main = {"": declared.allowed} if declared.allowed else {}
    reflector = ReflectorAssignment(
        declared.port, {**main, **in_vrfs}, declared.key, declared.return_paths
    )
    return Assignments(reflector, sessions)


def encode(found: Assignments) -> dict[str, Any]:
    reflector = found.reflector
    return {
        "reflector": {
            "port": reflector.port,
            "allowed": {vrf: list(map(str, one)) for vrf, one in reflector.allowed.items()},
            "key": _hex(reflector.key),
            "return-paths": reflector.return_paths,
        },
        "sessions": [_encode(one) for one in found.sessions.values()],
    }


def _encode(one: SessionAssignment) -> dict[str, Any]:
    session, limits = one.session, one.session.thresholds
    return {
        "name": session.name,
        "destination": str(session.destination),
        "port": session.port,
        "source": _text(one.source),
        "vrf": session.vrf,
        "node-address": _text(session.node_address),
        "segments": [str(segment) for segment in one.segments],
        "return-segments": [str(segment) for segment in one.return_segments],
        "interval": session.interval,
        "measurement-interval": session.measurement_interval,
        "thresholds": [limits.delay, limits.jitter, limits.loss],
        "key": _hex(session.key),
    }


def _text(address: IPv4Address | IPv6Address | None) -> str | None:
    return str(address) if address is not None else None


def _hex(key: bytes | None) -> str | None:
    return key.hex() if key is not None else None


def decode(text: str) -> Assignments:
    """Raises ValueError, KeyError or TypeError for what srv6mgrd does not write."""
    found = json.loads(text)
    reflector, sessions = found["reflector"], map(_decode, found["sessions"])
    return Assignments(
        ReflectorAssignment(
            reflector["port"],
            {vrf: tuple(map(ip_network, one)) for vrf, one in reflector["allowed"].items()},
            _key(reflector["key"]),
            reflector["return-paths"],
        ),
        {one.session.name: one for one in sessions},
    )


def _decode(e: Mapping[str, Any]) -> SessionAssignment:
    session = Session(
        name=e["name"],
        destination=ip_address(e["destination"]),
        port=e["port"],
        interval=e["interval"],
        measurement_interval=e["measurement-interval"],
        thresholds=Thresholds(*e["thresholds"]),
        vrf=e["vrf"],
        node_address=_address(e["node-address"]),
        key=_key(e["key"]),
    )
    return SessionAssignment(
        session,
        _address(e["source"]),
        tuple(map(IPv6Address, e["segments"])),
        tuple(map(IPv6Address, e["return-segments"])),
    )


def _address(text: str | None) -> IPv4Address | IPv6Address | None:
    return ip_address(text) if text is not None else None


def _key(text: str | None) -> bytes | None:
    return bytes.fromhex(text) if text is not None else None
