"""Protobuf messages to and from our own types: the one place that knows gnmi_pb's classes.

gnmi_pb's classes are untyped here; everything else uses what these functions return.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gnmi_pb import gnmi_pb2 as pb
from google.protobuf.message import DecodeError

from srv6mgrd.gnmi import encode
from srv6mgrd.gnmi.encode import Scalar
from srv6mgrd.gnmi.path import Elem, Path, PathError, Pattern, elems
from srv6mgrd.gnmi.schema import Node

JSON, BYTES, PROTO, ASCII, JSON_IETF = (
    pb.JSON,
    pb.BYTES,
    pb.PROTO,
    pb.ASCII,
    pb.JSON_IETF,
)
ENCODINGS = (JSON_IETF, JSON, PROTO, ASCII)
VERSION = "0.10.0"
SERVICE = "gnmi.gNMI"


class Unreadable(Exception):
    """What a client sent is not the message that it should be."""


def read(kind: Any, data: bytes) -> Any:
    """The message, or Unreadable: gRPC itself would answer INTERNAL, without a word."""
    try:
        return kind.FromString(data)
    except DecodeError:
        return Unreadable(
            f"request: it is no {kind.DESCRIPTOR.full_name}, or holds text that is not UTF-8;"
            " send what its .proto file says"
        )


def encoding_name(encoding: int) -> str:
    return str(pb.Encoding.Name(encoding)) if encoding in pb.Encoding.values() else str(encoding)


def read_path(message: Any) -> Path:
    """A Path message; the pre-0.4 ``element`` field is rejected rather than ignored."""
    if message.element and not message.elem:
        raise PathError("path: the field 'element' is obsolete; use 'elem'")
    found = []
    for elem in message.elem:
        if not elem.name:
            raise PathError("path: an element has no name")
        found.append(Elem(elem.name, tuple(sorted(elem.key.items()))))
    return Path(tuple(found), message.origin, message.target)


def path(elements: Iterable[Elem], origin: str = "") -> Any:
    return pb.Path(
        origin=origin, elem=[pb.PathElem(name=name, key=dict(keys)) for name, keys in elements]
    )


def prefix(asked: Path) -> Any | None:
    """Prefix of an answer: target (2.2.2.1) and origin as they were asked, else none."""
    if not asked.target and not asked.origin:
        return None
    return pb.Path(target=asked.target, origin=asked.origin)


def scalar(given: Scalar) -> Any:
    if given.field == "leaflist_val":
        items = [scalar(item) for item in given.value]
        return pb.TypedValue(leaflist_val=pb.ScalarArray(element=items))
    return pb.TypedValue(**{given.field: given.value})


def leaf_value(encoding: int, node: Node, value: Any) -> Any:
    """A leaf as TypedValue."""
    if encoding == JSON_IETF:
        return pb.TypedValue(json_ietf_val=encode.dumps(value))
    if encoding == JSON:
        return pb.TypedValue(json_val=encode.dumps(encode.json_plain(node, value)))
    if encoding == ASCII:
        return pb.TypedValue(ascii_val=encode.ascii_text([((), value)], ()))
    return scalar(encode.scalar(node, value))


def tree_value(encoding: int, node: Node, data: Any) -> Any:
    """A subtree as TypedValue in one of the JSON encodings."""
    if encoding == JSON_IETF:
        return pb.TypedValue(json_ietf_val=encode.dumps(encode.json_ietf(node, data)))
    return pb.TypedValue(json_val=encode.dumps(encode.json_plain(node, data)))


def read_value(value: Any) -> tuple[str, Any]:
    """Field name and content of a TypedValue; ("", None) when it is empty."""
    field = value.WhichOneof("value")
    if field is None:
        return "", None
    content = getattr(value, field)
    if field == "leaflist_val":
        return field, [Scalar(*read_value(item)) for item in content.element]
    return field, content


def update(at: Pattern, value: Any, duplicates: int = 0, origin: str = "") -> Any:
    return pb.Update(path=path(elems(at), origin), val=value, duplicates=duplicates)


def notification(
    timestamp: int, asked: Path, updates: Sequence[Any] = (), deletes: Sequence[Any] = ()
) -> Any:
    return pb.Notification(
        timestamp=timestamp, prefix=prefix(asked), update=updates, delete=deletes
    )


def sync_response() -> Any:
    return pb.SubscribeResponse(sync_response=True)


def serialize(message: Any) -> bytes:
    """Serializer that lets pre-encoded answers through."""
    return message if isinstance(message, bytes) else bytes(message.SerializeToString())
