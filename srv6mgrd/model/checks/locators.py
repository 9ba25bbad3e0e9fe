"""Locators and segment lists: prefixes that can be routed to."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from srv6mgrd.model import names
from srv6mgrd.model.checks.overlap import overlaps
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.paths import locator_path, segment_list_path
from srv6mgrd.model.rejection import Rejection


def check(desired: Desired) -> Iterator[Rejection]:
    for locator in desired.locators.values():
        if why := unroutable(locator.prefix):
            yield Rejection(
                names.locator(locator.name),
                f"prefix {locator.prefix} is {why}",
                "choose a prefix that is routed to this router",
                "locator-prefix-reserved",
                locator_path(locator.name),
            )
    for outer, inner in overlaps(desired.locators.values(), lambda loc: loc.prefix):
        yield Rejection(
            names.locator(inner.name),
            f"prefix {inner.prefix} overlaps {outer.prefix} of locator {outer.name}",
            "give each locator a prefix of its own",
            "locator-overlap",
            locator_path(inner.name),
        )
    for segments in desired.segment_lists.values():
        for segment in segments.segments:
            if why := unroutable(segment):
                yield Rejection(
                    names.segment_list(segments.name),
                    f"segment {segment} is {why}",
                    "name the SID of a router",
                    "segment-address-reserved",
                    segment_list_path(segments.name),
                )


def unroutable(where: IPv4Address | IPv6Address | IPv4Network | IPv6Network) -> str:
    """Why no packet can be sent there through a router; empty when it can."""
    if where.is_multicast:
        return "multicast"
    if where.is_link_local:
        return "link-local"
    if where.is_loopback:
        return "loopback"
    if where.is_unspecified:
        return "the unspecified address"
    return ""
