"""Values in gNMI's encodings, and as bytes on the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from gnmi_pb import gnmi_pb2 as pb
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.gnmi import encode, frames, wire
from srv6mgrd.gnmi.encode import Scalar, ValueProblem
from srv6mgrd.gnmi.outbox import Batch, Form, responses
from srv6mgrd.gnmi.path import Path, Pattern, Step, elems
from srv6mgrd.gnmi.schema import Base, Kind, Node
from tests.unit.gnmi.models import leaf, schema, walk

TOP = schema()
words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12)

_VALUES: dict[Base, st.SearchStrategy[Any]] = {
    Base.STRING: words,
    Base.IDENTITY: st.sampled_from(["End", "srv6mgr-srv6:End.DT46"]),
    Base.INT: st.integers(-(2**31), 2**31 - 1),
    Base.INT64: st.integers(-(2**63), 2**63 - 1).map(str),
    Base.UINT: st.integers(0, 2**32 - 1),
    Base.UINT64: st.integers(0, 2**64 - 1).map(str),
    Base.DECIMAL: st.decimals(-1000, 1000, places=3).map(str),
    Base.BOOL: st.booleans(),
    Base.UNION: st.one_of(words, st.integers(-(2**31), 2**31), st.booleans()),
}


@st.composite
def leaves(draw: st.DrawFn) -> tuple[Node, Any]:
    base = draw(st.sampled_from(list(_VALUES)))
    node = leaf("a", base)
    if draw(st.booleans()):
        node.kind = Kind.LEAF_LIST
        return node, draw(st.lists(_VALUES[base], max_size=3))
    return node, draw(_VALUES[base])


@given(leaves())
def test_native_values_and_back(drawn: tuple[Node, Any]) -> None:
    node, value = drawn
    message = wire.scalar(encode.scalar(node, value))
    back = encode.from_scalar(node, Scalar(*wire.read_value(message)))
    if node.base is Base.IDENTITY:
        value = json.loads(json.dumps(value).replace("srv6mgr-srv6:", ""))
    if node.base is Base.DECIMAL:
        back, value = (
            [float(v) for v in x] if isinstance(x, list) else float(x) for x in (back, value)
        )
    assert back == value


@given(leaves())
def test_plain_json_and_back(drawn: tuple[Node, Any]) -> None:
    node, value = drawn
    back = encode.qualify(node, json.loads(encode.dumps(encode.json_plain(node, value))))
    if node.base in (Base.IDENTITY, Base.DECIMAL):
        return  # the module of an identity and the digits of a decimal are libyang's to restore
    assert back == value


def test_plain_json_of_a_tree_and_back() -> None:
    srv6 = walk(TOP, "/srv6")
    data = {
        "vrfs": {
            "vrf": {
                ("red",): {
                    "name": "red",
                    "table-id": 100,
                    "interface": ["eth1"],
                    "srv6mgr-bgp:bgp": {"rd": "65000:1", "redistribute": {"connected": False}},
                }
            }
        }
    }
    plain = encode.json_plain(srv6, data)
    assert plain["vrfs"]["vrf"][0]["bgp"] == {"rd": "65000:1", "redistribute": {"connected": False}}
    ietf = encode.json_ietf(srv6, data)
    assert ietf == {"srv6mgr-srv6:vrfs": {"vrf": [data["vrfs"]["vrf"]["red",]]}}
    assert encode.qualify(srv6, plain) == {"vrfs": ietf["srv6mgr-srv6:vrfs"]}


def test_names_that_are_unknown_stay_for_libyang_to_reject() -> None:
    assert encode.qualify(walk(TOP, "/srv6"), {"nonsense": {"a": 1}}) == {"nonsense": {"a": 1}}


def test_what_needs_no_qualifying_is_not_decoded() -> None:
    assert not encode.needs_qualifying(walk(TOP, "/srv6/locators"))
    assert encode.needs_qualifying(walk(TOP, "/srv6/vrfs"))


@pytest.mark.parametrize(
    ("node", "given_value"),
    [
        (leaf("a", Base.UINT), Scalar("string_val", "1")),
        (leaf("a"), Scalar("uint_val", 1)),
        (leaf("a", Base.BOOL), Scalar("string_val", "true")),
        (leaf("a", Base.UINT), Scalar("ascii_val", "x")),
        (leaf("a", Base.BOOL), Scalar("ascii_val", "maybe")),
        (leaf("a"), Scalar("leaflist_val", [])),
        (Node("a", "m", Kind.LEAF_LIST), Scalar("string_val", "x")),
        (Node("a", "m"), Scalar("string_val", "x")),
    ],
)
def test_values_of_the_wrong_kind(node: Node, given_value: Scalar) -> None:
    with pytest.raises(ValueProblem):
        encode.from_scalar(node, given_value)


encodings = st.sampled_from(wire.ENCODINGS)


@given(leaves(), encodings, words, st.integers(0, 3))
def test_frames_are_what_protobuf_would_send(
    drawn: tuple[Node, Any], encoding: int, key: str, duplicates: int
) -> None:
    node, value = drawn
    entry = Node("sid", "m", Kind.LIST, keys=("prefix",))
    path: Pattern = (Step(Node("srv6", "m")), Step(entry, (key,)), Step(node))
    asked = Path(target="pe1")
    frame = frames.notification(
        7,
        frames.prefix(asked),
        [frames.update(encoding, path, value, duplicates), frames.delete(path[:2])],
    )
    assert pb.SubscribeResponse.FromString(frame) == pb.SubscribeResponse(
        update=wire.notification(
            7,
            asked,
            [wire.update(path, wire.leaf_value(encoding, node, value), duplicates)],
            [wire.path(elems(path[:2]))],
        )
    )


@given(st.integers(-(2**63), 2**64 - 1))
def test_varints(n: int) -> None:
    frame = b"\x10" + frames.varint(n)  # TypedValue.int_val
    signed = n - 2**64 if n >= 2**63 else n
    assert pb.TypedValue.FromString(frame).int_val == signed


def path_of(n: int) -> Pattern:
    return (Step(leaf(f"leaf{n}")),)


def test_a_batch_is_bundled_and_ends_with_sync() -> None:
    paths = [path_of(n) for n in range(1200)]
    batch = Batch(5, dict.fromkeys(paths, "x"), [path_of(0)], sync=True)
    sent = [pb.SubscribeResponse.FromString(b) for b in responses(batch, Form(wire.PROTO, Path()))]
    assert [len(m.update.update) for m in sent] == [500, 500, 200, 0]
    assert [len(m.update.delete) for m in sent] == [1, 0, 0, 0]
    assert [m.sync_response for m in sent] == [False, False, False, True]
    assert not sent[0].update.HasField("prefix")


def test_what_a_slow_client_misses_is_counted() -> None:
    one, two = path_of(1), path_of(2)
    batch = Batch(1, {one: "a", two: "b"})
    batch.merge(Batch(2, {one: "c"}))
    batch.merge(Batch(3, {one: "d"}, [two]))
    (frame,) = responses(batch, Form(wire.PROTO, Path()))
    message = pb.SubscribeResponse.FromString(frame).update
    assert message.timestamp == 3
    assert [(u.val.string_val, u.duplicates) for u in message.update] == [("d", 2)]
    assert len(message.delete) == 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda below: st.lists(below, max_size=5) | st.dictionaries(st.text(max_size=5), below),
        max_leaves=20,
    ),
    st.integers(0, 3),
)
def test_json_in_parts_is_that_in_one_go(value: Any, times: int) -> None:
    value = {"list": [value] * (times * 150), "value": value}
    assert (
        encode.dumps(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    )
