"""Service proxies: a returning packet has to show which proxy it belongs to."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks.locators import unroutable
from srv6mgrd.model.checks.sids import taken
from srv6mgrd.model.desired import Desired, Proxy, Sid
from srv6mgrd.model.paths import sid_path
from srv6mgrd.model.rejection import Rejection


def check(desired: Desired) -> Iterator[Rejection]:
    ports = {i: vrf.name for vrf in desired.vrfs.values() for i in vrf.interfaces}
    for sid in desired.sids.values():
        if sid.behavior.is_proxy and sid.proxy is None:
            yield _rejection(
                sid,
                f"{sid.behavior} has a function behind it",
                "add proxy with inner-type, interface and next-hop",
                "sid-proxy-missing",
            )
    proxies = [(sid, sid.proxy) for sid in desired.sids.values() if sid.proxy is not None]
    for sid, proxy in proxies:
        for leaf, interface in _interfaces(proxy):
            why = taken(desired, interface)
            if not why and interface in ports:
                why = f"is in VRF {ports[interface]}"
            if why:
                yield _rejection(
                    sid,
                    f"{leaf} {interface} {why}",
                    "name an interface of the function alone",
                    "proxy-interface",
                )
        hop = proxy.next_hop
        # Link-local will do, since the interface is named.
        if hop is not None and not hop.is_link_local and (why := unroutable(hop)):
            yield _rejection(
                sid,
                f"next-hop {hop} is {why}",
                "name the address of the function",
                "next-hop-reserved",
            )
    yield from _returns(proxies)
    yield from _mtus(proxies)


def _interfaces(proxy: Proxy) -> list[tuple[str, str]]:
    found = [("interface", proxy.interface)]
    if proxy.return_interface != proxy.interface:
        found.append(("return-interface", proxy.return_interface))
    return found


def _returns(proxies: list[tuple[Sid, Proxy]]) -> Iterator[Rejection]:
    """End.AS and End.AD know their packets by interface and inner type alone; Ethernet takes every
    frame. End.AM packets bring their own segment list, so that many can share an interface."""
    users: dict[tuple[str, str], Sid] = {}
    shared: dict[str, Sid] = {}
    for sid, proxy in sorted(proxies, key=lambda p: p[0].prefix):
        if sid.behavior is Behavior.END_AM:
            shared.setdefault(proxy.return_interface, sid)
            continue
        if (first := users.setdefault((proxy.return_interface, proxy.inner_type), sid)) is not sid:
            yield _shared(sid, proxy, f"{proxy.inner_type} traffic from", first)
    for (interface, inner_type), sid in users.items():
        if inner_type == "ethernet":
            others = [users.get((interface, t)) for t in ("ipv4", "ipv6")]
            for other in (*others, shared.get(interface)):
                if other is not None and other.proxy is not None:
                    yield _shared(other, other.proxy, "every frame from", sid)


def _mtus(proxies: list[tuple[Sid, Proxy]]) -> Iterator[Rejection]:
    """A link has one MTU, for all proxies that share it."""
    given: dict[str, tuple[Sid, int]] = {}
    for sid, proxy in sorted(proxies, key=lambda p: p[0].prefix):
        if proxy.mtu is None:
            continue
        for _, interface in _interfaces(proxy):
            first, mtu = given.setdefault(interface, (sid, proxy.mtu))
            if mtu != proxy.mtu:
                yield _rejection(
                    sid,
                    f"mtu {proxy.mtu} of {interface} is {mtu} for SID {first.prefix}",
                    "declare one mtu for an interface",
                    "proxy-mtu-differs",
                )


def _shared(sid: Sid, proxy: Proxy, what: str, first: Sid) -> Rejection:
    return _rejection(
        sid,
        f"{what} {proxy.return_interface} belongs to SID {first.prefix} ({first.behavior})",
        "give each proxy a return-interface of its own, such as a VLAN",
        "proxy-return-interface-in-use",
    )


def _rejection(sid: Sid, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.sid(sid.prefix), cause, remedy, tag, sid_path(sid.prefix))
