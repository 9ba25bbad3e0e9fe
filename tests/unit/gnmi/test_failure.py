"""Texts of statuses."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from srv6mgrd.gnmi.failure import clipped


@pytest.mark.parametrize("piece", ["x", "%", "\u00e9", "\U0001f600", "VRF red: no; correct it\n"])
def test_a_text_fits_into_a_status(piece: str) -> None:
    text = piece * 20_000
    short = clipped(text)
    assert len(quote(short, safe=" !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~")) < 4100
    kept, _, rest = short.rpartition(" ... (")
    assert text.startswith(kept)
    assert len(kept) + int(rest.split()[0]) == len(text)
    assert clipped(piece) == piece
