"""IS-IS of the underlay: isisd's lines.

isisd takes the locator from zebra, as bgpd takes the one that it composes SIDs of: the same, but
for the time in which exports move to another one.
"""

from __future__ import annotations

from collections.abc import Mapping

from srv6mgrd.frr.blocks import ISISD, MGMTD, block
from srv6mgrd.frr.neighbors import address
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.checks import SID_DEVICE
from srv6mgrd.model.desired import Locator
from srv6mgrd.model.isis import Authentication, Isis, IsisInterface, LspTimers, SpfDelay
from srv6mgrd.model.status import Kind, ObjectRef

# Name of our instance; others on the router are the operator's.
TAG = "srv6mgr"
# What isisd does when nothing is said, and does not print.
_METRIC = 10
_HELLO_INTERVAL, _HELLO_MULTIPLIER = 3, 10
_TIMERS = LspTimers(generation=30, refresh=900, lifetime=1200)
_LEVELS = {"level-1": ["is-type level-1"], "level-2": ["is-type level-2-only"], "level-1-2": []}


# Marks the routes of ours for isisd to advertise. Mnemonic: RFC 8986.
_TAG = 8986
_ROUTE_MAP = f"{TAG}-additional-locators"


def blocks(isis: Isis, locators: Mapping[str, Locator]) -> list[FrrBlock]:
    """isisd's part, in exactly the lines that FRR 10.3 prints it with, and routes of staticd."""
    root = f"router isis {TAG}"
    # The End SID of the locator that isisd advertises uses our device, not a ``sr0``.
    srv6 = [f"locator {isis.locator}", f"interface {SID_DEVICE}"]
    return [
        *_additional(isis, locators),
        *(block(ISISD, (f"interface {i.name}",), _interface(i)) for i in isis.interfaces),
        block(ISISD, (root,), _instance(isis)),
        block(ISISD, (root, "segment-routing srv6"), srv6),
    ]


def _additional(isis: Isis, locators: Mapping[str, Locator]) -> list[FrrBlock]:
    """isisd has one SRv6 Locator TLV; else it gives out prefixes of interfaces and of routes. Such
    a route ends what is for no SID of the locator, which would else follow a default route."""
    found = []
    for name in isis.additional_locators:
        prefix = locators[name].prefix
        route = f"ipv6 route {address(prefix.network_address)}/{prefix.prefixlen}"
        serves = (ObjectRef(Kind.LOCATOR, name),)
        found.append(block(MGMTD, (route,), [f"blackhole tag {_TAG}"], serves))
    if found:
        found.append(block(ISISD, (f"route-map {_ROUTE_MAP} permit 10",), [f"match tag {_TAG}"]))
    return found


def _instance(isis: Isis) -> list[str]:
    lines = [*_LEVELS[isis.level], _timers(isis.timers), _spf_delay(isis.spf_delay)]
    if isis.overload.status:
        lines.append("set-overload-bit")
    if isis.overload.on_startup is not None:
        lines.append(f"set-overload-bit on-startup {isis.overload.on_startup}")
    if isis.area_authentication is not None:
        lines.append(f"area-password {_password(isis.area_authentication)}")
    if isis.domain_authentication is not None:
        lines.append(f"domain-password {_password(isis.domain_authentication)}")
    if isis.additional_locators:
        levels = ("level-1", "level-2") if isis.level == "level-1-2" else (isis.level,)
        lines += [f"redistribute ipv6 static {level} route-map {_ROUTE_MAP}" for level in levels]
    # The first LSP is made upon the NET, with all of this; isisd looks only then at how long it
    # has the overload bit from the start (lsp_generate, device_startup).
    return [*filter(None, lines), f"net {isis.area}.{isis.system_id}.00"]


def _timers(timers: LspTimers) -> str:
    """One line for all: isisd judges each change at once, and wants them to fit together."""
    if timers == _TIMERS:
        return ""
    return (
        f"lsp-timers gen-interval {timers.generation} refresh-interval {timers.refresh}"
        f" max-lifetime {timers.lifetime}"
    )


def _spf_delay(delay: SpfDelay) -> str:
    return (
        f"spf-delay-ietf init-delay {delay.initial} short-delay {delay.short}"
        f" long-delay {delay.long} holddown {delay.hold_down}"
        f" time-to-learn {delay.time_to_learn}"
    )


def _password(authentication: Authentication) -> str:
    words = f"{authentication.algorithm} {authentication.password}"
    snp = authentication.snp
    return words if snp == "none" else f"{words} authenticate snp {snp}"


def _interface(interface: IsisInterface) -> list[str]:
    lines = [f"ipv6 router isis {TAG}"]
    if interface.metric not in (None, _METRIC):
        lines.append(f"isis metric {interface.metric}")
    if interface.point_to_point:
        lines.append("isis network point-to-point")
    if interface.passive:
        return [*lines, "isis passive"]
    if interface.hello_interval != _HELLO_INTERVAL:
        lines.append(f"isis hello-interval {interface.hello_interval}")
    if interface.hello_multiplier != _HELLO_MULTIPLIER:
        lines.append(f"isis hello-multiplier {interface.hello_multiplier}")
    if interface.bfd:
        lines.append("isis bfd")
    if interface.authentication is not None:
        lines.append(f"isis password {_password(interface.authentication)}")
    return lines
