"""Programs are attached to a device of ours that was made again by its new ifindex."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from srv6mgrd.kinds.accounting.kernel import TrafficAccounting
from srv6mgrd.kinds.accounting.object import RECEIVED, AccountingHook
from srv6mgrd.kinds.chain.kernel import ServiceFunctionChains
from srv6mgrd.kinds.chain.object import ClassifierHook
from srv6mgrd.kinds.kernel_kind import Host
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.proxy.kernel import ServiceProxies
from srv6mgrd.kinds.proxy.object import BACK_FUNCTION, ProxyHook
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.netlink import links
from srv6mgrd.netlink.links import Link
from srv6mgrd.plan.actions import Create

BEFORE, AFTER = (Link(number, "uplink.7", True, ethernet=True) for number in (5, 9))


class Contents(dict[bytes, bytes]):
    """A map."""

    def put(self, key: bytes, value: bytes) -> None:
        self[key] = value

    def items(self, size: int = 0) -> Iterator[tuple[bytes, bytes]]:  # type: ignore[override]
        yield from list(super().items())


class Maps:
    """Of whatever name, and empty."""

    def __getattr__(self, name: str) -> Contents:
        return Contents()


class Loaded:
    """Programs, and where they were hung."""

    def __init__(self) -> None:
        self.present = False
        self.hung: list[int] = []
        self.hooks = self

    def maps(self) -> Any:
        return Maps()

    def program(self, name: str) -> int:
        return os.open(os.devnull, os.O_RDONLY)

    def hang(self, ifindex: int, side: int, program: int) -> None:
        self.hung.append(ifindex)


@pytest.mark.parametrize(
    ("made", "hook"),
    [
        (ServiceFunctionChains, ClassifierHook("uplink.7", "tenant")),
        (ServiceProxies, ProxyHook("uplink.7", BACK_FUNCTION)),
        (TrafficAccounting, AccountingHook("uplink.7", RECEIVED)),
    ],
)
def test_hooks(made: Any, hook: Object, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Loaded()
    netlink = SimpleNamespace(read=lambda request: b"")
    monkeypatch.setattr(links, "decode", lambda body: AFTER)
    programs = cast("Any", loaded)
    kind = made(Host(cast("Any", netlink), Path("/"), programs, programs, programs))
    kind.dump(cast("Reader", SimpleNamespace(links=[BEFORE])))
    kind.wrote([Create(VlanDevice("uplink.7", "uplink", 7))], set())
    loaded.present = True
    adapter = next(part for part in vars(kind).values() if hasattr(part, "apply"))
    assert adapter.apply(Create(hook)) is None
    assert loaded.hung == [9]
