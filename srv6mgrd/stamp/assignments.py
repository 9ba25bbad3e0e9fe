"""What srv6-stampd is to do: a file that srv6mgrd writes and srv6-stampd reads, so that the latter
needs no access to the configuration (docs/adr/0038)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

from srv6mgrd.model.desired import Desired
from srv6mgrd.model.path_measurement import PORT, Session, Thresholds


@dataclass(frozen=True, slots=True)
class SessionAssignment:
    """A session with what the rest of the configuration says of it."""

    session: Session
    source: IPv6Address | None = None
    segments: tuple[IPv6Address, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignments:
    """``port`` and ``allowed`` are the reflector's."""

    port: int = PORT
    allowed: tuple[IPv6Network, ...] = ()
    sessions: Mapping[str, SessionAssignment] = field(default_factory=dict)


def beside(store: Path) -> Path:
    """Where the file is, given the store."""
    return store.with_name("stamp.json")


def assignments(desired: Desired) -> Assignments:
    """Those of a configuration. A session whose segment list is not installed is left out."""
    declared, sessions = desired.path_measurement, {}
    for name, one in declared.sessions.items():
        segments: tuple[IPv6Address, ...] = ()
        if one.segment_list is not None:
            if one.segment_list not in desired.segment_lists:
                continue
            segments = desired.segment_lists[one.segment_list].segments
        source = one.source or desired.encapsulation_source
        sessions[name] = SessionAssignment(one, source, segments)
    return Assignments(declared.port, declared.allowed, sessions)


def encode(found: Assignments) -> dict[str, Any]:
    return {
        "port": found.port,
        "allowed": [str(one) for one in found.allowed],
        "sessions": [_encode(one) for one in found.sessions.values()],
    }


def _encode(one: SessionAssignment) -> dict[str, Any]:
    session, limits = one.session, one.session.thresholds
    return {
        "name": session.name,
        "destination": str(session.destination),
        "port": session.port,
        "source": str(one.source) if one.source is not None else None,
        "segments": [str(segment) for segment in one.segments],
        "interval": session.interval,
        "measurement-interval": session.measurement_interval,
        "thresholds": [limits.delay, limits.jitter, limits.loss],
    }


def decode(text: str) -> Assignments:
    """Raises ValueError, KeyError or TypeError for what srv6mgrd does not write."""
    found = json.loads(text)
    sessions = map(_decode, found["sessions"])
    return Assignments(
        found["port"],
        tuple(IPv6Network(one) for one in found["allowed"]),
        {one.session.name: one for one in sessions},
    )


def _decode(e: Mapping[str, Any]) -> SessionAssignment:
    source = IPv6Address(e["source"]) if e["source"] is not None else None
    session = Session(
        name=e["name"],
        destination=IPv6Address(e["destination"]),
        port=e["port"],
        interval=e["interval"],
        measurement_interval=e["measurement-interval"],
        thresholds=Thresholds(*e["thresholds"]),
    )
    return SessionAssignment(session, source, tuple(IPv6Address(s) for s in e["segments"]))
