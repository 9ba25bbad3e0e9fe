"""Values between RFC 7951 form (how the tree holds them) and gNMI's encodings. Pure.

gnmi-specification.md 2.2.3 and 2.3; protobuf-vals.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from srv6mgrd.gnmi.mirror import lexical
from srv6mgrd.gnmi.path import Pattern, elems, text
from srv6mgrd.gnmi.schema import Base, Kind, Node
from srv6mgrd.gnmi.turns import restful

_WIDE = (Base.INT64, Base.UINT64)


class ValueProblem(ValueError):
    """A value that can't be what the schema wants: INVALID_ARGUMENT."""


class Scalar(NamedTuple):
    """A TypedValue: name of its field, and the value; for leaflist_val a list of these."""

    field: str
    value: Any


# Entries of a list that are encoded in one go.
_PART = 200


def dumps(value: Any) -> bytes:
    return _text(value).encode()


def _text(value: Any) -> str:
    """Long lists in parts: while json encodes, no other thread runs."""
    if isinstance(value, list) and len(value) > _PART:
        parts = (
            _at_once(value[n : n + _PART])[1:-1]
            for n in restful(range(0, len(value), _PART), every=1)
        )
        return f"[{','.join(parts)}]"
    if isinstance(value, dict) and any(isinstance(v, (dict, list)) for v in value.values()):
        members = (f"{_at_once(k)}:{_text(v)}" for k, v in restful(value.items()))
        return "{" + ",".join(members) + "}"
    return _at_once(value)


def _at_once(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _strip(value: Any) -> Any:
    """An identity without its module."""
    return value.rpartition(":")[2] if isinstance(value, str) else value


def json_ietf(node: Node, data: Any) -> Any:
    """RFC 7951: top-level members carry their module (section 4)."""
    if node.is_leaf:
        return data
    return {
        f"{child.module}:{child.name}": _ietf(child, value)
        for member, value in data.items()
        if (child := node.children[member]) is not None
    }


def _ietf(node: Node, data: Any) -> Any:
    if node.is_leaf:
        return data
    if node.kind is Kind.LIST:
        return [_ietf_members(node, entry) for entry in restful(data.values())]
    return _ietf_members(node, data)


def _ietf_members(node: Node, data: Mapping[str, Any]) -> dict[str, Any]:
    return {m: _ietf(node.children[m], v) for m, v in data.items()}


def json_plain(node: Node, data: Any) -> Any:
    """JSON: bare names, numbers as numbers, identities without module."""
    if node.kind is Kind.LEAF_LIST:
        return [_plain(node, v) for v in data]
    if node.kind is Kind.LEAF:
        return _plain(node, data)
    return {
        child.name: [json_plain(child, e) for e in restful(value.values())]
        if child.kind is Kind.LIST
        else json_plain(child, value)
        for member, value in data.items()
        if (child := node.children[member]) is not None
    }


def _plain(node: Node, value: Any) -> Any:
    if node.base in _WIDE:
        return int(value)
    if node.base is Base.DECIMAL:
        return float(value)
    return _strip(value) if node.base is Base.IDENTITY else value


def scalar(node: Node, value: Any) -> Scalar:
    """A leaf or leaf-list in native protobuf fields (2.2.3)."""
    if node.kind is Kind.LEAF_LIST:
        return Scalar("leaflist_val", [_scalar(node, v) for v in value])
    return _scalar(node, value)


def _scalar(node: Node, value: Any) -> Scalar:
    match node.base:
        case Base.INT | Base.INT64:
            return Scalar("int_val", int(value))
        case Base.UINT | Base.UINT64:
            return Scalar("uint_val", int(value))
        case Base.DECIMAL:
            return Scalar("double_val", float(value))  # decimal64-deprecation.md
        case Base.BOOL | Base.EMPTY:
            return Scalar("bool_val", value is not False)
        case Base.IDENTITY:
            return Scalar("string_val", _strip(value))
        case Base.UNION if isinstance(value, bool):
            return Scalar("bool_val", value)
        case Base.UNION if isinstance(value, int):
            return Scalar("int_val" if value < 0 else "uint_val", value)
        case _:
            return Scalar("string_val", lexical(value))


def ascii_text(leaves: list[tuple[Pattern, Any]], base: Pattern) -> str:
    """ASCII is free-form (2.3.4): a bare value for a leaf, else ``path value`` lines."""
    if len(leaves) == 1 and leaves[0][0] == base:
        return _ascii(leaves[0][1])
    return "".join(f"{text(elems(at))} {_ascii(value)}\n" for at, value in restful(leaves))


def _ascii(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(lexical(v) for v in value)
    return lexical(value)


def from_scalar(node: Node, given: Scalar) -> Any:
    """A native protobuf value as RFC 7951 value of ``node``; libyang checks it further."""
    if node.kind is Kind.LEAF_LIST:
        if given.field != "leaflist_val":
            raise ValueProblem(f"{node.name} is a leaf-list; send leaflist_val or JSON")
        return [_from_scalar(node, item) for item in given.value]
    if not node.is_leaf:
        raise ValueProblem(f"{node.name} is no leaf; send JSON_IETF or JSON")
    return _from_scalar(node, given)


def _from_scalar(node: Node, given: Scalar) -> Any:
    field, value = given
    if field == "leaflist_val":
        raise ValueProblem(f"{node.name} holds one value, not a list")
    wanted: dict[Base, tuple[str, ...]] = {
        Base.INT: ("int_val", "uint_val"),
        Base.INT64: ("int_val", "uint_val"),
        Base.UINT: ("uint_val", "int_val"),
        Base.UINT64: ("uint_val", "int_val"),
        Base.DECIMAL: ("double_val", "float_val", "int_val", "uint_val"),
        Base.BOOL: ("bool_val",),
        Base.EMPTY: ("bool_val",),
        Base.BINARY: ("bytes_val", "string_val"),
        Base.UNION: ("string_val", "int_val", "uint_val", "bool_val"),
    }
    allowed = (*wanted.get(node.base, ("string_val",)), "ascii_val")
    if field not in allowed:
        raise ValueProblem(f"{node.name} can't be {field}; send {allowed[0]}")
    if field == "ascii_val":
        return _from_text(node, value)
    if node.base in _WIDE or node.base is Base.DECIMAL:
        return str(value)
    if node.base is Base.EMPTY:
        return [None]
    if field == "bytes_val":
        import base64

        return base64.b64encode(value).decode()
    return value


def _from_text(node: Node, value: str) -> Any:
    if node.base in (Base.INT, Base.UINT):
        try:
            return int(value)
        except ValueError:
            raise ValueProblem(f"{node.name}: {value!r} is no number") from None
    if node.base is Base.BOOL:
        if value not in ("true", "false"):
            raise ValueProblem(f"{node.name}: {value!r} is neither true nor false")
        return value == "true"
    return value


def key_value(node: Node, value: str) -> Any:
    """A key of a path as RFC 7951 value."""
    return _from_text(node, value)


def qualify(node: Node, value: Any) -> Any:
    """Plain JSON as RFC 7951: names get their modules, 64-bit numbers become strings.

    Names that the schema doesn't know stay, for libyang to name them in its rejection.
    """
    if isinstance(value, list) and node.kind in (Kind.LIST, Kind.LEAF_LIST):
        return [qualify(node, v) for v in value]
    if isinstance(value, dict):
        return {
            (child.member if child is not None else name): (
                qualify(child, below) if child is not None else below
            )
            for name, below in value.items()
            for child in (node.child(name),)
        }
    wide = node.base in _WIDE or node.base is Base.DECIMAL
    if node.is_leaf and wide and not isinstance(value, (bool, str)):
        return str(value)
    return value


def needs_qualifying(node: Node) -> bool:
    """Whether plain JSON for ``node`` differs from RFC 7951 at all; often it doesn't."""
    return any(
        n.module != node.module or n.base in _WIDE or n.base is Base.DECIMAL
        for n in node.descendants()
        if n.config
    )
