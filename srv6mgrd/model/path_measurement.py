"""Path measurement as ``srv6mgr-path-measurement`` declares it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

# IANA: twamp-control; STAMP's by RFC 8762 section 4.1.
PORT = 862

Prefixes = tuple[IPv4Network | IPv6Network, ...]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """``session/thresholds``: delay and jitter in microseconds, loss in percent."""

    delay: int | None = None
    jitter: int | None = None
    loss: float | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """``path-measurement/session``: ``interval`` in ms, ``measurement_interval`` in seconds. With a
    ``key`` test packets are authenticated; ``return_segment_list`` and ``node_address`` are what
    RFC 9503 adds to them."""

    name: str
    destination: IPv4Address | IPv6Address
    port: int = PORT
    source: IPv4Address | IPv6Address | None = None
    segment_list: str | None = None
    interval: int = 100
    measurement_interval: int = 60
    thresholds: Thresholds = Thresholds()
    vrf: str | None = None
    node_address: IPv4Address | IPv6Address | None = None
    return_segment_list: str | None = None
    key: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class PathMeasurement:
    """``/srv6/path-measurement``. Senders outside of ``allowed``, and of ``vrfs`` in a VRF, are not
    answered; with a ``key`` none that does not have it."""

    port: int = PORT
    allowed: Prefixes = ()
    sessions: Mapping[str, Session] = field(default_factory=dict)
    vrfs: Mapping[str, Prefixes] = field(default_factory=dict)
    key: bytes | None = field(default=None, repr=False)
    return_paths: bool = False

    @property
    def answers(self) -> bool:
        """Whether somebody is answered."""
        return bool(self.allowed or self.vrfs)
