"""Each error-app-tag of srv6mgrd has a configuration that both northbounds reject alike.

``tests/contract/netconf/test_both_northbounds.py`` sends them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from srv6mgrd.datastore.app_tags import APP_TAGS
from srv6mgrd.model.rejection import RejectedError
from tests.contract.own_mistakes import PROVOKED, UNPROVOKED
from tests.contract.rejections import document, judge

CHECKOUT = Path(__file__).resolve().parents[3]
# Rooms that reject configurations.
ROOMS = ("apply", "datastore", "frr", "kinds", "model")
INSTANCES = CHECKOUT / "yang/instances/invalid/expected.json"
_TAG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+|fought|missing|unexpected|unreachable")


def rejected_with() -> Iterator[tuple[str, str]]:
    """Each tag of the sources with its place: an argument beside cause and remedy, or the name of
    a constant there."""
    for file in (f for room in ROOMS for f in sorted((CHECKOUT / "srv6mgrd" / room).rglob("*.py"))):
        tree = ast.parse(file.read_text())
        named = {
            assigned.targets[0].id: assigned.value
            for assigned in tree.body
            if isinstance(assigned, ast.Assign) and isinstance(assigned.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                for tag in tags_of(node, named):
                    yield tag, f"{file.relative_to(CHECKOUT)}:{node.lineno}"


def tags_of(call: ast.Call, named: Mapping[str, ast.expr]) -> Iterator[str]:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not any(map(is_prose, arguments)):
        return
    for argument in arguments:
        value = named.get(argument.id) if isinstance(argument, ast.Name) else argument
        if isinstance(value, ast.Constant) and _TAG.fullmatch(str(value.value)):
            yield str(value.value)


def is_prose(argument: ast.expr) -> bool:
    if isinstance(argument, ast.Name):
        return argument.id in {"cause", "remedy"}
    return any(
        isinstance(part, ast.Constant) and " " in str(part.value) for part in ast.walk(argument)
    )


def test_each_tag_is_provoked_or_has_a_reason() -> None:
    found = dict(rejected_with())
    # Of YANG, by the instances that tests/contract/yang has for each message.
    of_yang = {expected["tag"] for expected in json.loads(INSTANCES.read_text()).values()}
    assert len(found) > 60
    assert {
        tag: place for tag, place in found.items() if tag not in {*PROVOKED, *UNPROVOKED, *of_yang}
    } == {}
    assert PROVOKED.keys() & UNPROVOKED.keys() == set()
    assert {*PROVOKED, *UNPROVOKED} - found.keys() == set()
    assert set(APP_TAGS.values()) - of_yang == set()


@pytest.mark.parametrize("tag", PROVOKED)
def test_a_configuration_is_rejected_for_one_reason(tag: str) -> None:
    tree = json.loads(document(PROVOKED[tag]))
    with pytest.raises(RejectedError) as raised:
        judge(tree)
    assert {each.tag for each in raised.value.rejections} == {tag}
