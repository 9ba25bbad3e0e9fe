"""What the programs and srv6mgrd have to agree on."""

from __future__ import annotations

import re
from pathlib import Path

from srv6mgrd.drops import layout
from srv6mgrd.model.drops import DropReason

_MAPS = Path(layout.__file__).parent / "bpf/maps.h"


def test_reasons_have_the_numbers_of_the_programs() -> None:
    (body,) = re.findall(r"enum reason \{(.*?)\};", _MAPS.read_text(), re.DOTALL)
    names = re.findall(r"^    ([A-Z_]+),$", re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL), re.M)
    assert names == ["PASSED", *(reason.name for reason in DropReason)]
    assert f"HMAC_UNKNOWN = {layout.HMAC_UNKNOWN}," in body
    assert f"REASONS = {layout.REASONS}\n" in body
    assert max(layout.REASON) < layout.HMAC_UNKNOWN
