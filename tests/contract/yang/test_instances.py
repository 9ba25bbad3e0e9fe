"""The instances below yang/instances: what is valid, what is rejected, and in which words.

``invalid/expected.json`` gives each invalid instance's object, cause, remedy, tag and path; the tag
is the error-app-tag where YANG has one. Together they cover every leaf and every constraint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.datastore.app_tags import APP_TAGS
from srv6mgrd.model.checks import check
from srv6mgrd.model.expand import expand
from srv6mgrd.model.parse import parse
from srv6mgrd.model.rejection import Rejection
from tests.contract.yang.judge import INSTANCES, app_tags, judge

# Of neighbors' lists, those leaves that are not in the grouping of all three.
_OF_ONE_LIST = {"address", "interface", "name", "dynamic-neighbor-prefix"}
# Values of a grouping that one of its places rejects.
_NEVER_VALID = {"/srv6/vrfs/vrf/steering/route/behavior H.Insert"}
VALID = sorted((INSTANCES / "valid").glob("*.json"))
EXPECTED: dict[str, dict[str, str]] = json.loads((INSTANCES / "invalid/expected.json").read_text())
INVALID = sorted(p for p in (INSTANCES / "invalid").glob("*.json") if p.stem != "expected")


def words(rejection: Rejection) -> dict[str, str]:
    return {
        "object": rejection.object,
        "cause": rejection.cause,
        "remedy": rejection.remedy,
        "tag": rejection.tag,
        "path": rejection.path,
    }


@pytest.mark.parametrize("file", VALID, ids=lambda p: p.stem)
def test_valid(modules: Any, file: Path) -> None:
    assert judge(modules, file.read_bytes()) == []

    check(expand(parse(json.loads(file.read_bytes()))))


@pytest.mark.parametrize("file", INVALID, ids=lambda p: p.stem)
def test_invalid(modules: Any, file: Path) -> None:
    (rejection,) = judge(modules, file.read_bytes())

    assert words(rejection) == EXPECTED[file.stem]


def test_each_expectation_has_its_instance() -> None:
    assert EXPECTED.keys() == {p.stem for p in INVALID}


def test_tags_are_those_of_the_modules() -> None:
    assert app_tags() == APP_TAGS


def test_every_message_of_the_modules_is_met_and_tells_cause_and_remedy() -> None:
    met = {f"{e['cause']}; {e['remedy']}" for e in EXPECTED.values()}

    assert app_tags().keys() - met == set()
    assert [m for m in app_tags() if "; " not in m] == []


def test_every_restricted_leaf_has_an_invalid_instance(modules: Any) -> None:
    met = {bare(e["path"]) for e in EXPECTED.values()}

    assert [p for p, leaf in leaves(modules) if restricted(leaf) and bare(p) not in met] == []


def test_every_leaf_and_value_has_a_valid_instance(modules: Any) -> None:
    held: dict[str, set[str]] = {}
    for file in VALID:
        for path, value in values("", json.loads(file.read_bytes())):
            held.setdefault(bare(path), set()).add(str(value).rpartition(":")[2])
    missing = []
    for path, leaf in leaves(modules):
        wanted = {e.name() for e in leaf.type().all_enums()} or {""}
        have = held.get(bare(path), set())
        missing += [f"{path} {v}" for v in wanted if (v and v not in have) or not have]
    assert set(missing) == _NEVER_VALID


def bare(path: str) -> str:
    """A data path without keys and modules; what lists have from one grouping counts once."""
    names = re.sub(r"[\w-]+:", "", re.sub(r"\[[^]]*\]", "", path))
    list_, _, leaf = names.rpartition("/")
    if leaf not in _OF_ONE_LIST:
        list_ = re.sub(r"/(?:unnumbered-neighbor|peer-group)(?=/|$)", "/neighbor", list_)
    return f"{list_}/{leaf}"


def leaves(modules: Any) -> Iterator[tuple[str, Any]]:
    """The configuration leaves, by bare path; keys are leaves too."""
    from libyang.schema import SNode

    def below(node: Any, path: str) -> Iterator[tuple[str, Any]]:
        for child in node.children():
            here = f"{path}/{child.name()}"
            if child.config_false():
                continue
            if child.nodetype() in (SNode.LEAF, SNode.LEAFLIST):
                yield here, child
            else:
                yield from below(child, here)

    (top,) = modules.get_module("srv6mgr-srv6").children()
    yield from below(top, "/srv6")


def restricted(leaf: Any) -> bool:
    """Whether some value of it is rejected by its type; the range of the base type aside."""
    from libyang.schema import Type

    declared = leaf.type()
    if declared.base() in Type.NUM_TYPES:
        return bool(list(declared.all_ranges()))
    return declared.base() != Type.STRING or bool(
        list(declared.all_patterns()) or list(declared.all_lengths())
    )


def values(path: str, data: Any) -> Iterator[tuple[str, Any]]:
    """Bare path and value of every leaf of a document."""
    if isinstance(data, dict):
        for name, child in data.items():
            yield from values(f"{path}/{name.rpartition(':')[2]}", child)
    elif isinstance(data, list):
        for child in data:
            yield from values(path, child)
    else:
        yield path, data
