"""The lock on the running configuration."""

from __future__ import annotations

from srv6mgrd.commits.locks import Caller, Locks

ALICE = Caller("srv6-netconfd", "alice", "4", "192.0.2.1")


def test_one_holder_is_named_to_the_others() -> None:
    locks = Locks()
    assert locks.take(1, ALICE, 0) is None
    held = locks.take(2, Caller("srv6-gnmid"), 5)
    expected = "srv6-netconfd session 4 of alice from 192.0.2.1 since 00:00:00 UTC"
    assert str(held) == expected
    assert locks.in_way_of(1) is None
    assert str(locks.in_way_of(2)) == expected


def test_only_its_holder_releases_it() -> None:
    locks = Locks()
    locks.take(1, ALICE, 0)
    assert not locks.release(2)
    assert locks.release(1)
    assert not locks.release(1)
    assert locks.take(2, ALICE, 0) is None
