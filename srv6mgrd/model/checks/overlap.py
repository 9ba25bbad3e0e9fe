"""Prefixes within others, by number: ``ipaddress`` takes seconds for 100,000 of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from ipaddress import IPv6Network
from operator import itemgetter
from typing import TypeVar

from srv6mgrd.model.prefix import number

T = TypeVar("T")


def within(inner: IPv6Network, outer: IPv6Network) -> bool:
    """Whether every address of ``inner`` is in ``outer``."""
    shift = 128 - outer.prefixlen
    return inner.prefixlen >= outer.prefixlen and not ((number(inner) ^ number(outer)) >> shift)


def overlaps(items: Iterable[T], prefix_of: Callable[[T], IPv6Network]) -> Iterator[tuple[T, T]]:
    """Each item within another, with that other. Prefixes nest or lie apart, so in their order
    the last one that is in no other is the only one to compare with."""

    def place(item: T) -> tuple[int, int]:
        prefix = prefix_of(item)
        return number(prefix), prefix.prefixlen

    numbered = [(place(item), item) for item in items]
    numbered.sort(key=itemgetter(0))
    outer: T | None = None
    last = -1
    for (start, length), item in numbered:
        if outer is not None and start <= last:
            yield outer, item
        else:
            outer, last = item, start | ((1 << (128 - length)) - 1)
