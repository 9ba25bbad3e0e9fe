"""Messages of the commit socket."""

from __future__ import annotations

import contextlib
import socket
import threading
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.commits.fields import Fields, ProtocolError, decode, encode, receive

NAMES = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=20)


@given(st.lists(st.tuples(NAMES, st.binary(max_size=200))))
def test_a_message_is_read_as_it_was_written(fields: list[tuple[str, bytes]]) -> None:
    assert list(decode(encode(fields)[4:]).all) == fields


@given(st.binary(max_size=100))
def test_any_bytes_are_a_message_or_an_error(body: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        decode(body)


def test_a_message_that_is_cut_off_is_an_error() -> None:
    whole = encode([("name", b"value")])[4:]
    for length in range(1, len(whole)):
        with pytest.raises(ProtocolError):
            decode(whole[:length])


def test_a_longer_message_than_the_limit_is_not_read() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(encode([("data", b"x" * 100)]))
        with pytest.raises(ProtocolError, match="exceed the limit of 50"):
            receive(ours, 50)


def test_a_closed_connection_has_no_message() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        theirs.sendall(encode([("data", b"x")])[:-1])
        theirs.close()
        assert receive(ours) is None


def sent(message: bytes) -> socket.socket:
    """A connection on which it arrives, then nothing."""
    ours, theirs = socket.socketpair()

    def send() -> None:
        with theirs, contextlib.suppress(OSError):
            theirs.sendall(message)

    threading.Thread(target=send).start()
    return ours


LARGE = b"x" * (8 << 20)


@pytest.mark.parametrize("timeout", [None, 20.0])
def test_a_large_message_is_read_as_it_was_written(timeout: float | None) -> None:
    fields = [("a", b""), ("data", LARGE), ("data", LARGE[:70_000]), ("b", b"1")]
    with sent(encode(fields)) as ours:
        ours.settimeout(timeout)
        found = receive(ours)
    assert found is not None
    assert list(found.all) == fields


def test_a_large_message_is_in_memory_once() -> None:
    message = encode([("data", LARGE)])
    tracemalloc.start()
    try:
        with sent(message) as ours:
            found = receive(ours)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found is not None
    assert most < 1.2 * len(LARGE)


def test_a_large_message_that_is_cut_off_or_wrong() -> None:
    message = encode([("data", LARGE)])
    with sent(message[:-1]) as ours:
        assert receive(ours) is None
    # The field says that it is longer than the message.
    at = 4 + 2 + len("data")
    with (
        sent(message[:at] + b"\x7f" + message[at + 1 :]) as ours,
        pytest.raises(ProtocolError, match="ends behind it"),
    ):
        receive(ours)


def test_a_message_has_a_limit_of_fields() -> None:
    """8 bytes each on the wire, 140 in memory."""
    with (
        sent(encode([("", b"")] * 600_000)) as ours,
        pytest.raises(ProtocolError, match="more than 500000 fields"),
    ):
        receive(ours)


@pytest.mark.parametrize("value", [b"x", b"-1", b"1234567890", "²".encode()])
def test_what_is_no_number(value: bytes) -> None:
    with pytest.raises(ProtocolError, match="field timeout: not a number"):
        Fields([("timeout", value)]).number("timeout", 1)


def test_a_field_may_repeat_or_be_absent() -> None:
    fields = Fields([("a", b"1"), ("b", b"2"), ("a", b"3")])
    assert fields.every("a") == ["1", "3"]
    assert fields.text("a") == "1"
    assert fields.number("c", 7) == 7
    assert not fields.has("c")
