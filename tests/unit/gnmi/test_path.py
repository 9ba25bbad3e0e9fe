"""gNMI paths."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.gnmi.budget import Budget, BudgetError, ClientLeftError
from srv6mgrd.gnmi.path import (
    Elem,
    Path,
    PathError,
    UnknownPathError,
    absolute,
    covers,
    elems,
    is_concrete,
    parse,
    resolve,
    text,
    touches,
    xpath,
)
from srv6mgrd.gnmi.schema import Node, root
from tests.unit.gnmi.models import schema

TOP = schema()

names = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=8
)
values = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=8)
elements = st.builds(
    lambda name, keys: Elem(name, tuple(sorted(keys.items()))),
    names,
    st.dictionaries(names.filter(lambda n: "=" not in n and "\\" not in n), values, max_size=2),
)


def patterns(string: str) -> list[str]:
    return [xpath(p) for p in resolve(TOP, Path(parse(string)))]


@given(st.lists(elements, max_size=4))
def test_text_and_back(path: list[Elem]) -> None:
    assert list(parse(text(path))) == path


@pytest.mark.parametrize("string", ["/a[b", "/a[b=c", "/a[b=c]d", "/a//b"])
def test_text_that_is_no_path(string: str) -> None:
    with pytest.raises(PathError):
        parse(string)


def test_resolve_takes_names_with_and_without_module() -> None:
    wanted = ["/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-bgp:bgp/rd"]
    assert patterns("/srv6/vrfs/vrf[name=red]/bgp/rd") == wanted
    assert patterns("/srv6mgr-srv6:srv6/vrfs/vrf[name=red]/srv6mgr-bgp:bgp/rd") == wanted
    with pytest.raises(UnknownPathError):
        patterns("/srv6/vrfs/vrf[name=red]/srv6mgr-srv6:bgp")


def test_wildcards() -> None:
    assert patterns("/srv6/vrfs/vrf") == ["/srv6mgr-srv6:srv6/vrfs/vrf"]
    assert patterns("/srv6/vrfs/vrf[name=*]") == ["/srv6mgr-srv6:srv6/vrfs/vrf"]
    assert patterns("/srv6/*/vrf") == ["/srv6mgr-srv6:srv6/vrfs/vrf"]
    assert patterns("/.../table-id") == ["/srv6mgr-srv6:srv6/vrfs/vrf/table-id"]
    assert patterns("/srv6/.../vrfs") == ["/srv6mgr-srv6:srv6/vrfs"]
    assert patterns("/srv6/vrfs/...") == ["/srv6mgr-srv6:srv6/vrfs/vrf"]
    assert "/srv6mgr-srv6:srv6/vrfs/vrf/table-id" in patterns("/srv6/vrfs/vrf/...")
    assert len(patterns("/.../state")) == 5


def test_the_root_is_a_path() -> None:
    assert resolve(TOP, Path()) == [()]


def test_unknown_paths_say_what_is_unknown() -> None:
    with pytest.raises(UnknownPathError, match="/srv6/vrfs has no node 'vfr'") as e:
        patterns("/srv6/vrfs/vfr[name=red]/table-id")
    assert not e.value.foreign
    with pytest.raises(UnknownPathError, match="interfaces") as e:
        patterns("/interfaces/interface")
    assert e.value.foreign
    with pytest.raises(UnknownPathError, match="origin 'openconfig'"):
        resolve(TOP, Path(parse("/srv6"), "openconfig"))


def test_keys_must_be_those_of_the_list() -> None:
    with pytest.raises(PathError, match="no key 'id'"):
        patterns("/srv6/vrfs/vrf[id=red]")
    with pytest.raises(PathError, match="no list"):
        patterns("/srv6/vrfs[name=red]")


def test_keys_become_canonical() -> None:
    (pattern,) = resolve(TOP, Path(parse("/srv6/local-sids/sid[prefix=FCBB:0:1:64:0::1/64]")))
    assert pattern[-1].keys == ("fcbb:0:1:64::/64",)
    (pattern,) = resolve(TOP, Path(parse("/srv6/local-sids/sid[prefix=nonsense]")))
    assert pattern[-1].keys == ("nonsense",)


def test_quotes_in_keys() -> None:
    assert patterns("/srv6/vrfs/vrf[name=a'b]") == ['/srv6mgr-srv6:srv6/vrfs/vrf[name="a\'b"]']
    with pytest.raises(PathError):
        patterns("/srv6/vrfs/vrf[name=a'\"b]")


def test_prefix_and_path() -> None:
    whole = absolute(Path(parse("/srv6"), "srv6mgr", "pe1"), Path(parse("/vrfs")))
    assert (str(whole), whole.origin, whole.target) == ("/srv6/vrfs", "srv6mgr", "pe1")
    for prefix, path in (
        (Path(), Path(target="pe1")),
        (Path(origin="a"), Path(origin="a")),
        (Path(parse("/srv6")), Path(origin="srv6mgr")),
    ):
        with pytest.raises(PathError):
            absolute(prefix, path)


def test_matching() -> None:
    def one(string: str) -> object:
        (pattern,) = resolve(TOP, Path(parse(string)))
        return pattern

    every, red, blue = (one(f"/srv6/vrfs/vrf[name={n}]") for n in ("*", "red", "blue"))
    table = one("/srv6/vrfs/vrf[name=red]/table-id")
    assert covers(every, red)  # type: ignore[arg-type]
    assert covers(red, table)  # type: ignore[arg-type]
    assert not covers(table, red)  # type: ignore[arg-type]
    assert not covers(blue, table)  # type: ignore[arg-type]
    assert touches(table, every)  # type: ignore[arg-type]
    assert not touches(red, blue)  # type: ignore[arg-type]
    assert is_concrete(table)  # type: ignore[arg-type]
    assert not is_concrete(every)  # type: ignore[arg-type]
    assert text(elems(table)) == "/srv6/vrfs/vrf[name=red]/table-id"  # type: ignore[arg-type]


def naive(node: Node, elements: tuple[Elem, ...]) -> Iterator[tuple[tuple[str, object], ...]]:
    """What a path names, by its definition: exponential in the number of "..."."""
    if not elements:
        yield ()
        return
    elem, rest = elements[0], elements[1:]
    if elem.name == "..." and rest:
        yield from naive(node, rest)
    for child in node.children.values():
        if elem.name not in ("...", "*", child.name):
            continue
        keys = dict(elem.keys)
        step = (child.path, tuple(keys.get(k) for k in child.keys))
        if elem.name != "..." or not rest:
            yield from ((step, *tail) for tail in naive(child, rest))
        if elem.name == "...":
            yield from ((step, *tail) for tail in naive(child, elements))


known = st.sampled_from(sorted({n.name for n in TOP.descendants() if n.name}))
wild = st.one_of(st.just("..."), st.just("*"), known)


@given(st.lists(wild, min_size=1, max_size=5))
def test_wildcards_name_what_their_definition_says(listed: list[str]) -> None:
    path = tuple(Elem(name) for name in listed)
    try:
        found = resolve(TOP, Path(path))
    except UnknownPathError:
        found = []
    assert len(set(found)) == len(found)
    every = set(naive(TOP, path))
    highest = {p for p in every if not any(p[:n] in every for n in range(len(p)))}
    assert {tuple((s.node.path, s.keys) for s in p) for p in found} == highest


def steps(path: Path, top: Node = TOP) -> int:
    """What it takes to resolve it."""
    budget = Budget()
    before = budget.steps
    with contextlib.suppress(UnknownPathError):
        resolve(top, path, budget=budget)
    return before - budget.steps


@pytest.mark.parametrize("unit", [("...",), ("...", "*"), ("...", "state")])
def test_work_is_linear_in_the_elements_of_a_path(unit: tuple[str, ...]) -> None:
    nodes = sum(1 for _ in TOP.descendants())
    for times in (2, 20):
        assert steps(Path(tuple(Elem(name) for name in unit * times))) <= nodes * len(unit) * times


def test_work_is_linear_in_the_nodes_of_the_models() -> None:
    def wide(copies: int) -> Node:
        top = root()
        for n in range(copies):
            node = top.add(Node(f"top{n}", "m"))
            for _ in range(4):
                node = node.add(Node("below", "m"))
        return top

    path = Path(tuple(Elem(name) for name in ("...", "below") * 8 + ("...",)))
    assert steps(path, wide(100)) == 10 * steps(path, wide(10))


def test_a_path_has_a_budget() -> None:
    with pytest.raises(BudgetError, match="64 are taken"):
        resolve(TOP, Path((Elem("..."),) * 65))
    with pytest.raises(BudgetError, match="more work than one request may"):
        resolve(TOP, Path(parse("/.../state")), budget=Budget("get", steps=20))
    left = Budget()
    left.cancel()
    with pytest.raises(ClientLeftError):
        left.check()
