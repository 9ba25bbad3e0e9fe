"""Every example of the model's pages is valid, exactly as it is printed there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from srv6mgrd.model.capabilities import EVERYTHING
from srv6mgrd.model.checks import check
from srv6mgrd.model.expand import expand
from srv6mgrd.model.needs import check as check_needs
from srv6mgrd.model.parse import parse

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples/model"
_PRINTED = re.compile(r"<!-- (examples/model/[\w-]+\.json) -->\n```json\n(.*?)```\n", re.DOTALL)
PAGES = ("docs/model.md", "docs/routing.md", "docs/interfaces.md", "docs/frr.md")
PRINTED = dict(found for page in PAGES for found in _PRINTED.findall((ROOT / page).read_text()))


def test_every_example_is_printed() -> None:
    assert {ROOT / name for name in PRINTED} == set(FOLDER.glob("*.json"))


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_is_valid_as_printed(name: str) -> None:
    import libyang

    text = PRINTED[name]
    assert text == (ROOT / name).read_text()
    with libyang.Context(f"{ROOT}/yang:/usr/share/yang/modules/sysrepo:/opt/yang") as context:
        for line in (ROOT / "yang/install.txt").read_text().splitlines():
            if line.startswith("srv6mgr-"):
                context.load_module(line.split()[0].removesuffix(".yang"))
        tree = context.parse_data_mem(text, "json", strict=True, no_state=True)
        assert tree is not None
        whole = tree.print_mem("json", with_siblings=True, include_implicit_defaults=True)
        tree.free()
    desired = parse(json.loads(whole))
    check(desired)
    assert not check_needs(expand(desired), EVERYTHING)
