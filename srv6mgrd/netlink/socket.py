"""A netlink request socket: batches of writes with an answer per message, and whole dumps."""

from __future__ import annotations

import errno
import mmap
import os
import socket
import struct
import time
from collections.abc import Iterator, Sequence

from srv6mgrd.netlink import wire
from srv6mgrd.netlink.errors import Failure, KernelError

# Enough to hold the answers of a batch in which every message fails.
_BUFFER = 8 << 20
# asm-generic/socket.h: beyond net.core.[rw]mem_max, with CAP_NET_ADMIN.
_SO_SNDBUFFORCE = 32
_SO_RCVBUFFORCE = 33
# netlink_dump answers in datagrams of up to 32 KiB; what we read in one go may be larger.
_DATAGRAM = 1 << 20
# A dump that changes under the reader is taken again this many times.
_DUMP_TRIES = 10
_TIMEOUT_SECONDS = 30
# The kernel handles a send within one system call; half a thousand messages are where Python
# and the kernel are both as fast as they get.
BATCH = 500
# Seconds of the CPU that a send takes at most, by what messages of its type took before: a kernel
# without preemption runs nothing else on this CPU meanwhile, and devices take 1 ms each or more.
# The first send of a type has so many messages, none has fewer than the least.
_SEND_SECONDS, _FIRST, _LEAST = 0.02, 32, 16
_TYPE = struct.Struct("=4xH")


class NetlinkSocket:
    """Requests to one netlink family (NETLINK_ROUTE, NETLINK_GENERIC). Not thread-safe."""

    def __init__(self, family: int = wire.NETLINK_ROUTE) -> None:
        self._family = family
        self._socket = open_socket(family, _BUFFER)
        self._socket.setsockopt(
            socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", _TIMEOUT_SECONDS, 0)
        )
        self._socket.setsockopt(wire.SOL_NETLINK, wire.NETLINK_GET_STRICT_CHK, 1)
        # Words with a rejection; and don't echo the rejected request.
        self._socket.setsockopt(wire.SOL_NETLINK, wire.NETLINK_EXT_ACK, 1)
        self._socket.setsockopt(wire.SOL_NETLINK, wire.NETLINK_CAP_ACK, 1)
        self._socket.bind((0, 0))
        self._sequence = 0
        # Messages of a send, by the type of the first.
        self._sizes: dict[int, int] = {}
        # Of its pages those take memory that were ever needed; a bytearray takes all.
        self._buffer = mmap.mmap(-1, _DATAGRAM, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    @property
    def port(self) -> int:
        """Our port id: notifications of changes we made carry it."""
        port: int = self._socket.getsockname()[0]
        return port

    def close(self) -> None:
        self._socket.close()
        self._buffer.close()

    def write(self, requests: Sequence[bytes]) -> dict[int, Failure]:
        """Send requests in order; return the failures by position. The others are done.
        Raises KernelError when the socket fails.

        Messages after a failing one are carried out all the same (netlink_rcv_skb). When
        answers are lost, every request of that send is reported with ENOBUFS.
        """
        failures: dict[int, Failure] = {}
        start = 0
        while start < len(requests):
            (kind,) = _TYPE.unpack_from(requests[start])
            size = self._sizes.get(kind, _FIRST)
            some = requests[start : start + size]
            began = time.thread_time()
            for position, failure in self._send(some).items():
                failures[start + position] = failure
            self._sizes[kind] = _fitting(size, len(some), time.thread_time() - began)
            start += len(some)
        return failures

    def _send(self, requests: Sequence[bytes]) -> dict[int, Failure]:
        first = self._sequence + 1
        count = len(requests)
        if first + count > 0xFFFFFFFF:
            first = 1
        self._sequence = first + count - 1
        try:
            self._socket.send(number(requests, first))
            return self._answers(first, count)
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise KernelError(
                    "netlink", str(error), "check CAP_NET_ADMIN and memory"
                ) from error
            self._drain()
            lost = Failure(errno.ENOBUFS, "the kernel's answers were lost")
            return dict.fromkeys(range(count), lost)

    def transaction(self, begin: bytes, requests: Sequence[bytes], end: bytes) -> Failure | None:
        """Send requests that are carried out all or none (nfnetlink_rcv_batch); the first failure.
        Raises KernelError when the socket fails."""
        first = self._sequence + 1
        self._sequence += len(requests)
        # The batch itself is rejected under the number of its begin.
        packed = number([begin], first)
        struct.pack_into("=H", packed, 6, wire.NLM_F_REQUEST)
        packed += number(requests, first) + end
        try:
            self._socket.send(packed)
            failures = self._answers(first, len(requests))
        except OSError as error:
            raise KernelError("netlink", str(error), "check CAP_NET_ADMIN and memory") from error
        return failures[min(failures)] if failures else None

    def _answers(self, first: int, count: int) -> dict[int, Failure]:
        failures: dict[int, Failure] = {}
        last = first + count - 1
        while True:
            for kind, flags, sequence, body in wire.messages(self._receive()):
                # Anything else is a late answer to a request given up.
                if kind != wire.NLMSG_ERROR or not first <= sequence <= last:
                    continue
                if (failure := failure_of(body, flags)) is not None:
                    failures[sequence - first] = failure
                if sequence == last:
                    return failures

    def read(self, request: bytes) -> bytes | Failure:
        """The single answer to a request; its body, or why there is none."""
        try:
            return self._read(request)
        except OSError as error:
            raise KernelError("netlink", str(error), "check CAP_NET_ADMIN and memory") from error

    def _read(self, request: bytes) -> bytes | Failure:
        self._sequence += 1
        sequence = self._sequence
        self._socket.send(number([request], sequence))
        answer: bytes | Failure = b""
        while True:
            for kind, flags, got, body in wire.messages(self._receive()):
                if got != sequence:
                    continue
                if kind == wire.NLMSG_ERROR:
                    return failure_of(body, flags) or answer
                answer = bytes(body)

    def dump(self, request: bytes, *, comparable: bool = False) -> list[bytes]:
        """The datagrams of one uninterrupted dump; empty when there is nothing to walk.
        Those of a ``comparable`` one are the same bytes each time while nothing changes: its
        messages have one sequence number for good.

        Raises KernelError when the dump is rejected, or interrupted again and again.
        """
        for attempt in range(_DUMP_TRIES):
            try:
                # After a failure there may be answers under way that have that number.
                datagrams = self._dump(request, _COMPARABLE if comparable and not attempt else 0)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise KernelError("netlink dump", str(error), "check the kernel log") from error
                self._drain()
                continue
            if datagrams is not None:
                return datagrams
        raise KernelError(
            "netlink dump",
            f"interrupted by changes {_DUMP_TRIES} times in a row",
            "find what keeps changing links, rules or routes (ip monitor)",
        )

    def _dump(self, request: bytes, sequence: int) -> list[bytes] | None:
        if not sequence:
            self._sequence += 1
            sequence = self._sequence
        packed = number([request], sequence)
        # A dump ends with NLMSG_DONE; an acknowledgement would come on top of it.
        struct.pack_into("=H", packed, 6, wire.NLM_F_REQUEST | wire.NLM_F_DUMP)
        self._socket.send(packed)
        datagrams: list[bytes] = []
        interrupted = False
        while True:
            datagram = self._receive()
            flags, done = _scan(datagram, sequence)
            if flags is None:
                continue
            interrupted |= bool(flags & wire.NLM_F_DUMP_INTR)
            datagrams.append(datagram)
            if done is not None:
                # fib tables come and go with their routes: ENOENT is an empty table, and a
                # kernel without the family says EAFNOSUPPORT or EOPNOTSUPP.
                if done.errno and done.errno not in _EMPTY:
                    raise KernelError("netlink dump", done.message, "check kernel and permissions")
                return None if interrupted else datagrams

    def _drain(self) -> None:
        """Take what is left after an overrun: until nothing is, the kernel drops every further
        answer (NETLINK_S_CONGESTED, netlink_rcv_wake)."""
        while True:
            try:
                self._socket.recv_into(self._buffer, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise KernelError("netlink", str(error), "check the kernel log") from error

    def _receive(self) -> bytes:
        size = self._socket.recv_into(self._buffer)
        return bytes(memoryview(self._buffer)[:size])


# Above all that ``_send`` hands out.
_COMPARABLE = 0xFFFFFFFF
_EMPTY = frozenset({errno.ENOENT, errno.EAFNOSUPPORT, errno.EOPNOTSUPP})


def _fitting(size: int, sent: int, seconds: float) -> int:
    """How many messages to send next where ``size`` were allowed and so many took so long."""
    if seconds > _SEND_SECONDS:
        return max(_LEAST, int(sent * _SEND_SECONDS / seconds))
    if sent == size and seconds < _SEND_SECONDS / 2:
        return min(BATCH, 2 * size)
    return size


def open_socket(family: int, buffer: int) -> socket.socket:
    """An unbound netlink socket with large buffers, where we may."""
    made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, family)
    for force, plain in (
        (_SO_SNDBUFFORCE, socket.SO_SNDBUF),
        (_SO_RCVBUFFORCE, socket.SO_RCVBUF),
    ):
        try:
            made.setsockopt(socket.SOL_SOCKET, force, buffer)
        except PermissionError:
            made.setsockopt(socket.SOL_SOCKET, plain, buffer)
    return made


def number(requests: Sequence[bytes], first: int) -> bytearray:
    """Requests joined, with sequence numbers from ``first``; only the last asks for an answer.

    Rejections are answered anyhow, so one acknowledgement at the end confirms all the rest.
    """
    batch = bytearray().join(requests)
    size = len(requests[0])
    at = 0
    if len(batch) == size * len(requests) and all(len(r) == size for r in requests):
        # One layout: write each byte of all sequence numbers with one strided slice.
        numbers = struct.pack(f"={len(requests)}I", *range(first, first + len(requests)))
        for byte in range(4):
            batch[8 + byte :: size] = numbers[byte::4]
        at = len(batch) - size
    else:
        for sequence, request in enumerate(requests, first):
            struct.pack_into("=I", batch, at + 8, sequence)
            at += len(request)
        at -= len(requests[-1])
    (flags,) = struct.unpack_from("=H", batch, at + 6)
    struct.pack_into("=H", batch, at + 6, flags | wire.NLM_F_ACK)
    return batch


def failure_of(body: memoryview, flags: int) -> Failure | None:
    """Decode struct nlmsgerr; None for an acknowledgement."""
    (code,) = struct.unpack_from("=i", body)
    if not code:
        return None
    return Failure(-code, _message(body, flags) or os.strerror(-code))


def _message(body: memoryview, flags: int) -> str:
    if not flags & wire.NLM_F_ACK_TLVS:
        return ""
    # The rejected message follows the error: its header only when capped.
    start = 4 + wire.NLMSGHDR.size
    if not flags & wire.NLM_F_CAPPED:
        (length,) = struct.unpack_from("=I", body, 4)
        start = 4 + ((length + 3) & ~3)
    found = wire.attribute_map(body, start).get(wire.NLMSGERR_ATTR_MSG)
    return wire.text(found) if found is not None else ""


_HEAD = struct.Struct("=IHHI").unpack_from


def _scan(datagram: bytes, sequence: int) -> tuple[int | None, Failure | None]:
    """All flags of a dump's datagram, and how the dump ended if it ends here (errno 0: well).

    Flags are None when the datagram answers another request.
    """
    at, end, seen = 0, len(datagram), 0
    while at + 16 <= end:
        length, kind, flags, got = _HEAD(datagram, at)
        if got != sequence:
            return None, None
        seen |= flags
        if kind in (wire.NLMSG_DONE, wire.NLMSG_ERROR):
            (code,) = struct.unpack_from("=i", datagram, at + 16) if length >= 20 else (0,)
            message = ""
            if code:
                body = memoryview(datagram)[at + 16 : at + length]
                message = (
                    _done_message(body, flags) if kind == wire.NLMSG_DONE else _message(body, flags)
                )
            return seen, Failure(-code, message or os.strerror(-code))
        at += (length + 3) & ~3
    return seen, None


def _done_message(body: memoryview, flags: int) -> str:
    if not flags & wire.NLM_F_ACK_TLVS:
        return ""
    found = wire.attribute_map(body, 4).get(wire.NLMSGERR_ATTR_MSG)
    return wire.text(found) if found is not None else ""


def answers(datagrams: Sequence[bytes], kind: int) -> Iterator[memoryview]:
    """Bodies of the messages of one type in a dump."""
    for datagram in datagrams:
        for got, _, _, body in wire.messages(datagram):
            if got == kind:
                yield body
