"""Frames survive any cutting of the stream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.link import HEADER, LONGEST, Frame, Kind, Unpacker, message

FRAMES = st.lists(
    st.builds(
        Frame, st.integers(0, 2**32 - 1), st.sampled_from(list(Kind)), st.binary(max_size=40)
    ),
    max_size=6,
)


@given(FRAMES, st.integers(1, 17))
def test_unpacks_what_was_packed(frames: list[Frame], step: int) -> None:
    stream = b"".join(frame.packed() for frame in frames)
    unpacker = Unpacker()
    found = []
    for start in range(0, len(stream), step):
        found += unpacker.feed(stream[start : start + step])
    assert found == frames


def test_message_carries_fields() -> None:
    assert message(3, Kind.EXIT, {"status": 7}).fields() == {"status": 7}


def test_rejects_a_foreign_stream() -> None:
    with pytest.raises(ValueError, match="not the lab's"):
        list(Unpacker().feed(HEADER.pack(1, Kind.STDOUT, LONGEST + 1)))
