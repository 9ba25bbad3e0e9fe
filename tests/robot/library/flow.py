"""A flow of echo requests, each answered or lost; runs on the node that sends.

``flow.py ADDRESS SECONDS_BETWEEN``: prints ``flowing`` after the first reply, sends until standard
input ends, waits for what is on its way, prints a Tally as JSON. Without a reply it ends soon.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import select
import socket
import struct
import sys
import time
from dataclasses import dataclass, field

# What has no reply is lost once none came for this long: a busy machine delays them all.
LATEST = 5.0
# A flow without one reply after this long does not begin.
FIRST = 10.0
# asm-generic/socket.h; net.core.rmem_max does not bound it.
_SO_RCVBUFFORCE = 33
_ECHO = struct.Struct("!BBHHH")
# Of request and reply.
_KINDS: dict[int, tuple[int, int]] = {socket.AF_INET: (8, 0), socket.AF_INET6: (128, 129)}


@dataclass(slots=True)
class Ledger:
    """What was sent and what came back, by number."""

    sent: int = 0
    duplicates: int = 0
    answered: set[int] = field(default_factory=set)

    def reply(self, number: int) -> None:
        """A reply; its number is of 16 bits, so it means the last packet that has it."""
        whole = self.sent - 1 - (self.sent - 1 - number) % 65536
        if whole in self.answered:
            self.duplicates += 1
        self.answered.add(whole)

    @property
    def complete(self) -> bool:
        return len(self.answered) == self.sent

    def tally(self, interval: float) -> Tally:
        lost = [number for number in range(self.sent) if number not in self.answered]
        longest = run = end = 0
        previous = None
        for number in lost:
            run = run + 1 if previous is not None and number == previous + 1 else 1
            if run > longest:
                longest, end = run, number + 1
            previous = number
        return Tally(
            self.sent,
            len(lost),
            self.duplicates,
            blocked=round(longest * interval, 3),
            since=round((end - longest) * interval, 3),
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """Result of a flow. ``blocked`` is the longest time in which all was lost, ``since`` when it
    began after the start of the flow, in seconds."""

    sent: int
    lost: int
    duplicates: int
    blocked: float
    since: float = 0


def checksum(data: bytes) -> int:
    """RFC 1071."""
    words: tuple[int, ...] = struct.unpack(f"!{(len(data) + 1) // 2}H", data + bytes(len(data) % 2))
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def request(family: int, ident: int, number: int) -> bytes:
    kind = _KINDS[family][0]
    number &= 0xFFFF
    bare = _ECHO.pack(kind, 0, 0, ident, number) + bytes(24)
    # The kernel fills in that of ICMPv6.
    total = checksum(bare) if family == socket.AF_INET else 0
    return _ECHO.pack(kind, 0, total, ident, number) + bare[_ECHO.size :]


def reply_number(family: int, ident: int, data: bytes) -> int | None:
    """Number of the reply to one of our requests; None for anything else."""
    offset = (data[0] & 15) * 4 if family == socket.AF_INET else 0
    if len(data) < offset + _ECHO.size:
        return None
    kind, _, _, theirs, number = _ECHO.unpack_from(data, offset)
    return number if kind == _KINDS[family][1] and theirs == ident else None


def following(due: float, now: float, interval: float) -> float:
    """When the next packet is due. A machine that stopped does not catch up: a burst of seconds
    is no flow, and its replies would find no room."""
    return max(due + interval, now)


def run(address: str, interval: float) -> Tally:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    protocol = socket.IPPROTO_ICMPV6 if family == socket.AF_INET6 else socket.IPPROTO_ICMP
    ident = os.getpid() & 0xFFFF
    book = Ledger()
    link = socket.socket(family, socket.SOCK_RAW, protocol)
    link.connect((address, 0))
    # Some thousand replies that wait while this process does not run.
    link.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 4 << 20)

    def collect(until: float, *others: int) -> bool:
        """Take replies until then; True when another descriptor has something."""
        watched: list[socket.socket | int] = [link, *others]
        while (left := until - time.monotonic()) > 0 and not (book.complete and not others):
            readable, _, _ = select.select(watched, [], [], left)
            if link in readable:
                number = reply_number(family, ident, link.recv(2048))
                if number is not None:
                    if not book.answered:
                        print("flowing", flush=True)
                    book.reply(number)
            if any(ready is not link for ready in readable):
                return True
        return False

    due = started = time.monotonic()
    while book.answered or due < started + FIRST:
        # Sent is sent, also where this node itself has no route.
        with contextlib.suppress(OSError):
            link.send(request(family, ident, book.sent))
        book.sent += 1
        due = following(due, time.monotonic(), interval)
        if collect(due, sys.stdin.fileno()):
            break
    answered = -1
    while answered < len(book.answered):
        answered = len(book.answered)
        collect(time.monotonic() + LATEST)
    return book.tally(interval)


if __name__ == "__main__":
    print(json.dumps(dataclasses.asdict(run(sys.argv[1], float(sys.argv[2])))), flush=True)
