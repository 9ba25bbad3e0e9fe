"""Broken and random packets: dropped and counted, or left alone. The kernel survives either."""

from __future__ import annotations

import random
import struct

import pytest
from scapy.layers.l2 import Ether

from srv6mgrd.model.behavior import Behavior
from tests.contract.proxy.conftest import Node, proxy
from tests.contract.proxy.packets import (
    DROP,
    FRAME,
    NEXT_FILTER,
    REDIRECT,
    STACK,
    inner4,
    inner6,
    routed,
)

pytestmark = pytest.mark.contract

ROUNDS = 1000
ANSWERS = {DROP, NEXT_FILTER, REDIRECT, STACK}
# Where the SRH is, and its fields.
SRH = 14 + 40
LENGTH, TYPE, LEFT, LAST_ENTRY = SRH + 1, SRH + 2, SRH + 3, SRH + 4
VARIANTS = [
    (Behavior.END_AD, "ipv6", inner6()),
    (Behavior.END_AD, "ipv4", inner4()),
    (Behavior.END_AD, "ethernet", FRAME / inner6()),
    (Behavior.END_AS, "ipv6", inner6()),
    (Behavior.END_AS, "ipv4", inner4()),
    (Behavior.END_AM, "ipv6", inner6()),
]
# Extension headers before the list: none, and as IOAM and Alternate Marking have them.
EXTENSIONS = {
    "list alone": b"",
    "with options": b"\x3c\0\x1e\4\0\0\0\0\x2b\1\x1e\x0c" + bytes(12),
}
HOP_BY_HOP = 0
# Lengths, and next headers: hop-by-hop options, routing, fragment, authentication, destination.
NUMBERS = (0, 1, 43, 44, 51, 60)


def changed(packet: Ether, *changes: tuple[int, int]) -> bytes:
    frame = bytearray(bytes(packet))
    for at, value in changes:
        frame[at] = value
    return bytes(frame)


@pytest.mark.parametrize(
    "frame",
    [
        changed(routed(inner6()), (TYPE, 2)),
        changed(routed(inner6()), (LEFT, 3)),
        changed(routed(inner6()), (LEFT, 255)),
        changed(routed(inner6()), (LAST_ENTRY, 3)),
        changed(routed(inner6()), (LENGTH, 0)),
        changed(routed(inner6()), (LENGTH, 5)),
        changed(routed(inner6()), (LENGTH, 255), (LAST_ENTRY, 15)),
    ],
    ids=["type", "left", "left 255", "last entry", "length 0", "length 5", "length 255"],
)
def test_a_broken_list_is_dropped_and_counted(node: Node, frame: bytes) -> None:
    node.declare(proxy())

    assert node.toward(frame)[0] == DROP
    assert node.counts().errors == 1


def extended(packet: Ether, extensions: bytes) -> bytes:
    """With these headers before the list, whose number the last of them has."""
    if not extensions:
        return bytes(packet)
    frame = bytearray(bytes(packet))
    frame[18:21] = struct.pack("!HB", len(frame) - SRH + len(extensions), HOP_BY_HOP)
    return bytes(frame[:SRH] + extensions + frame[SRH:])


@pytest.mark.parametrize("extensions", EXTENSIONS.values(), ids=EXTENSIONS)
@pytest.mark.parametrize(("behavior", "inner", "inside"), VARIANTS)
def test_a_truncated_packet_is_dropped(
    node: Node, behavior: Behavior, inner: str, inside: Ether, extensions: bytes
) -> None:
    node.declare(proxy(behavior, inner))
    whole = extended(routed(inside), extensions)
    assert node.toward(whole)[0] == REDIRECT

    for length in range(14 + 40, len(whole)):
        assert node.toward(whole[:length])[0] == DROP
    # Also one that does not say how long it was.
    for length in range(14 + 40, SRH + len(extensions) + 8 + 48):
        honest = whole[:18] + struct.pack("!H", length - 54) + whole[20:length]
        assert node.toward(honest)[0] == DROP
    assert node.counts().to_packets == 1


@pytest.mark.parametrize("extensions", EXTENSIONS.values(), ids=EXTENSIONS)
@pytest.mark.parametrize(("behavior", "inner", "inside"), VARIANTS)
def test_random_packets(
    node: Node, behavior: Behavior, inner: str, inside: Ether, extensions: bytes
) -> None:
    per_flow = behavior is Behavior.END_AD and bool(extensions)
    node.declare(proxy(behavior, inner, per_flow=per_flow))
    dice = random.Random(f"{behavior} {inner}")
    whole = extended(routed(inside), extensions)
    first = SRH + len(extensions)
    handled = 0
    for _ in range(ROUNDS):
        frame = bytearray(whole[: dice.randrange(14 + 40, len(whole) + 1)])
        for _ in range(dice.randrange(1, 6)):
            # Mostly in the SRH and the headers before it, where the decisions are.
            at = dice.randrange(14, len(frame))
            if dice.random() < 0.5:
                at = dice.randrange(SRH, first + 8)
            if at < len(frame):
                frame[at] = dice.choice((*NUMBERS, 255, dice.randrange(256)))
        before = node.counts()
        answer, out = node.toward(bytes(frame))
        after = node.counts()
        assert answer in ANSWERS
        if answer == NEXT_FILTER:
            assert out == bytes(frame)
            assert after == before
        elif answer == DROP:
            assert (after.errors, after.to_packets) == (before.errors + 1, before.to_packets)
            handled += 1
        else:
            assert after.to_packets == before.to_packets + 1
            handled += 1
        node.back(bytes(frame))
    assert handled > ROUNDS // 10
