"""Rejections in google.rpc.Status."""

from __future__ import annotations

from base64 import b64encode

import pytest

from srv6mgrd.gnmi.failure import clipped, octets
from srv6mgrd.gnmi.status_details import details
from srv6mgrd.model.rejection import Rejection
from tests.contract.gnmi.rich_status import read

RED = Rejection("VRF red", "é is no number", "write a number", "value-syntax", "/a/b[c='%']")


def test_each_rejection_with_path_message_and_tag() -> None:
    unknown = Rejection("x", "y", "z", "refused")
    data = details(3, "text", [RED, unknown])
    assert data is not None
    assert read(data) == (
        3,
        "text",
        [("/a/b[c='%']", str(RED), "value-syntax"), ("", "x: y; z", "")],
    )


def test_there_are_none_without_rejections() -> None:
    assert details(3, "text", []) is None


@pytest.mark.parametrize("piece", ["x", "é"])
@pytest.mark.parametrize("length", [0, 500, 1500, 3000, 20_000])
def test_they_have_room_beside_the_text(piece: str, length: int) -> None:
    text = clipped(piece * length)
    data = details(3, text, [RED] * 100)
    if data is not None:
        assert octets(text) + len(b64encode(data)) <= 7000
        assert 1 <= len(read(data)[2]) < 100
    else:
        assert octets(text) > 2500
