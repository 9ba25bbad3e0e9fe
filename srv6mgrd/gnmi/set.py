"""Set (gnmi-specification.md 3.4): a request as ordered edits with documents. Pure but for pb."""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gnmi_pb import gnmi_pb2 as pb
from grpc import StatusCode

from srv6mgrd.datastore.transaction import Edit, Op
from srv6mgrd.gnmi import encode, wire
from srv6mgrd.gnmi.encode import Scalar, ValueProblem
from srv6mgrd.gnmi.failure import RpcError, as_status
from srv6mgrd.gnmi.path import (
    ANY,
    Elem,
    Path,
    PathError,
    Pattern,
    UnknownPathError,
    absolute,
    is_concrete,
    resolve,
    xpath,
    xpath_of_entry,
)
from srv6mgrd.gnmi.schema import Kind, Node, canonical

_SCALARS = frozenset(
    {
        "string_val",
        "int_val",
        "uint_val",
        "bool_val",
        "bytes_val",
        "float_val",
        "double_val",
        "leaflist_val",
        "ascii_val",
    }
)


_PART = 1 << 20


class Operation(NamedTuple):
    """One operation of a request in the order of 3.4: delete, replace, update; ``result`` is
    what the response calls it."""

    op: Op
    path: Any
    value: Any = None
    result: int = pb.UpdateResult.INVALID


def ordered(request: Any) -> list[Operation]:
    """The operations as they are to be applied.

    union_replace (gnmi-union_replace.md 5.3.2) begins with the running configuration and replaces
    the parts that its paths name, each part once; with one schema tree there is nothing else to
    unite.
    """
    result = pb.UpdateResult
    if request.union_replace:
        if request.delete or request.replace or request.update:
            raise RpcError(
                StatusCode.INVALID_ARGUMENT,
                "union_replace: it must be alone; send delete, replace and update in another Set",
            )
        return [
            Operation(Op.REPLACE, u.path, u.val, result.UNION_REPLACE)
            for u in request.union_replace
        ]
    return [
        *(Operation(Op.DELETE, p, result=result.DELETE) for p in request.delete),
        *(Operation(Op.REPLACE, u.path, u.val, result.REPLACE) for u in request.replace),
        *(Operation(Op.UPDATE, u.path, u.val, result.UPDATE) for u in request.update),
    ]


def edits(root: Node, request: Any) -> tuple[list[Operation], list[Edit]]:
    """Operations of the request and what they ask of the datastore."""
    operations = ordered(request)
    out: list[Edit] = []
    with as_status():
        prefix = wire.read_path(request.prefix)
        for op, path, value, _ in operations:
            whole = absolute(prefix, wire.read_path(path))
            out += _delete(root, whole) if op is Op.DELETE else [_write(root, op, whole, value)]
        if request.union_replace:
            _check_disjoint(out)
    return operations, out


def _check_disjoint(edits: Sequence[Edit]) -> None:
    """Parts of a union that overlap contradict each other (gnmi-union_replace.md 5.3.3.2)."""
    targets = {edit.target for edit in edits}
    for target in targets:
        above = (target[:n] for n, c in enumerate(target) if c in "/[")
        if len(targets) < len(edits) or any(part in targets for part in above):
            raise PathError(
                f"path {target or '/'}: two parts of the union_replace overlap; say each part once"
            )


def response(request: Any, operations: Sequence[Operation]) -> Any:
    """SetResponse: one UpdateResult per operation, in order (3.4.2)."""
    return pb.SetResponse(
        prefix=request.prefix if request.HasField("prefix") else None,
        response=[pb.UpdateResult(path=o.path, op=o.result) for o in operations],
        timestamp=time.time_ns(),
    )


def _delete(root: Node, path: Path) -> list[Edit]:
    asked, entry = _entry_of_leaf_list(path)
    try:
        patterns = resolve(root, asked)
    except UnknownPathError as e:
        # 3.4.6 accepts what doesn't exist; a name that can't exist is a mistake to report.
        raise RpcError(StatusCode.NOT_FOUND, str(e)) from e
    if entry is not None:
        return [Edit(Op.DELETE, xpath_of_entry(p, entry)) for p in _leaf_lists(patterns, path)]
    writable = [p for p in patterns if not p or p[-1].node.config]
    if not writable:
        raise PathError(f"path {path}: is read-only; delete configuration only")
    if len(patterns) == 1 and writable[0] and writable[0][-1].node.is_key:
        raise PathError(f"path {path}: is a key; delete the list entry")
    # Wildcards name the branches; leaves and keys below go with them.
    return [Edit(Op.DELETE, xpath(p)) for p in writable if not (p and p[-1].node.is_key)]


def _entry_of_leaf_list(path: Path) -> tuple[Path, str | None]:
    """The path of the leaf-list, and the entry that ``[.=value]`` picks (RFC 7950 section 9.13)."""
    if not path.elems or tuple(key for key, _ in path.elems[-1].keys) != (".",):
        return path, None
    *above, (name, ((_, entry),)) = path.elems
    return replace(path, elems=(*above, Elem(name))), None if entry == ANY else entry


def _leaf_lists(patterns: Sequence[Pattern], path: Path) -> list[Pattern]:
    found = [p for p in patterns if p and p[-1].node.kind is Kind.LEAF_LIST]
    if not any(p[-1].node.config for p in found):
        why = (
            "is read-only; delete configuration only"
            if found
            else "is no leaf-list; leave [.=] out"
        )
        raise PathError(f"path {path}: {why}")
    return [p for p in found if p[-1].node.config]


def _write(root: Node, op: Op, path: Path, value: Any) -> Edit:
    try:
        patterns = resolve(root, path)
    except UnknownPathError as e:
        raise RpcError(StatusCode.NOT_FOUND, str(e)) from e  # 3.4.7
    pattern = patterns[0]
    whole_list = bool(pattern) and pattern[-1].node.kind is Kind.LIST and not path.elems[-1].keys
    if len(patterns) > 1 or not is_concrete(pattern[:-1] if whole_list else pattern):
        # 3.4.5: a subset of the keys is an error; wildcards are for reading and deleting.
        raise PathError(f"path {path}: {op.value} needs one node, all keys given")
    if pattern and not pattern[-1].node.config:
        raise PathError(f"path {path}: is read-only; {op.value} configuration only")
    document = wrap(pattern, _json(root, pattern, path, value), whole_list=whole_list)
    return Edit(op, xpath(pattern), document)


def _json(root: Node, pattern: Pattern, path: Path, value: Any) -> bytes:
    """The value as RFC 7951 JSON text; JSON_IETF that needs no change is not even decoded."""
    node = pattern[-1].node if pattern else root
    field, content = wire.read_value(value)
    if field == "json_ietf_val" or (field == "json_val" and not encode.needs_qualifying(node)):
        text = bytes(content).strip()
        if not text or text == b"null":
            raise ValueProblem(f"path {path}: the value is null; use delete to remove data")
        if node.is_leaf:
            _loads(path, text)
        else:
            _utf8(path, text)
        return text
    if field == "json_val":
        return encode.dumps(encode.qualify(node, _loads(path, content)))
    if field in _SCALARS:
        return encode.dumps(encode.from_scalar(node, Scalar(field, content)))
    if not field:
        raise ValueProblem(f"path {path}: there is no value")
    raise RpcError(
        StatusCode.UNIMPLEMENTED,
        f"path {path}: encoding {field} is unsupported; send JSON_IETF, JSON or a scalar",
    )


def _utf8(path: Path, text: bytes) -> None:
    """libyang takes bytes for UTF-8, and its binding can't word what is wrong with them."""
    decoder, view, at = codecs.getincrementaldecoder("utf-8")(), memoryview(text), 0
    while at < len(text) or not at:
        # In parts: while one is decoded, no other thread runs.
        part, at = view[at : at + _PART], at + _PART
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(part, final=at >= len(text))
        except UnicodeDecodeError as e:
            where = at - _PART - held + e.start
            raise ValueProblem(
                f"path {path}: the value is not UTF-8 ({e.reason} at byte {where}); correct it"
            ) from None


def _loads(path: Path, content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError as e:
        raise ValueProblem(f"path {path}: the value is no JSON ({e}); correct it") from None


def wrap(pattern: Pattern, value: bytes, *, whole_list: bool = False) -> bytes:
    """RFC 7951 document from the root to ``pattern`` with ``value`` there.

    The value is put in as text: ten thousand SIDs are a megabyte that nobody decodes here. Only
    a list entry is decoded, for its keys.
    """
    if not pattern:
        if not value.startswith(b"{"):
            raise ValueProblem("path /: the value is no JSON object")
        return value
    before, after = [b"{"], [b"}"]
    for step in pattern[:-1]:
        node, keys = step
        before.append(encode.dumps(node.member) + b":")
        if node.kind is Kind.LIST:
            known = {k: _key(node, k, v) for k, v in zip(node.keys, keys, strict=True)}
            before.append(b"[" + encode.dumps(known)[:-1] + b",")
            after.append(b"}]")
        else:
            before.append(b"{")
            after.append(b"}")
    node, keys = pattern[-1]
    before.append(encode.dumps(node.member) + b":")
    if node.kind is Kind.LIST:
        if whole_list:
            if not value.startswith(b"["):
                raise ValueProblem(f"{node.name}: a list without keys takes a JSON array")
        else:
            value = _entry(pattern, value)
    return b"".join((*before, value, *reversed(after)))


def _key(node: Node, key: str, value: str | None) -> Any:
    leaf = node.child(key)
    if leaf is None or value is None:
        raise ValueProblem(f"{node.name}: key {key} is missing")
    return encode.key_value(leaf, value)


def _entry(pattern: Pattern, value: bytes) -> bytes:
    """A list entry with its keys; those that the value holds must agree (3.4.5)."""
    node, keys = pattern[-1]
    where = f"{node.name}[{','.join(str(k) for k in keys)}]"
    try:
        entry = json.loads(value)
    except ValueError as e:
        raise ValueProblem(f"{where}: the value is no JSON ({e}); correct it") from None
    if isinstance(entry, list) and len(entry) == 1:
        entry = entry[0]
    if not isinstance(entry, dict):
        raise ValueProblem(f"{where}: the value is no JSON object")
    if not entry:
        # 3.4.4: {} would make the entry keyless.
        raise ValueProblem(f"{where}: the value is empty; use delete to remove the entry")
    out: dict[str, Any] = {}
    for key, wanted in zip(node.keys, keys, strict=True):
        leaf = node.child(key)
        if leaf is None or wanted is None:
            raise ValueProblem(f"{where}: key {key} is missing")
        given = entry.pop(key, entry.pop(f"{leaf.module}:{key}", None))
        if given is not None and canonical(leaf, str(given)) != wanted:
            raise ValueProblem(
                f"{where}: key {key} is {given} in the value; use the same in path and value"
            )
        out[key] = encode.key_value(leaf, wanted)
    return b"[" + encode.dumps(out | entry) + b"]"
