"""What clients send wrong: the status that the specification names, words, nothing changed, nothing
left behind."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from tests.contract.gnmi.client import Client, failing, path, subscription
from tests.contract.gnmi.data import RED, TABLE

LENGTH = "/srv6/locators/locator[name=main]/function-length"
INVALID = grpc.StatusCode.INVALID_ARGUMENT
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
MIB = 1 << 20


def raw(client: Client, rpc: str) -> Any:
    """An RPC whose messages are bytes."""
    make = client.channel.stream_stream if rpc == "Subscribe" else client.channel.unary_unary
    return make(f"/gnmi.gNMI/{rpc}", request_serializer=None, response_deserializer=None)


# Field 1 of each request is a Path, or an extension is; a byte alone is no message at all.
UNREADABLE = {
    "a key that is not UTF-8": b"\x12\x0d\x1a\x0b\x0a\x03vrf\x12\x04\x0a\x02\xff\xfe",
    "no message": b"\xff",
    "cut off": b"\x12\x7f\x0a",
}


@pytest.mark.parametrize("rpc", ["Get", "Set"])
@pytest.mark.parametrize("bad", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_request_is_rejected(unchanged: Client, rpc: str, bad: bytes) -> None:
    code, text = failing(raw(unchanged, rpc), bad, timeout=10)
    assert code is INVALID
    assert f"it is no gnmi.{rpc}Request, or holds text that is not UTF-8" in text


def test_what_is_no_request_ends_a_stream_in_words(unchanged: Client) -> None:
    asked = pb.SubscriptionList(subscription=[subscription("/srv6")], encoding=pb.JSON_IETF)
    first = pb.SubscribeRequest(subscribe=asked).SerializeToString()
    for requests in ([b"\xff"], [first, b"\xff"]):
        code, text = failing(list, raw(unchanged, "Subscribe")(iter(requests), timeout=10))
        assert code is INVALID
        assert "it is no gnmi.SubscribeRequest" in text


def test_text_that_is_not_utf8_is_rejected(unchanged: Client) -> None:
    update = pb.Update(path=path(LENGTH), val=pb.TypedValue(string_val="zz"))
    bad = pb.SetRequest(update=[update]).SerializeToString().replace(b"zz", b"\xff\xfe")
    code, text = failing(raw(unchanged, "Set"), bad, timeout=10)
    assert code is INVALID
    assert "not UTF-8" in text
    for kind in ("json_val", "json_ietf_val"):
        value = pb.TypedValue(**{kind: b'"\xff"'})
        code, text = failing(unchanged.set, update={LENGTH: value})
        assert code is INVALID
        assert LENGTH in text


def big(size: int = 10 * MIB) -> dict[str, Any]:
    text = "x" * size
    quoted = f'"{text}"'.encode()
    return {
        "a string": (LENGTH, pb.TypedValue(string_val=text)),
        "JSON": (LENGTH, pb.TypedValue(json_val=quoted)),
        "JSON_IETF": (LENGTH, pb.TypedValue(json_ietf_val=quoted)),
        "text": ("/srv6/vrfs/vrf[name=blue]/table-id", pb.TypedValue(ascii_val=text)),
        "no JSON": ("/srv6/vrfs", pb.TypedValue(json_ietf_val=b"{" * size)),
        "a name": ("/srv6/vrfs", pb.TypedValue(json_ietf_val=b'{"vrf":[{"name":%b}]}' % quoted)),
        "a member": ("/srv6/vrfs", pb.TypedValue(json_ietf_val=b"{%b:1}" % quoted)),
        "bytes": (LENGTH, pb.TypedValue(bytes_val=text.encode())),
        "a key": (f"/srv6/vrfs/vrf[name={text}]/table-id", pb.TypedValue(uint_val=1)),
        "an element": (f"/srv6/{text}", pb.TypedValue(uint_val=1)),
    }


@pytest.mark.parametrize("op", ["update", "replace"])
@pytest.mark.parametrize("what", big(0))
def test_ten_megabytes_are_rejected_in_few_words(unchanged: Client, what: str, op: str) -> None:
    where, value = big()[what]
    code, text = failing(unchanged.set, **{op: {where: value}})
    assert code in (INVALID, grpc.StatusCode.NOT_FOUND), text
    assert 0 < len(text) < 5000


def test_ten_megabytes_that_are_right_are_taken(router: Client) -> None:
    value = b'{"vrf": [{"name": "red", "table-id": 101}]' + b" " * 10 * MIB + b"}"
    router.set(update={"/srv6/vrfs": pb.TypedValue(json_ietf_val=value)})
    assert router.value(TABLE) == 101


def test_ten_megabytes_in_a_path_that_is_read(unchanged: Client) -> None:
    for size, wanted in ((MIB, grpc.StatusCode.NOT_FOUND), (10 * MIB, EXHAUSTED)):
        where = f"/srv6/vrfs/vrf[name={'x' * size}]"
        code, text = failing(unchanged.raw_get, where)
        assert code is wanted
        assert 0 < len(text) < 5000
    code, text = failing(unchanged.set, delete=[f"{where}/nonsense"])
    assert code is grpc.StatusCode.NOT_FOUND
    assert 0 < len(text) < 5000


def origins(*given: tuple[str, str, Any]) -> list[Any]:
    """Updates, each of an origin."""
    return [
        pb.Update(path=path(f"{origin}:{where}" if origin else where), val=value)
        for origin, where, value in given
    ]


def test_origins_may_be_mixed_where_each_is_ours(router: Client) -> None:
    """One transaction, each path with its own origin (mixed-schema.md)."""
    given = origins(
        ("srv6mgr", TABLE, pb.TypedValue(uint_val=101)),
        ("", LENGTH, pb.TypedValue(uint_val=20)),
        ("srv6mgr-srv6", f"{RED}/interface", pb.TypedValue(json_ietf_val=b'["eth7"]')),
    )
    answer = router.stub.Set(pb.SetRequest(update=given), timeout=10)
    assert [r.path.origin for r in answer.response] == ["srv6mgr", "", "srv6mgr-srv6"]
    assert (router.value(TABLE), router.value(LENGTH)) == (101, 20)


@pytest.mark.parametrize("foreign", ["openconfig", "cli", "ietf", "sonic-db"])
def test_one_foreign_origin_rejects_all(unchanged: Client, foreign: str) -> None:
    given = origins(
        ("srv6mgr", TABLE, pb.TypedValue(uint_val=101)),
        (foreign, LENGTH, pb.TypedValue(uint_val=20)),
    )
    code, text = failing(unchanged.stub.Set, pb.SetRequest(update=given), timeout=10)
    assert code in (INVALID, grpc.StatusCode.NOT_FOUND), text
    assert foreign in text


def test_origins_in_prefix_and_path_contradict_each_other(unchanged: Client) -> None:
    for prefix, origin in (
        (pb.Path(origin="srv6mgr"), "srv6mgr"),
        (pb.Path(elem=path("/srv6").elem), "srv6mgr"),
    ):
        given = origins((origin, "/vrfs/vrf[name=red]/table-id", pb.TypedValue(uint_val=101)))
        code, text = failing(
            unchanged.stub.Set, pb.SetRequest(prefix=prefix, update=given), timeout=10
        )
        assert code is INVALID
        assert "origin" in text
    inside = pb.Update(path=pb.Path(target="pe1", elem=path(TABLE).elem))
    code, text = failing(unchanged.stub.Set, pb.SetRequest(update=[inside]), timeout=10)
    assert code is INVALID
    assert "target belongs into the prefix" in text


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (RED, {"name": "blue", "table-id": 5}),
        (RED, {"srv6mgr-srv6:name": "blue", "table-id": 5}),
        (RED, [{"name": "red", "table-id": 5}, {"name": "blue", "table-id": 6}]),
        (f"{RED}/name", "blue"),
        ("/srv6/vrfs/vrf[nme=red]", {"table-id": 5}),
        ("/srv6/vrfs/vrf[name=red][id=1]", {"table-id": 5}),
        ("/srv6/vrfs/vrf", {"table-id": 5}),
        ("/srv6/vrfs/vrf[name=*]", {"table-id": 5}),
    ],
)
@pytest.mark.parametrize("op", ["update", "replace"])
def test_keys_in_conflict_are_rejected(unchanged: Client, where: str, value: Any, op: str) -> None:
    code, text = failing(unchanged.set, **{op: {where: value}})
    assert code is INVALID, text
    assert text
