"""When counters are worth a dump."""

from __future__ import annotations

from srv6mgrd.kernel.traffic import Traffic, received


def test_a_packet_is_followed_by_two_dumps() -> None:
    came_in = iter([5, 5, 5, 7, 7, 7, 7])
    traffic = Traffic(lambda: next(came_in))
    assert [traffic.may_have_counted(0) for _ in range(7)] == [
        True,
        True,  # what was under way during the first one
        False,
        True,
        True,
        False,
        False,
    ]


def test_what_was_written_counts_from_0() -> None:
    traffic = Traffic(lambda: 5)
    assert [traffic.may_have_counted(writes) for writes in (0, 0, 0, 1, 1, 1)] == [
        True,
        True,
        False,
        True,
        True,
        False,
    ]


def test_a_kernel_that_does_not_tell() -> None:
    traffic = Traffic(lambda: None)
    assert all(traffic.may_have_counted(0) for _ in range(3))


def test_this_kernel_tells() -> None:
    assert received() is not None
