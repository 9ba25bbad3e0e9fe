"""IS-IS of the underlay as declared."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Authentication:
    """A password; ``algorithm`` and ``snp`` are the YANG enums. Hellos have no ``snp``."""

    password: str = field(repr=False)
    algorithm: str = "md5"
    snp: str = "none"


@dataclass(frozen=True, slots=True)
class SpfDelay:
    """``/srv6/isis/ietf-spf-delay`` (RFC 8405), in milliseconds."""

    initial: int = 50
    short: int = 200
    long: int = 5000
    hold_down: int = 10000
    time_to_learn: int = 500


@dataclass(frozen=True, slots=True)
class LspTimers:
    """Of the router's own LSP, in seconds."""

    generation: int = 1
    refresh: int = 900
    lifetime: int = 1200


@dataclass(frozen=True, slots=True)
class Overload:
    """``/srv6/isis/overload``: the overload bit, always or for so many seconds from the start."""

    status: bool = False
    on_startup: int | None = None


@dataclass(frozen=True, slots=True)
class IsisInterface:
    """``/srv6/isis/interface``; ``metric`` None is FRR's own."""

    name: str
    passive: bool = False
    point_to_point: bool = False
    metric: int | None = None
    hello_interval: int = 3
    hello_multiplier: int = 3
    bfd: bool = False
    authentication: Authentication | None = None


@dataclass(frozen=True, slots=True)
class Isis:
    """``/srv6/isis``: IS-IS of the underlay. ``level`` is the YANG enum; ``locator`` the one
    that is advertised, ``additional_locators`` those that are as prefixes alone."""

    area: str
    system_id: str
    locator: str
    level: str = "level-2"
    interfaces: tuple[IsisInterface, ...] = ()
    additional_locators: tuple[str, ...] = ()
    timers: LspTimers = LspTimers()
    spf_delay: SpfDelay = SpfDelay()
    overload: Overload = Overload()
    area_authentication: Authentication | None = None
    domain_authentication: Authentication | None = None
