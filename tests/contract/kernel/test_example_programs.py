"""The programs of examples/bpf at End.BPF SIDs, compiled as the page on them says."""

from __future__ import annotations

import os
import platform
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path

import pytest

from lab.waiting import wait_until
from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.libbpf import Map
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.netlink import srh as segments
from srv6mgrd.netlink.errors import Failure
from tests.contract.kernel.test_forwarding import (
    INNER4,
    INNER6,
    IPV4,
    IPV6,
    PACKET6,
    ROUTING,
    SID,
    SOURCE,
    Router,
    destination,
    ipv4,
    ipv6,
    onward,
    router,
    sid,
    srh,
    through,
)

__all__ = ["onward", "router"]

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("onward")]

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/bpf"
TCP_NUMBER, UDP_NUMBER = 6, 17
HOP_BY_HOP, FRAGMENT, AUTHENTICATION, OPTIONS = 0, 44, 51, 60
AFTER = "fc00:6::6"


@dataclass(slots=True)
class Example:
    """A compiled program, pinned for a SID, and its map."""

    pin: str
    map: Map


def _load(tmp_path: Path, name: str, table: str, size: int) -> Iterator[Example]:
    if shutil.which("clang") is None:
        pytest.skip("needs clang; the lab has it")
    compiled = tmp_path / f"{name}.o"
    include = f"-I/usr/include/{platform.machine()}-linux-gnu"
    subprocess.run(
        ["clang", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "--target=bpf", "-mcpu=v3", include,
         "-c", EXAMPLES / f"{name}.bpf.c", "-o", compiled],
        check=True,
    )  # fmt: skip
    place = tmp_path / "bpf"
    place.mkdir()
    subprocess.run(["mount", "-t", "bpf", "bpf", place], check=True)
    try:
        loaded = libbpf.load(compiled, place)
        if isinstance(loaded, Failure):
            pytest.skip(f"no seg6local BPF programs: {loaded.message}")
        pin = place / "program"
        assert libbpf.pin({pin.name: loaded[name]}, place) is None
        os.close(loaded[name])
        fd = libbpf.pinned(place / table)
        assert fd is not None
        found = Map(fd, size)
        yield Example(str(pin), found)
        found.close()
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def _address(text: str) -> bytes:
    return bytes(16) if text == "::" else IPv6Address(text).packed


def rule(
    source: str, destination: str, protocol: int, port: int = 0, source_port: int = 0
) -> bytes:
    """A key of the filter's map."""
    ports = struct.pack("!HHB3x", source_port, port, protocol)
    return _address(source) + _address(destination) + ports


@pytest.fixture
def firewall(tmp_path: Path, router: Router) -> Iterator[Example]:
    for example in _load(tmp_path, "filter", "dropped", 8):
        router.put(sid(Behavior.END_BPF, bpf_program=example.pin))
        yield example


def datagram(port: int, source_port: int = 40000) -> bytes:
    return struct.pack("!HHHH", source_port, port, 8, 0xFFFF)


def v6(payload: bytes, protocol: int = UDP_NUMBER) -> bytes:
    return ipv6(SOURCE, str(SID), ROUTING,
                srh(IPV6, 1, AFTER, str(SID)) + ipv6(*INNER6, protocol, payload))  # fmt: skip


def extension(following: int) -> bytes:
    """Of eight octets: options, padded with PadN."""
    return struct.pack("!BBBB4x", following, 0, 1, 4)


def fragment(following: int, offset: int, *, more: bool) -> bytes:
    return struct.pack("!BBHI", following, 0, offset & ~7 | more, 1)


def authentication(following: int) -> bytes:
    return struct.pack("!BBHII12x", following, 4, 0, 1, 1)


def options(count: int, payload: bytes) -> bytes:
    """So many headers in front of a datagram; OPTIONS is the number of the first."""
    return extension(OPTIONS) * (count - 1) + extension(UDP_NUMBER) + payload


def v4(payload: bytes) -> bytes:
    return ipv6(SOURCE, str(SID), ROUTING, srh(IPV4, 1, AFTER, str(SID)) + ipv4(*INNER4, payload))


def inserted(payload: bytes, protocol: int = UDP_NUMBER) -> bytes:
    """As H.Insert makes it: the last segment is the destination."""
    return ipv6(INNER6[0], str(SID), ROUTING, srh(protocol, 1, INNER6[1], str(SID)) + payload)


MAPPED = tuple(f"::ffff:{address}" for address in INNER4)


@pytest.mark.parametrize(
    ("packet", "key"),
    [
        pytest.param(v6(datagram(53)), rule(*INNER6, UDP_NUMBER, 53, 40000), id="one flow"),
        pytest.param(v6(datagram(53)), rule(*INNER6, UDP_NUMBER, 53), id="any source port"),
        pytest.param(v6(datagram(53)), rule("::", INNER6[1], UDP_NUMBER, 53), id="any source"),
        pytest.param(v4(datagram(53)), rule(*MAPPED, UDP_NUMBER, 53), id="IPv4"),
        pytest.param(inserted(datagram(53)), rule(*INNER6, UDP_NUMBER, 53), id="inserted header"),
        pytest.param(
            v6(options(1, datagram(53)), OPTIONS), rule(*INNER6, UDP_NUMBER, 53), id="options"
        ),
        pytest.param(
            v6(options(6, datagram(53)), OPTIONS), rule(*INNER6, UDP_NUMBER, 53), id="six options"
        ),
        pytest.param(
            v6(fragment(UDP_NUMBER, 0, more=True) + datagram(53), FRAGMENT),
            rule(*INNER6, UDP_NUMBER, 53),
            id="first fragment",
        ),
        pytest.param(
            v6(fragment(UDP_NUMBER, 8, more=False) + datagram(53), FRAGMENT),
            rule(*INNER6, UDP_NUMBER),
            id="later fragment, any port",
        ),
        pytest.param(
            v6(
                extension(FRAGMENT) + fragment(OPTIONS, 0, more=True) + options(1, datagram(53)),
                HOP_BY_HOP,
            ),
            rule(*INNER6, UDP_NUMBER, 53),
            id="fragment between options",
        ),
        pytest.param(
            v6(srh(UDP_NUMBER, 0, INNER6[1]) + datagram(53), ROUTING),
            rule(*INNER6, UDP_NUMBER, 53),
            id="routing header",
        ),
        pytest.param(
            v6(authentication(UDP_NUMBER) + datagram(53), AUTHENTICATION),
            rule(*INNER6, UDP_NUMBER, 53),
            id="authentication",
        ),
        pytest.param(
            inserted(fragment(UDP_NUMBER, 0, more=True) + datagram(53), FRAGMENT),
            rule(*INNER6, UDP_NUMBER, 53),
            id="inserted header, first fragment",
        ),
    ],
)
def test_filter_drops(router: Router, firewall: Example, packet: bytes, key: bytes) -> None:
    assert firewall.map.put(key, bytes(8)) is None

    router.send(packet)

    wait_until(lambda: firewall.map.get(key) == struct.pack("=Q", 1), "a dropped packet")
    assert router.counted() == (0, 0, 1)


@pytest.mark.parametrize(
    "key",
    [
        rule(*INNER6, UDP_NUMBER, 54),
        rule(*INNER6, UDP_NUMBER, 53, 40001),
        rule(*INNER6, TCP_NUMBER, 53),
        rule(INNER6[1], INNER6[0], UDP_NUMBER, 53),
        rule(*MAPPED, UDP_NUMBER, 53),
    ],
    ids=["port", "source port", "protocol", "direction", "family"],
)
def test_filter_passes_what_differs(router: Router, firewall: Example, key: bytes) -> None:
    """To the next segment, as it is."""
    assert firewall.map.put(key, bytes(8)) is None
    packet = v6(datagram(53))

    router.send(packet)

    out = router.seen(lambda frame: datagram(53) in frame)[14:]
    assert destination(out) == IPv6Address(AFTER)
    assert out[40:43] + out[44:] == packet[40:43] + packet[44:]
    assert firewall.map.get(key) == bytes(8)
    assert router.counted()[0] == 1


@pytest.mark.parametrize(
    "packet",
    [
        pytest.param(v6(b"\0\0"), id="short"),
        pytest.param(
            v6(fragment(TCP_NUMBER, 0, more=True) + b"\0\0", FRAGMENT), id="short fragment"
        ),
        pytest.param(v6(options(7, datagram(53)), OPTIONS), id="seven options"),
        pytest.param(
            v6(srh(UDP_NUMBER, 1, INNER6[0], INNER6[1]) + datagram(53), ROUTING),
            id="segments left inside",
        ),
        pytest.param(
            inserted(fragment(IPV6, 8, more=False) + PACKET6, FRAGMENT), id="outer fragment"
        ),
    ],
)
def test_filter_drops_what_it_cannot_read(router: Router, firewall: Example, packet: bytes) -> None:
    router.send(packet)
    wait_until(lambda: router.counted() == (0, 0, 1), "a dropped packet")


def test_insert_goes_on_behind_the_policy(router: Router, tmp_path: Path) -> None:
    """Unlike the kernel's End.B6, which comes back to the SID."""
    for example in _load(tmp_path, "insert", "policies", 284):
        policy = segments.pack((IPv6Address("fc00:a::1"), IPv6Address(0)))
        value = struct.pack("=I", len(policy)) + policy
        assert example.map.put(bytes(4), value.ljust(284, b"\0")) is None
        router.put(sid(Behavior.END_BPF, bpf_program=example.pin))

        _, out = router.forward(through(last=AFTER))

        assert destination(out) == IPv6Address("fc00:a::1")
        # Behind the policy the packet's own list goes on, past this SID.
        assert out[40:80] == srh(ROUTING, 1, AFTER, "fc00:a::1")
        assert out[80:120] == srh(IPV6, 0, AFTER, str(SID))
        assert out[120:] == PACKET6
        assert router.counted()[0] == 1
