"""SIDs that packets go on from without their functions, over maps that are made here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Network
from typing import cast

import pytest

from srv6mgrd.ebpf import libbpf
from srv6mgrd.kinds.proxy.object import ProxyEntry
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.netlink.links import Link
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Create, Delete
from srv6mgrd.proxy import layout
from srv6mgrd.proxy.adapter import Proxies
from srv6mgrd.proxy.layout import ProxyValue
from srv6mgrd.proxy.programs import Programs

SID = IPv6Network("fcbb:0:1:1000::/64")
ENTRY = ProxyEntry(SID, Behavior.END_AD, "ipv4", "fw", "fw", IPv4Address("10.9.0.2"), per_flow=True)
LINKS = [Link(1, SID_DEVICE, True), Link(2, "fw", True)]
# All links are known.
NO_NETLINK = cast("NetlinkSocket", None)


class Contents:
    """A map."""

    def __init__(self) -> None:
        self.of: dict[bytes, bytes] = {}

    def get(self, key: bytes, *, locked: bool = False) -> bytes | None:
        return self.of.get(key)

    def put(self, key: bytes, value: bytes, *, locked: bool = False) -> None:
        self.of[key] = value

    def delete(self, key: bytes) -> None:
        self.of.pop(key, None)

    def keys(self, size: int) -> Iterator[bytes]:
        return iter(list(self.of))


@dataclass
class Tables:
    nodes: Contents = field(default_factory=Contents)
    proxies: Contents = field(default_factory=Contents)
    chains: Contents = field(default_factory=Contents)
    passes: Contents = field(default_factory=Contents)
    counters: Contents = field(default_factory=Contents)
    flows: Contents = field(default_factory=Contents)
    flow_chains: Contents = field(default_factory=Contents)


class Loaded:
    """Programs whose maps are ``tables``. They are not there for ``observe``."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.present = False

    def maps(self) -> Tables:
        return self.tables


@pytest.fixture
def loaded() -> Loaded:
    return Loaded()


@pytest.fixture
def proxies(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> Proxies:
    monkeypatch.setattr(libbpf, "possible_cpus", lambda: 1)
    made = Proxies(NO_NETLINK, cast("Programs", loaded))
    list(made.observe(LINKS))
    loaded.present = True
    return made


def _is_bypassed(loaded: Loaded) -> bool:
    return ProxyValue.unpack(loaded.tables.proxies.of[layout.sid_key(SID)]).bypass


def test_one_that_is_made_anew_is_gone_on_from_still(proxies: Proxies, loaded: Loaded) -> None:
    """Its interface went and came again, and the function behind it does not work yet."""
    assert proxies.apply(Create(ENTRY)) is None
    assert proxies.bypass([SID]) is None
    assert _is_bypassed(loaded)
    proxies.apply(Delete(ENTRY))
    proxies.apply(Create(ENTRY))
    assert _is_bypassed(loaded)
    proxies.bypass([])
    assert not _is_bypassed(loaded)


def test_what_was_bypassed_before_a_restart_stays_so(proxies: Proxies, loaded: Loaded) -> None:
    proxies.apply(Create(ENTRY))
    proxies.bypass([SID])
    again = Proxies(NO_NETLINK, cast("Programs", loaded))
    loaded.present = False
    list(again.observe(LINKS))
    loaded.present = True
    again.apply(Create(ENTRY))
    assert _is_bypassed(loaded)
