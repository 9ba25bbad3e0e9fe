"""Neighbors as the kernel reports them."""

import resource
import socket
import struct
from ipaddress import ip_address

import pytest

from srv6mgrd.netlink.adjacencies import KernelNeighbors, usable

LLADDR = bytes.fromhex("020000000001")


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def neighbor(address: str, state: int, lladdr: bytes = LLADDR) -> memoryview:
    """Body of an RTM_NEWNEIGH on interface 7 (struct ndmsg, then attributes)."""
    raw = ip_address(address).packed
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    body = struct.pack("=BxxxiHBB", family, 7, state, 0, 1) + attribute(1, raw)
    return memoryview(body + (attribute(2, lladdr) if lladdr else b""))


@pytest.mark.parametrize("state", [0x02, 0x04, 0x08, 0x10, 0x80])
@pytest.mark.parametrize("address", ["10.0.0.1", "fe80::1"])
def test_one_that_packets_can_go_to(address: str, state: int) -> None:
    assert list(usable([neighbor(address, state)])) == [(address, 7, "02:00:00:00:00:01")]


@pytest.mark.parametrize("state", [0x00, 0x01, 0x20, 0x40])
def test_one_that_is_not_resolved(state: int) -> None:
    assert not list(usable([neighbor("fe80::1", state)]))


def test_one_without_a_link_layer_address() -> None:
    assert not list(usable([neighbor("fe80::1", 0x02, b"")]))


def test_reading_needs_no_further_descriptor() -> None:
    neighbors = KernelNeighbors()
    _, hard = before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        assert isinstance(neighbors.read(), list)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        neighbors.close()
