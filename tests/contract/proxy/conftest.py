"""A node with an underlay, a function's link, and proxies as srv6mgrd writes them. Needs root, and
the compiled programs: the lab has them, on its own kernel and on the host's (`lab chroot`)."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import Any

import pytest
from scapy.packet import Packet

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.proxy.object import BACK_FUNCTION, TOWARD_FUNCTION, ProxyEntry, ProxyPrograms
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.proxy_state import ProxyCounts
from srv6mgrd.plan.actions import Create
from srv6mgrd.proxy.adapter import Proxies
from srv6mgrd.proxy.programs import OBJECT, Programs
from tests.contract.kernel.conftest import Run, namespace, run
from tests.contract.proxy.network import Network
from tests.contract.proxy.packets import MAC, OTHER_MAC, Runner

__all__ = ["namespace", "run"]

UNDERLAY, FUNCTION = "underlay", "function"
PREFIX = IPv6Network("fcbb:0:1:ad::/64")
NEXT_HOPS = {"ipv4": "10.9.0.2", "ipv6": "2001:db8:9::2", "ethernet": None}
# struct __sk_buff: ifindex, gso_segs, gso_size.
_CONTEXT, _IFINDEX, _GSO_SEGS, _GSO_SIZE = 192, 40, 164, 176


def proxy(behavior: Behavior = Behavior.END_AD, inner: str = "ipv6", **more: Any) -> ProxyEntry:
    hop = NEXT_HOPS[inner]
    static = {}
    if behavior is Behavior.END_AS:
        static = {
            "source": IPv6Address("2001:db8:5::5"),
            "segments": (IPv6Address("fcbb:0:7::"), IPv6Address("fcbb:0:8::")),
        }
    return ProxyEntry(
        prefix=more.pop("prefix", PREFIX),
        behavior=behavior,
        inner_type=inner,
        interface=FUNCTION,
        return_interface=FUNCTION,
        next_hop=ip_address(hop) if hop is not None else None,
        **{**static, **more},
    )


@dataclass(slots=True)
class Node:
    """The programs with the maps of one node."""

    kernel: LinuxKernel
    proxies: Proxies
    programs: Programs
    indexes: dict[str, int]
    runner: Runner

    def declare(self, *entries: ProxyEntry) -> None:
        assert self.kernel.apply([Create(entry) for entry in entries]) == []

    def toward(self, packet: Packet | bytes, gso: int = 0) -> tuple[int, bytes]:
        return self._run(TOWARD_FUNCTION, UNDERLAY, packet, gso)

    def back(self, packet: Packet | bytes, gso: int = 0) -> tuple[int, bytes]:
        return self._run(BACK_FUNCTION, FUNCTION, packet, gso)

    def _run(
        self, name: str, interface: str, packet: Packet | bytes, gso: int
    ) -> tuple[int, bytes]:
        program = self.programs.program(name)
        assert program is not None
        context = bytearray(_CONTEXT)
        struct.pack_into("=I", context, _IFINDEX, self.indexes[interface])
        if gso:
            struct.pack_into("=I", context, _GSO_SEGS, 2)
            struct.pack_into("=I", context, _GSO_SIZE, gso)
        try:
            return self.runner(program, bytes(packet), context=bytes(context))
        finally:
            os.close(program)

    def counts(self, prefix: IPv6Network = PREFIX) -> ProxyCounts:
        return self.proxies.states()[prefix].counts

    def chain(self) -> tuple[IPv6Address | None, tuple[IPv6Address, ...], int]:
        """What is restored at present: source, segments, when it was learned."""
        state = self.proxies.states()[PREFIX]
        return state.source, state.segments, state.learned


@pytest.fixture
def compiled() -> None:
    if not OBJECT.exists():
        pytest.skip(f"{OBJECT} is not compiled; run this in the lab")


@pytest.fixture
def programs(namespace: None, compiled: None) -> Iterator[Programs]:
    made = Programs(folder=Path(f"/sys/fs/bpf/test-{os.getpid()}"))
    yield made
    made.remove()


@pytest.fixture
def network(programs: Programs) -> Iterator[Network]:
    kernel = LinuxKernel(programs=programs)
    made = Network(kernel)
    try:
        made.build()
        yield made
    finally:
        made.take_down()
        kernel.close()


@pytest.fixture
def node(programs: Programs, run: Run) -> Iterator[Node]:
    with built(programs, run) as made:
        yield made


@contextmanager
def built(programs: Programs, run: Run) -> Iterator[Node]:
    """In the present network namespace."""
    for name, mac in ((UNDERLAY, MAC), (FUNCTION, MAC)):
        run(
            f"ip link add {name} address {mac} type veth peer name {name}-far address {OTHER_MAC};"
            f"ip link set {name} up; ip link set {name}-far up"
        )
    kernel = LinuxKernel(programs=programs)
    interfaces = dict(kernel.observe([]).interfaces)
    assert kernel.apply([Create(ProxyPrograms())]) == []
    yield Node(kernel, kernel._proxies, programs, interfaces, Runner())
    kernel.close()
