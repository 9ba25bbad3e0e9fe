"""Packets for proxies, and one program run over one packet (BPF_PROG_TEST_RUN)."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv6Address
from typing import Any

import cffi
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

SOURCE = "2001:db8:a::1"
SID = "fcbb:0:1:ad::1"
NEXT = "fcbb:0:2::"
LAST = "fcbb:0:3::"
MAC, OTHER_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
FRAME = Ether(dst=MAC, src=OTHER_MAC)

# What tc's programs answer: TC_ACT_UNSPEC, _OK, _SHOT, _REDIRECT.
NEXT_FILTER, STACK, DROP, REDIRECT = 0xFFFFFFFF, 0, 2, 7

_DECLARATIONS = """
struct bpf_test_run_opts {
    size_t sz;
    const void *data_in;
    void *data_out;
    uint32_t data_size_in;
    uint32_t data_size_out;
    const void *ctx_in;
    void *ctx_out;
    uint32_t ctx_size_in;
    uint32_t ctx_size_out;
    uint32_t retval;
    int repeat;
    uint32_t duration;
    uint32_t flags;
    uint32_t cpu;
    uint32_t batch_size;
    ...;
};
int bpf_prog_test_run_opts(int fd, struct bpf_test_run_opts *options);
"""
_ROOM = 1 << 16


def inner6(hop_limit: int = 64, **more: Any) -> Packet:
    return IPv6(src="2001:db8:1::1", dst="2001:db8:2::2", hlim=hop_limit, **more) / _datagram()


def inner4(ttl: int = 64) -> Packet:
    return IP(src="10.1.0.10", dst="10.2.0.10", ttl=ttl) / _datagram()


def _datagram() -> Packet:
    return UDP(sport=5000, dport=5001) / Raw(b"payload " * 4)


def routed(
    inner: Packet,
    segments: Sequence[str] = (SID, NEXT, LAST),
    *,
    at: int = 0,
    hop_limit: int = 64,
    **more: Any,
) -> Packet:
    """The inner packet or frame on its way to the segment ``at`` of a list, the first one first."""
    header = IPv6ExtHdrSegmentRouting(
        addresses=list(reversed(segments)),
        segleft=len(segments) - 1 - at,
        lastentry=len(segments) - 1,
        **({"nh": 143} if isinstance(inner, Ether) else {}),
        **more,
    )
    outer = IPv6(src=SOURCE, dst=segments[at], hlim=hop_limit)
    return FRAME / outer / header / inner


def built(packet: Packet) -> Packet:
    """With all that scapy computes filled in."""
    return packet.__class__(bytes(packet))


def left_of(packet: Packet) -> tuple[str, int]:
    """Destination and segments left of the outer header."""
    return str(IPv6Address(packet[IPv6].dst)), packet[IPv6ExtHdrSegmentRouting].segleft


class Runner:
    """Runs a program over a frame."""

    def __init__(self) -> None:
        self._ffi = cffi.FFI()
        self._ffi.cdef(_DECLARATIONS.replace("    ...;\n", ""))
        self._library: Any = self._ffi.dlopen("libbpf.so.1")

    def __call__(self, program: int, frame: bytes, *, context: bytes = b"") -> tuple[int, bytes]:
        """What the program answers, and the frame as it left it. Raises OSError when the kernel
        does not take the frame. ``context`` is a struct __sk_buff."""
        out = self._ffi.new("char[]", _ROOM)
        data = self._ffi.new("char[]", frame)
        options = self._ffi.new("struct bpf_test_run_opts *")
        options.sz = self._ffi.sizeof("struct bpf_test_run_opts")
        options.data_in, options.data_size_in = data, len(frame)
        options.data_out, options.data_size_out = out, _ROOM
        options.repeat = 1
        if context:
            given = self._ffi.new("char[]", context)
            options.ctx_in, options.ctx_size_in = given, len(context)
        if code := self._library.bpf_prog_test_run_opts(program, options):
            raise OSError(-code, "test run")
        return options.retval, bytes(self._ffi.buffer(out, options.data_size_out))
