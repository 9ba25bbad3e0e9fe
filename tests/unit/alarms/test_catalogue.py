"""Each type of condition is an identity, an entry of the inventory, and a row of the page."""

from __future__ import annotations

import re
from pathlib import Path

from srv6mgrd.alarms.catalogue import CATALOGUE
from srv6mgrd.model.condition import ConditionType

ROOT = Path(__file__).parents[3]
MODULE = (ROOT / "yang/srv6mgr-alarms.yang").read_text()
_IDENTITY = re.compile(
    r'identity ([\w-]+) \{\s+base ((?:service|host)-alarm);\s+description\s+"([^"]*)";'
)


def test_identities_are_the_types_with_their_descriptions() -> None:
    found = {name: (base, " ".join(text.split())) for name, base, text in _IDENTITY.findall(MODULE)}
    assert found == {str(n): (known.base, known.description) for n, known in CATALOGUE.items()}
    assert set(CATALOGUE) == set(ConditionType)


def test_the_page_has_a_row_for_each() -> None:
    page = (ROOT / "docs/alarms.md").read_text()
    assert [name for name in ConditionType if f"| `{name}` |" not in page] == []
