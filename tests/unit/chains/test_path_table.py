"""Paths and the states of functions, over maps that are made here."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from ipaddress import IPv6Address
from types import SimpleNamespace
from typing import cast

import pytest

from srv6mgrd.chains import layout
from srv6mgrd.chains.names import NameTable
from srv6mgrd.chains.path_table import PathTable
from srv6mgrd.chains.programs import Maps
from srv6mgrd.ebpf import libbpf
from srv6mgrd.kinds.chain.object import ServicePath
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import FunctionState, Way
from srv6mgrd.netlink.errors import Failure

SID = IPv6Address("fcbb::1")
UP, DOWN = FunctionState.UP, FunctionState.DOWN


class Contents(dict[bytes, bytes]):
    """A map, which has room for so many elements."""

    room = 1000

    def put(self, key: bytes, value: bytes) -> Failure | None:
        if key not in self and len(self) >= self.room:
            return Failure(errno.E2BIG, "Argument list too long")
        self[key] = value
        return None

    def delete(self, key: bytes) -> None:
        self.pop(key, None)

    def items(self, size: int = 0) -> Iterator[tuple[bytes, bytes]]:  # type: ignore[override]
        yield from [(key, self[key]) for key in self]


@pytest.fixture
def maps(monkeypatch: pytest.MonkeyPatch) -> Maps:
    monkeypatch.setattr(libbpf, "possible_cpus", lambda: 1)
    names = "names selectors paths path_records path_counts drop_counts places usable states"
    return cast("Maps", SimpleNamespace(**{name: Contents() for name in names.split()}))


def test_states_that_were_written_take_effect_once_all_could_be(maps: Maps) -> None:
    table = PathTable(maps, NameTable(maps.names))
    for chain, function in (("web", "firewall"), ("mail", "scanner")):
        path = ServicePath(chain, Way.FORWARD, Family.IPV4, (function,), (SID,), SID)
        assert table.put(path) is None
    assert table.settle() is None
    states = cast("Contents", maps.states)
    states.room = 1
    down = {"firewall": DOWN, "scanner": DOWN}
    assert table.set_states(down) is not None
    states.room = 2
    assert table.set_states(down) is None
    for _, value in maps.selectors.items(layout.NUMBER_SIZE):
        assert not any(value[8:])
