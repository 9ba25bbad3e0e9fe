"""Whatever a client sends, the decoding of paths and values rejects it in words or takes it.

Two ways to it: messages made of what their fields may hold, and valid messages with broken bytes.
Nothing but RpcError may come out, with a text for the operator; a Set that passes gives documents
that are JSON.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from gnmi_pb import gnmi_ext_pb2 as ext
from gnmi_pb import gnmi_pb2 as pb
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from srv6mgrd.gnmi import extensions, get, sonic, wire
from srv6mgrd.gnmi import set as gnmi_set
from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.path import parse
from srv6mgrd.gnmi.projections import VIEWS
from srv6mgrd.gnmi.subscribe import Telemetry
from srv6mgrd.gnmi.view import Model, Snapshot
from srv6mgrd.gnmi.watch import SampleLimits, watches
from srv6mgrd.gnmi.workers import Caller
from tests.unit.gnmi.models import schema

MODEL = Model(schema(), VIEWS)
KNOWN = frozenset({"srv6mgr-srv6", "srv6mgr-bgp"})
HARDER = settings(max_examples=300)

WORDS = [
    "srv6", "srv6mgr-srv6:srv6", "vrfs", "vrf", "locators", "local-sids", "sid", "state",
    "table-id", "counters", "in-pkts", "*", "...", "routing", "network-instances", "COUNTERS",
    "SID*", "COUNTERS_DB", "localhost", "name", "prefix", "srv6mgr-bgp:bgp", "openconfig:", "",
]  # fmt: skip
TEXT = st.text(max_size=12)
NAMES = st.sampled_from(WORDS) | TEXT
KEYS = st.dictionaries(
    st.sampled_from(["name", "prefix", "srv6mgr-srv6:name", "index", "."]) | TEXT,
    st.sampled_from(["red", "*", "fcbb:0:1:64::/64", "'", '"]', "\0"]) | TEXT,
    max_size=2,
)
ELEMENTS = st.builds(lambda name, key: pb.PathElem(name=name, key=key), NAMES, KEYS)
ORIGINS = st.sampled_from(["", "srv6mgr", "openconfig", "ietf", "sonic-db", "cli"]) | TEXT
VALID = st.sampled_from(
    [
        wire.path(parse(text))
        for text in (
            "/srv6",
            "/srv6/vrfs/vrf",
            "/srv6/vrfs/vrf[name=red]",
            "/srv6/vrfs/vrf[name=red]/table-id",
            "/srv6/vrfs/vrf/interface",
            "/srv6/vrfs/vrf[name=red]/interface[.=eth1]",
            "/srv6/vrfs/*/bgp",
            "/srv6/local-sids/sid[prefix=fcbb:0:1:64::/64]/state/counters/in-pkts",
            "/srv6/local-sids/.../in-pkts",
            "/srv6mgr-srv6:srv6/locators/locator[name=main]/function-length",
        )
    ]
)
WILD = st.builds(
    lambda elem, origin, target, element: pb.Path(
        elem=elem, origin=origin, target=target, element=element
    ),
    st.lists(ELEMENTS, max_size=6),
    ORIGINS,
    st.sampled_from(["", "pe1", "COUNTERS_DB"]),
    st.lists(NAMES, max_size=1),
)


@st.composite
def nearly(draw: st.DrawFn) -> Any:
    """A valid path with an element changed, left out or added."""
    path = pb.Path.FromString(draw(VALID).SerializeToString())
    at = draw(st.integers(0, len(path.elem) - 1))
    match draw(st.integers(0, 2)):
        case 0:
            path.elem[at].CopyFrom(draw(ELEMENTS))
        case 1:
            del path.elem[at]
        case _:
            path.elem.insert(at, draw(ELEMENTS))
    return path


PATHS = VALID | nearly() | WILD
PREFIXES = st.just(pb.Path()) | WILD
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode())
DEEP = st.integers(1, 3000).map(lambda n: b'{"srv6":' * n + b"1" + b"}" * n) | st.integers(
    1, 3000
).map(lambda n: b"[" * n + b"]" * n)
CONTENT = JSON | DEEP | st.binary(max_size=20)
SCALARS = st.one_of(
    st.builds(lambda v: pb.TypedValue(string_val=v), TEXT),
    st.builds(lambda v: pb.TypedValue(int_val=v), st.integers(-(2**63), 2**63 - 1)),
    st.builds(lambda v: pb.TypedValue(uint_val=v), st.integers(0, 2**64 - 1)),
    st.builds(lambda v: pb.TypedValue(double_val=v), st.floats()),
    st.builds(lambda v: pb.TypedValue(bool_val=v), st.booleans()),
    st.builds(lambda v: pb.TypedValue(bytes_val=v), st.binary(max_size=8)),
    st.builds(lambda v: pb.TypedValue(ascii_val=v), TEXT),
    st.just(pb.TypedValue()),
)
VALUES = st.one_of(
    SCALARS,
    st.builds(lambda v: pb.TypedValue(json_ietf_val=v), CONTENT),
    st.builds(lambda v: pb.TypedValue(json_val=v), CONTENT),
    st.builds(lambda v: pb.TypedValue(any_val={"value": v}), st.binary(max_size=4)),
    st.builds(lambda v: pb.TypedValue(proto_bytes=v), st.binary(max_size=4)),
    st.builds(
        lambda v: pb.TypedValue(leaflist_val=pb.ScalarArray(element=v)),
        st.lists(SCALARS, max_size=3),
    ),
)
UPDATES = st.lists(st.builds(lambda p, v: pb.Update(path=p, val=v), PATHS, VALUES), max_size=3)
EXTENSIONS = st.lists(
    st.one_of(
        st.builds(lambda n: ext.Extension(depth=ext.Depth(level=n)), st.integers(0, 2**32 - 1)),
        st.builds(lambda i: ext.Extension(commit=ext.Commit(id=i)), TEXT),
        st.builds(
            lambda s: ext.Extension(
                commit=ext.Commit(
                    id="x", commit=ext.CommitRequest(rollback_duration={"seconds": s})
                )
            ),
            st.integers(-(2**63), 2**63 - 1),
        ),
        st.just(ext.Extension(master_arbitration=ext.MasterArbitration())),
        st.just(ext.Extension(history=ext.History(snapshot_time=1))),
        st.just(ext.Extension()),
    ),
    max_size=2,
)
SETS = st.builds(
    pb.SetRequest,
    prefix=PREFIXES,
    delete=st.lists(PATHS, max_size=2),
    replace=UPDATES,
    update=UPDATES,
    union_replace=st.just([]) | UPDATES,
    extension=EXTENSIONS,
)
GETS = st.builds(
    pb.GetRequest,
    prefix=PREFIXES,
    path=st.lists(PATHS, max_size=3),
    type=st.integers(0, 3),
    encoding=st.integers(0, 9),
    extension=EXTENSIONS,
)
SUBSCRIPTIONS = st.builds(
    lambda **given: pb.SubscribeRequest(subscribe=pb.SubscriptionList(**given)),
    prefix=PREFIXES,
    subscription=st.lists(
        st.builds(
            pb.Subscription,
            path=PATHS,
            mode=st.integers(0, 2),
            sample_interval=st.integers(0, 2**64 - 1),
            heartbeat_interval=st.integers(0, 2**64 - 1),
            suppress_redundant=st.booleans(),
        ),
        max_size=3,
    ),
    mode=st.integers(0, 2),
    encoding=st.integers(0, 9),
)


@st.composite
def broken(draw: st.DrawFn, messages: st.SearchStrategy[Any]) -> Any:
    """A valid message with some bytes changed, cut off or repeated; None when it is none then."""
    message = draw(messages)
    data = bytearray(message.SerializeToString())
    for _ in range(draw(st.integers(1, 4))):
        if not data:
            break
        at = draw(st.integers(0, len(data) - 1))
        match draw(st.integers(0, 3)):
            case 0:
                data[at] = draw(st.integers(0, 255))
            case 1:
                del data[at:]
            case 2:
                data[at:at] = data[at : at + draw(st.integers(1, 8))]
            case _:
                data[at] ^= 1 << draw(st.integers(0, 7))
    try:
        return type(message).FromString(bytes(data))
    except DecodeError:
        return None  # gRPC rejects it before we see it


def in_words(error: RpcError) -> None:
    assert error.text.strip()
    assert error.code.name in {
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "UNIMPLEMENTED",
        "RESOURCE_EXHAUSTED",
        "PERMISSION_DENIED",
    }


@given(SETS | broken(SETS))
@HARDER
def test_a_set_is_decoded_or_rejected(request: Any) -> None:
    if request is None:
        return
    try:
        extensions.read(request, extensions.SET)
        _, edits = gnmi_set.edits(MODEL.root, request)
    except RpcError as error:
        in_words(error)
        return
    for edit in edits:
        if edit.document:
            edit.document.decode()


def test_a_deep_value_is_rejected() -> None:
    deep = b'{"srv6":' * 3000 + b"1" + b"}" * 3000
    value = pb.TypedValue(json_val=deep)
    update = pb.Update(path=wire.path(parse("/srv6")), val=value)
    with pytest.raises(RpcError, match="nested deeper") as caught:
        gnmi_set.edits(MODEL.root, pb.SetRequest(update=[update]))
    in_words(caught.value)


def test_numbers_that_are_no_enumerators_are_rejected() -> None:
    with pytest.raises(RpcError, match="type 5: unknown"):
        get.read(pb.GetRequest(type=5), MODEL, KNOWN, None, 0)
    path = wire.path(parse("/srv6"))
    for list_mode, mode in ((7, 0), (0, 7)):
        asked = pb.SubscriptionList(
            mode=list_mode, subscription=[pb.Subscription(path=path, mode=mode)]
        )
        with pytest.raises(RpcError, match="mode 7 is unknown"):
            watches(MODEL, asked, KNOWN, SampleLimits())


@given(GETS | broken(GETS))
@HARDER
def test_a_get_is_answered_or_rejected(request: Any) -> None:
    if request is None:
        return
    try:
        depth = extensions.read(request, extensions.GET).depth
        if sonic.concerns(request):
            sonic.get(request, Snapshot(MODEL), None)
        else:
            get.get(get.read(request, MODEL, KNOWN, None, depth), Snapshot(MODEL))
    except RpcError as error:
        in_words(error)


@given(SUBSCRIPTIONS | broken(SUBSCRIPTIONS))
@HARDER
def test_a_subscription_is_understood_or_rejected(request: Any) -> None:
    if request is None or request.WhichOneof("request") != "subscribe":
        return
    asked = request.subscribe
    try:
        extensions.read(request, extensions.SUBSCRIBE)
        if sonic.concerns(asked):
            shared = Telemetry(None, None, SampleLimits())  # type: ignore[arg-type]
            sonic.Subscription(shared, Caller(), asked, None, None)  # type: ignore[arg-type]
        else:
            watches(MODEL, asked, KNOWN, SampleLimits())
    except RpcError as error:
        in_words(error)


@given(PATHS)
@HARDER
def test_what_is_read_as_a_path_is_written_as_it_was(message: Any) -> None:
    try:
        path = wire.read_path(message)
    except ValueError:
        return
    again = wire.path(path.elems, path.origin)
    assert list(again.elem) == list(message.elem)
