"""Whatever comes in: rejected with the path of the offender, or accepted; never a crash.

A crash of libyang would end the process, so that these tests run in it.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from srv6mgrd.model.checks import check
from srv6mgrd.model.expand import expand
from srv6mgrd.model.parse import parse
from srv6mgrd.model.rejection import RejectedError, Rejection
from tests.conftest import IS_SOAK
from tests.contract.yang.judge import INSTANCES, judge

SEEDS = [
    json.loads(file.read_text())
    for kind in ("valid", "invalid")
    for file in sorted((INSTANCES / kind).glob("*.json"))
    if file.stem != "expected"
]

TEXTS = [
    *("", "::/0", "::", "fcbb:0:1::/48", "fcbb:0:1::/128", "0.0.0.0/0", "224.0.0.0/4", "ff02::1"),
    *("fe80::1", "End.DT46", "End.AS", "End.BPF", "red", "MAIN", "PATH", "srv6mgr", "lo"),
    *("a" * 300, "'", '"', "]", "[x='y']", "\u0000", "\u202e", "\ud7ff", "../x"),
]
# What a leaf may be replaced by: of another type, at the edge, or from another leaf.
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(TEXTS),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.sampled_from(["name", "prefix", "@", "x:y", ""]), st.just(1), max_size=2),
)


def spots(data: Any) -> list[tuple[Any, Any]]:
    """Every place in a document: container and key."""
    found: list[tuple[Any, Any]] = []
    entries = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data if isinstance(data, list) else ())
    )
    for key, child in entries:
        found += [(data, key), *spots(child)]
    return found


def mutate(draw: Any, document: Any) -> None:
    found = spots(document)
    if not found:
        return
    where, key = draw(st.sampled_from(found))
    how = draw(st.sampled_from(["odd", "drop", "double", "rename", "graft"]))
    if how == "odd":
        where[key] = draw(ODD)
    elif how == "drop":
        del where[key]
    elif how == "double" and isinstance(where, list):
        where.append(copy.deepcopy(where[key]))
    elif how == "rename" and isinstance(where, dict):
        where[draw(st.sampled_from(["unknown", "srv6mgr-bgp:bgp", "state", "@name", ""]))] = (
            where.pop(key)
        )
    elif how == "graft":
        other, name = draw(st.sampled_from(found))
        where[key] = copy.deepcopy(other[name])


@st.composite
def documents(draw: Any) -> bytes:
    """An instance, some of it changed; the bytes too at times."""
    document = copy.deepcopy(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 4))):
        mutate(draw, document)
    text = json.dumps(document).encode()
    if draw(st.integers(0, 3)) == 0 and text:
        at = draw(st.integers(0, len(text) - 1))
        text = text[:at] + draw(st.binary(max_size=4)) + text[at + draw(st.integers(0, 3)) :]
    return text


def verdict(modules: Any, document: bytes) -> list[Rejection]:
    """What the product would say: libyang, then our own checks on what libyang made of it."""
    rejections = judge(modules, document)
    if rejections:
        return rejections
    tree = modules.parse_data_mem(document, "json", strict=True, no_state=True)
    text = tree.print_mem("json", with_siblings=True) if tree is not None else "{}"
    if tree is not None:
        tree.free()
    desired = parse(json.loads(text or "{}"))
    try:
        check(desired)
    except RejectedError as rejected:
        # Made SIDs or not: the same answer.
        with pytest.raises(RejectedError):
            check(expand(desired))
        return rejected.rejections
    check(expand(desired))
    assert expand(expand(desired)) == expand(desired)
    return []


def assert_reported(rejections: list[Rejection]) -> None:
    for rejection in rejections:
        assert rejection.object
        assert rejection.cause
        assert rejection.remedy


@settings(
    max_examples=20_000 if IS_SOAK else 500,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(document=documents())
def test_mutated_instances(modules: Any, document: bytes) -> None:
    assert_reported(verdict(modules, document))


@settings(max_examples=500, deadline=None, database=None)
@given(document=st.binary(max_size=200))
def test_bytes(modules: Any, document: bytes) -> None:
    assert_reported(judge(modules, document))


@pytest.mark.parametrize(
    "bad", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\x00", b"\xf5\x80\x80\x80"]
)
def test_invalid_utf8(modules: Any, bad: bytes) -> None:
    document = Path(INSTANCES / "valid/bgp-neighbors.json").read_bytes()

    rejections = judge(modules, document.replace("Ü".encode(), bad))

    assert rejections
    assert_reported(rejections)


@pytest.mark.parametrize("depth", [100, 10_000, 1_000_000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [(b"[", b"]"), (b'{"a":', b"}"), (b'{"srv6mgr-srv6:srv6":', b"}"), (b'{"@":[', b"]}")],
)
def test_depth(modules: Any, opening: bytes, closing: bytes, depth: int) -> None:
    rejections = judge(modules, opening * depth + b"1" + closing * depth)

    assert rejections
    assert_reported(rejections)


def sids(count: int) -> dict[str, Any]:
    entries = [
        {"prefix": f"fcbb:0:{n >> 16:x}:{n & 0xFFFF:x}::/64", "locator": "MAIN", "behavior": "End"}
        for n in range(1, count + 1)
    ]
    locator = {
        "name": "MAIN",
        "prefix": "fcbb::/32",
        "block-length": 16,
        "node-length": 16,
        "function-length": 32,
    }
    return {
        "srv6mgr-srv6:srv6": {
            "locators": {"locator": [locator]},
            "local-sids": {"sid": entries},
        }
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"interface": "eth1"}, "interface goes with End.DX2 or with a next-hop"),
        ({"locator": "OTHER"}, "locator OTHER does not exist"),
        ({"color": 1}, "is unknown to the model"),
        ({"behavior": "End.Y"}, "behavior 'End.Y' is unknown"),
        ({"prefix": "fcbb:1::/64"}, "it is outside locator MAIN"),
    ],
)
def test_one_bad_sid_of_100k_is_named(modules: Any, change: dict[str, Any], said: str) -> None:
    document = sids(100_000)
    bad = document["srv6mgr-srv6:srv6"]["local-sids"]["sid"][50_000]
    bad.update(change)

    (rejection,) = verdict(modules, json.dumps(document).encode())

    assert said in rejection.cause
    assert f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{bad['prefix']}']" in rejection.path


def test_a_list_that_is_too_long_by_far_is_rejected(modules: Any) -> None:
    segments = [{"index": 1, "sid": "fcbb:0:2::1"}] * 100_000
    lists = [{"name": "PATH", "segment": segments}]
    document = {"srv6mgr-srv6:srv6": {"segment-lists": {"segment-list": lists}}}

    (rejection,) = judge(modules, json.dumps(document).encode())

    assert rejection.object == "segment list PATH"
