"""A line of routers for ping and trace, with a clock of its own: a probe is answered as soon as
somebody listens, or never."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from srv6mgrd.cli.oam import reply
from srv6mgrd.cli.oam.probe import Echo
from srv6mgrd.cli.oam.reply import Kind, Reply
from srv6mgrd.cli.oam.target import Options, Target

# What a network does with a packet: the answers to it.
Answering = Callable[[bytes], list[Reply]]


@dataclass
class FakeNetwork:
    """``clock`` and ``sleep`` are those for what is tested."""

    answering: Answering
    now: float = 0.0
    delay: float = 0.001
    sent: list[bytes] = field(default_factory=list)
    problem: OSError | None = None
    _coming: list[Reply] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def send(self, data: bytes, vrf: str) -> None:
        if self.problem is not None:
            raise self.problem
        self.sent.append(data)
        self._coming += self.answering(data)

    def receive(self, timeout: float) -> Reply | None:
        if not self._coming:
            self.now += timeout
            return None
        self.now += self.delay
        return self._coming.pop(0)

    def close(self) -> None:
        """Nothing is open."""


def echo_reply(data: bytes) -> list[Reply]:
    """Of the last segment, whatever the hop limit."""
    about = reply.of_icmp(bytes([3, 0, 0, 0, 0, 0, 0, 0]) + data, IPv6Address("::1"))
    assert about is not None
    assert about.quoted is not None
    at = about.quoted.segments[-1] if about.quoted.segments else about.quoted.destination
    return [Reply(Kind.ECHO_REPLY, at, about.ident, about.sequence)]


class FakeResolver:
    """Every target is an address."""

    def target(self, text: str, options: Options) -> Target:
        address = IPv6Address(text)
        probe = Echo(IPv6Address("2001:db8::1"), (*options.segments, address), options.size)
        return Target(((probe,),), address)

    def close(self) -> None:
        """Nothing is open."""
