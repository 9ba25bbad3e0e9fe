"""Dumps of a kernel at hand, for kinds to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from srv6mgrd.kinds.kernel_kind import Host, KernelKind
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.netlink.links import Link
from srv6mgrd.plan.observed import ObservedObject

# Kinds that only read need no socket.
HOST = Host(cast(Any, None), Path("/proc/sys"))


class Dumped(Reader):
    """Gives out these datagrams at the first request, and nothing at others."""

    def __init__(self, datagrams: Sequence[bytes], links: Sequence[Link]) -> None:
        super().__init__(HOST.netlink, [])
        self._left = list(datagrams)
        self._links = links

    def dump(self, request: bytes, *, comparable: bool = False) -> list[bytes]:
        left, self._left = self._left, []
        return left

    @cached_property
    def links(self) -> Sequence[Link]:
        return self._links


def read(
    kinds: Sequence[KernelKind], datagrams: Sequence[bytes], devices: Mapping[int, str]
) -> list[ObservedObject]:
    """What these kinds find."""
    return read_of(
        kinds, datagrams, [Link(index, name, up=True) for index, name in devices.items()]
    )


def read_of(
    kinds: Sequence[KernelKind], datagrams: Sequence[bytes], links: Sequence[Link]
) -> list[ObservedObject]:
    reader = Dumped(datagrams, links)
    decoders = [kind.dump(reader) for kind in kinds]
    return [item for decode in decoders for item in decode().values()]
