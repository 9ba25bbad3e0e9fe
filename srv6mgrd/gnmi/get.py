"""Get (gnmi-specification.md 3.3). Runs in an executor thread on a snapshot."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from gnmi_pb import gnmi_pb2 as pb
from grpc import StatusCode

from srv6mgrd.gnmi import encode, wire
from srv6mgrd.gnmi.failure import RpcError, as_status, check_encoding
from srv6mgrd.gnmi.path import Path, Pattern, UnknownPathError, absolute, resolve
from srv6mgrd.gnmi.rights import Permit
from srv6mgrd.gnmi.schema import Kind, Node
from srv6mgrd.gnmi.view import Model, Selection, Snapshot, Want

_WANTS: dict[int, Want] = {
    pb.GetRequest.ALL: lambda _: True,
    pb.GetRequest.CONFIG: lambda node: node.config,
    pb.GetRequest.STATE: lambda node: not node.config,
    # 3.3.1: read-only data of software processes; all our state is that.
    pb.GetRequest.OPERATIONAL: lambda node: not node.config,
}


def want_models(want: Want, use_models: Sequence[Any], known: frozenset[str]) -> Want:
    """Restrict to the modules that the client names (2.6)."""
    if not use_models:
        return want
    names = frozenset(m.name for m in use_models)
    if missing := names - known:
        raise RpcError(
            StatusCode.UNIMPLEMENTED,
            f"use_models: {sorted(missing)[0]} is not served; see Capabilities",
        )
    return lambda node: node.module in names and want(node)


def get(
    request: Any, snapshot: Snapshot, known: frozenset[str], permit: Permit | None, depth: int
) -> Any:
    """The GetResponse: what ``permit`` lets through, as if there were nothing else."""
    check_encoding(request.encoding)
    if request.type not in _WANTS:
        # Enumerations of protobuf are open.
        raise RpcError(
            StatusCode.INVALID_ARGUMENT, f"type {request.type}: unknown; use one of gnmi.proto"
        )
    want = want_models(_WANTS[request.type], request.use_models, known)
    with as_status():
        prefix = wire.read_path(request.prefix)
        paths = [absolute(prefix, wire.read_path(p)) for p in request.path]
    reader = _Reader(snapshot, Selection(want, permit, depth), request.encoding)
    return pb.GetResponse(notification=[reader.notification(p, prefix) for p in paths])


def patterns_of(model: Model, path: Path) -> list[Pattern]:
    """Resolved path; 3.3.4: what another model would hold is unimplemented, the rest not found."""
    with as_status():
        try:
            return resolve(model.root, path, model.views)
        except UnknownPathError as e:
            code = StatusCode.UNIMPLEMENTED if e.foreign else StatusCode.NOT_FOUND
            raise RpcError(code, str(e)) from e


def _may_be_empty(patterns: list[Pattern]) -> bool:
    """A container without presence always exists (RFC 7950 section 7.5.1)."""
    return all(
        not p or all(n.kind is Kind.CONTAINER and not n.presence and n.config for n, _ in p)
        for p in patterns
    )


class _Reader:
    """Reads one snapshot for one request."""

    def __init__(self, snapshot: Snapshot, chosen: Selection, encoding: int) -> None:
        self._snapshot, self._chosen, self._encoding = snapshot, chosen, encoding

    def notification(self, path: Path, prefix: Path) -> Any:
        """3.3.2: one for each requested path."""
        patterns = patterns_of(self._snapshot.model, path)
        updates = [u for p in patterns for u in self._updates(p)]
        if not updates:
            reads_state = all(p and not p[-1].node.config for p in patterns)
            if reads_state and self._snapshot.problem:
                raise RpcError(StatusCode.UNAVAILABLE, self._snapshot.problem)
            if not _may_be_empty(patterns):
                raise RpcError(StatusCode.NOT_FOUND, f"path {path}: no such data")
        return wire.notification(time.time_ns(), prefix, updates)

    def _updates(self, pattern: Pattern) -> list[Any]:
        """One Update per instance; PROTO has no subtrees, so there one per leaf (2.3.3)."""
        out = []
        snapshot, encoding = self._snapshot, self._encoding
        for at, data in snapshot.find(pattern):
            node = at[-1].node if at else snapshot.model.root
            if encoding in (wire.JSON, wire.JSON_IETF):
                reduced = snapshot.subtree(at, data, self._chosen)
                if reduced is not None:
                    out.append(wire.update(at, _value(encoding, node, reduced)))
                continue
            leaves = list(snapshot.leaves(at, data, self._chosen))
            if encoding == wire.PROTO:
                out += [wire.update(a, wire.leaf_value(encoding, a[-1].node, v)) for a, v in leaves]
            elif leaves:
                text = encode.ascii_text(leaves, at)
                out.append(wire.update(at, pb.TypedValue(ascii_val=text)))
        return out


def _value(encoding: int, node: Node, data: Any) -> Any:
    make: Callable[[int, Node, Any], Any] = wire.leaf_value if node.is_leaf else wire.tree_value
    return make(encoding, node, data)
