"""Batches: numbered, acknowledged once, every rejection attributed."""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Callable

import pytest

from srv6mgrd.netlink import socket as netlink
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.errors import Failure, KernelError
from srv6mgrd.netlink.socket import NetlinkSocket, number


class Kernel:
    """In the place of the socket: answers each send as ``answer`` says."""

    def __init__(self, answer: Callable[[bytes], list[bytes | OSError]]) -> None:
        self._answer = answer
        self._queue: list[bytes | OSError] = []
        self.sent: list[bytes] = []

    def setsockopt(self, *_: object) -> None: ...
    def bind(self, _: object) -> None: ...

    def send(self, data: bytes) -> None:
        self.sent.append(bytes(data))
        self._queue += self._answer(bytes(data))

    def recv_into(self, buffer: bytearray, _: int = 0, flags: int = 0) -> int:
        if flags & socket.MSG_DONTWAIT and not self._queue:
            raise BlockingIOError
        item = self._queue.pop(0)
        if isinstance(item, OSError):
            raise item
        buffer[: len(item)] = item
        return len(item)


def connected(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[bytes], list[bytes | OSError]]
) -> tuple[NetlinkSocket, Kernel]:
    kernel = Kernel(answer)
    monkeypatch.setattr(netlink, "open_socket", lambda *_: kernel)
    return NetlinkSocket(), kernel


def rejection(sequence: int, code: int, message: str = "", *, capped: bool = True) -> bytes:
    echoed = wire.NLMSGHDR.pack(32, wire.RTM_NEWROUTE, 0, sequence, 0)
    body = struct.pack("=i", -code) + echoed + (b"" if capped else bytes(16))
    flags = wire.NLM_F_CAPPED if capped else 0
    if message:
        flags |= wire.NLM_F_ACK_TLVS
        body += wire.nla_text(wire.NLMSGERR_ATTR_MSG, message)
    head = wire.NLMSGHDR.pack(16 + len(body), wire.NLMSG_ERROR, flags, sequence, 0)
    return head + body


def requests_of(data: bytes | bytearray) -> list[tuple[int, int]]:
    """Sequence numbers and flags."""
    return [(sequence, flags) for _, flags, sequence, _ in wire.messages(memoryview(data))]


@pytest.mark.parametrize("sizes", [[8, 8, 8], [8, 12, 4]])
def test_numbers_and_asks_once(sizes: list[int]) -> None:
    packed = number([wire.message(24, 0, bytes(size)) for size in sizes], 0x01020304)
    ack = wire.NLM_F_REQUEST | wire.NLM_F_ACK
    assert requests_of(packed) == [
        (0x01020304, wire.NLM_F_REQUEST),
        (0x01020305, wire.NLM_F_REQUEST),
        (0x01020306, ack),
    ]


@pytest.mark.parametrize("capped", [True, False])
def test_rejections_by_position(monkeypatch: pytest.MonkeyPatch, capped: bool) -> None:
    def answer(data: bytes) -> list[bytes | OSError]:
        sequences = [s for s, _ in requests_of(data)]
        return [
            rejection(sequences[3], errno.EEXIST, capped=capped)
            + rejection(
                sequences[7], errno.EPERM, "Strict mode for VRF is disabled", capped=capped
            ),
            rejection(sequences[-1], 0),
        ]

    kernel, _ = connected(monkeypatch, answer)
    assert kernel.write([wire.message(24, 0, b"")] * 10) == {
        3: Failure(errno.EEXIST, "File exists"),
        7: Failure(errno.EPERM, "Strict mode for VRF is disabled"),
    }


def test_positions_across_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(data: bytes) -> list[bytes | OSError]:
        return [rejection(requests_of(data)[-1][0], errno.ENODEV)]

    kernel, seen = connected(monkeypatch, answer)
    taking(monkeypatch, lambda: 0.0)
    failures = kernel.write([wire.message(24, 0, b"")] * 1600)
    assert [len(requests_of(data)) for data in seen.sent] == [32, 64, 128, 256, 500, 500, 120]
    assert sorted(failures) == [31, 95, 223, 479, 979, 1479, 1599]


def test_a_send_of_what_takes_long_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel is not preempted, nothing else runs on this CPU meanwhile."""
    kernel, seen = connected(monkeypatch, lambda data: [rejection(requests_of(data)[-1][0], 0)])
    taking(monkeypatch, lambda: 0.0005 * len(requests_of(seen.sent[-1])))
    kernel.write([wire.message(wire.RTM_NEWRULE, 0, b"")] * 300)
    assert [len(requests_of(data)) for data in seen.sent] == [32, 32, *[32] * 7, 12]
    taking(monkeypatch, lambda: 0.005 * len(requests_of(seen.sent[-1])))
    seen.sent.clear()
    kernel.write([wire.message(wire.RTM_NEWRULE, 0, b"")] * 64)
    assert [len(requests_of(data)) for data in seen.sent] == [32, 16, 16]
    # Those of another type are not concerned.
    taking(monkeypatch, lambda: 0.0)
    seen.sent.clear()
    kernel.write([wire.message(wire.RTM_NEWROUTE, 0, b"")] * 96)
    assert [len(requests_of(data)) for data in seen.sent] == [32, 64]


def taking(monkeypatch: pytest.MonkeyPatch, seconds: Callable[[], float]) -> None:
    """What each send takes of the CPU, as the thread's clock has it."""
    now, ends = 0.0, False

    def thread_time() -> float:
        nonlocal now, ends
        now, ends = now + (seconds() if ends else 0.0), not ends
        return now

    monkeypatch.setattr(netlink.time, "thread_time", thread_time)


def test_late_answers_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(data: bytes) -> list[bytes | OSError]:
        ((sequence, _),) = requests_of(data)
        return [rejection(sequence + 50, errno.EIO) + rejection(sequence, 0)]

    kernel, _ = connected(monkeypatch, answer)
    assert kernel.write([wire.message(24, 0, b"")]) == {}


def test_lost_answers_fail_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, _ = connected(monkeypatch, lambda _: [OSError(errno.ENOBUFS, "")])
    failures = kernel.write([wire.message(24, 0, b"")] * 3)
    assert {f.errno for f in failures.values()} == {errno.ENOBUFS}
    assert sorted(failures) == [0, 1, 2]


def test_what_is_left_after_an_overrun_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = OSError(errno.ENOBUFS, "")
    left = [rejection(1, errno.EEXIST), lost, rejection(2, errno.EEXIST)]
    answers = [[lost, *left], [OSError(errno.EIO, "")]]
    kernel, seen = connected(monkeypatch, lambda _: list(answers[len(seen.sent) - 1]))
    kernel.write([wire.message(24, 0, b"")] * 3)
    with pytest.raises(KernelError):
        kernel.write([wire.message(24, 0, b"")])
    assert len(seen.sent) == 2


def dump_answer(
    interrupted: int, code: int = 0
) -> tuple[Callable[[bytes], list[bytes | OSError]], list[int]]:
    calls: list[int] = []

    def answer(data: bytes) -> list[bytes | OSError]:
        ((sequence, flags),) = requests_of(data)
        assert flags == wire.NLM_F_REQUEST | wire.NLM_F_DUMP
        calls.append(sequence)
        bad = wire.NLM_F_DUMP_INTR if len(calls) <= interrupted else 0
        first = wire.NLMSGHDR.pack(16, 16, wire.NLM_F_MULTI | bad, sequence, 0)
        done = wire.NLMSGHDR.pack(20, wire.NLMSG_DONE, wire.NLM_F_MULTI, sequence, 0)
        return [first, done + struct.pack("=i", -code)]

    return answer, calls


def test_interrupted_dump_is_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, calls = dump_answer(2)
    kernel, _ = connected(monkeypatch, answer)
    assert len(kernel.dump(wire.message(wire.RTM_GETLINK, 0, b""))) == 2
    assert len(calls) == 3


def test_dump_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, calls = dump_answer(1000)
    kernel, _ = connected(monkeypatch, answer)
    with pytest.raises(KernelError, match="interrupted"):
        kernel.dump(wire.message(wire.RTM_GETLINK, 0, b""))
    assert 2 < len(calls) < 50


def test_dump_of_a_missing_table_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, _ = connected(
        monkeypatch, lambda data: [rejection(requests_of(data)[0][0], errno.ENOENT, "no table")]
    )
    datagrams = kernel.dump(wire.message(wire.RTM_GETROUTE, 0, b""))
    assert list(netlink.answers(datagrams, wire.RTM_NEWROUTE)) == []


def test_rejected_dump(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, _ = dump_answer(0, errno.EINVAL)
    kernel, _ = connected(monkeypatch, answer)
    with pytest.raises(KernelError, match="Invalid argument"):
        kernel.dump(wire.message(wire.RTM_GETROUTE, 0, b""))
