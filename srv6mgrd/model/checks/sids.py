"""Local SIDs: their place in the locator, and what XPath can't say of their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from srv6mgrd.model import names
from srv6mgrd.model.behavior import Flavor
from srv6mgrd.model.checks.locators import unroutable
from srv6mgrd.model.checks.overlap import overlaps, within
from srv6mgrd.model.csid import is_locator_itself, is_of_local_block
from srv6mgrd.model.desired import Desired, Locator, Sid
from srv6mgrd.model.paths import sid_path
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.reserved import DEFAULT_VRF_DEVICE, SID_DEVICE


def check(desired: Desired, passed: Desired | None = None) -> Iterator[Rejection]:
    fresh = _fresh(desired, passed)
    for sid in fresh:
        locator = desired.locators[sid.locator]
        if sid.flavors or not _has_function(sid.prefix, locator):
            yield from _place(sid, locator)
    if fresh:
        yield from _overlaps(desired)
        yield from _beside_locators(desired)
    for sid in fresh:
        if sid.next_hop is not None:
            yield from _next_hop(sid, sid.next_hop)
        if sid.interface is not None:
            yield from _interface(desired, sid)


def _fresh(desired: Desired, passed: Desired | None) -> list[Sid]:
    """SIDs that are not, with their locators, those that passed before."""
    sids = desired.sids
    if passed is None or passed.vrfs.keys() != desired.vrfs.keys():
        return list(sids.values())
    old = passed.sids
    changed = {n for n, loc in desired.locators.items() if passed.locators.get(n) is not loc}
    return [s for p, s in sids.items() if old.get(p) is not s or s.locator in changed]


def _has_function(sid: IPv6Network, locator: Locator) -> bool:
    """Whether ``_place`` has nothing to say of a SID without flavors: as of most of many."""
    return (
        sid.prefixlen >= locator.prefix.prefixlen + locator.function_length
        and within(sid, locator.prefix)
        and locator.function_of(sid) != 0
    )


def _place(sid: Sid, locator: Locator) -> Iterator[Rejection]:
    if Flavor.NEXT_CSID in sid.flavors and not locator.micro_segment:
        yield _rejection(
            sid,
            f"flavor next-csid needs a micro-segment locator, and {locator.name} is none",
            f"set micro-segment of locator {locator.name}, or remove the flavor",
            "sid-next-csid-locator",
        )
    if is_locator_itself(sid, locator):
        return
    if is_of_local_block(sid, locator):
        yield from _local(sid, locator)
        return
    if not within(sid.prefix, locator.prefix):
        yield _rejection(
            sid,
            f"it is outside locator {locator.name} ({locator.prefix})",
            "choose a SID in this prefix, or another locator",
            "sid-outside-locator",
        )
        return
    # RFC 8986 section 3.1: LOC:FUNCT; a shorter prefix would swallow other functions.
    shortest = locator.prefix.prefixlen + locator.function_length_of(sid.prefix)
    if sid.prefix.prefixlen < shortest:
        lengths = "/128" if shortest == 128 else f"/{shortest} or /128"
        if Flavor.NEXT_CSID in sid.flavors:
            lengths = f"/{shortest}"
        yield _rejection(
            sid,
            f"its prefix is shorter than locator and function of {locator.name} ({shortest})",
            f"write it as {lengths}",
            "sid-prefix-short",
        )
    elif locator.function_of(sid.prefix) == 0:
        yield _rejection(
            sid,
            "function 0 is the locator itself",
            "choose a function from 1",
            "sid-function-reserved",
        )
    elif Flavor.NEXT_CSID in sid.flavors:
        yield from _argument(sid, locator, shortest)


def _argument(sid: Sid, locator: Locator, length: int) -> Iterator[Rejection]:
    """The kernel shifts all that the prefix has behind the block out, and looks for the next C-SID
    in what is left (seg6_next_csid_advance_arg)."""
    if length % 8:
        # The length is the SID's own where the locator's function-length is 0.
        yield _rejection(
            sid,
            "with next-csid block and function are whole bytes (net/ipv6/seg6_local.c)",
            "write it with a length that is a multiple of 8",
            "sid-next-csid-length",
        )
    elif length >= sid.prefix.max_prefixlen:
        yield _rejection(
            sid,
            f"block, node and function of locator {locator.name} leave no bits for the next C-SID",
            "shorten function-length, or remove the flavor",
            "sid-next-csid-argument",
        )
    elif sid.prefix.prefixlen != length:
        yield _rejection(
            sid,
            f"with next-csid all but {length} bits are the C-SIDs that follow",
            f"write it as /{length}",
            "sid-next-csid-length",
        )


def _local(sid: Sid, locator: Locator) -> Iterator[Rejection]:
    length = locator.block_length + locator.function_length
    if not locator.function_length:
        length = sid.prefix.prefixlen
    if sid.prefix.prefixlen != length:
        yield _rejection(
            sid,
            f"it is in the block of locator {locator.name}, outside of {locator.prefix}, where a"
            f" SID is block and function ({length} bits)",
            f"write it as /{length}, or choose a SID in the locator's prefix",
            "sid-local-length",
        )
    elif sid.prefix.network_address == locator.block.network_address:
        yield _rejection(
            sid,
            "function 0 is the block itself",
            "choose a function from 1",
            "sid-function-reserved",
        )
    else:
        yield from _argument(sid, locator, length)


def _beside_locators(desired: Desired) -> Iterator[Rejection]:
    """A SID of the local block whose function is the node of a locator would take its packets."""
    for sid in desired.sids.values():
        if not sid.flavors or not is_of_local_block(sid, desired.locators[sid.locator]):
            continue
        for locator in desired.locators.values():
            if sid.prefix.overlaps(locator.prefix):
                yield _rejection(
                    sid,
                    f"its function is that of node {locator.prefix} of locator {locator.name}",
                    "choose a function that is no node of the block",
                    "sid-local-node",
                )


def _overlaps(desired: Desired) -> Iterator[Rejection]:
    functions = [
        s.prefix
        for s in desired.sids.values()
        if not is_locator_itself(s, desired.locators[s.locator])
    ]
    for outer, inner in overlaps(functions, lambda prefix: prefix):
        yield _rejection(
            desired.sids[inner],
            f"it overlaps SID {outer}",
            "give each SID a function of its own",
            "sid-overlap",
        )


def _next_hop(sid: Sid, next_hop: IPv4Address | IPv6Address) -> Iterator[Rejection]:
    if next_hop.is_link_local:
        # The kernel looks the next hop up, and a link-local address is on every link.
        if sid.interface is None:
            yield _rejection(
                sid,
                f"next-hop {next_hop} is link-local and does not say on which link",
                "add interface",
                "sid-interface-missing",
            )
    elif why := unroutable(next_hop):
        yield _rejection(
            sid,
            f"next-hop {next_hop} is {why}",
            "name the address of a neighbor",
            "next-hop-reserved",
        )


def _interface(desired: Desired, sid: Sid) -> Iterator[Rejection]:
    if why := taken(desired, sid.interface):
        yield _rejection(
            sid,
            f"interface {sid.interface} {why}",
            "name an interface towards the next hop or customer",
            "interface-reserved",
        )


def taken(desired: Desired, interface: str | None) -> str:
    """Why a SID or a route can't send out of this interface; empty when it can."""
    if interface == SID_DEVICE:
        return "carries the local SIDs"
    if interface == "lo":
        return "is the loopback"
    if interface in desired.vrfs or interface == DEFAULT_VRF_DEVICE:
        return "is a VRF"
    return ""


def _rejection(sid: Sid, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.sid(sid.prefix), cause, remedy, tag, sid_path(sid.prefix))
