"""Get (gnmi-specification.md 3.3). Runs in an executor thread on a snapshot."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from gnmi_pb import gnmi_pb2 as pb
from grpc import StatusCode

from srv6mgrd.gnmi import encode, frames, wire
from srv6mgrd.gnmi.budget import Budget
from srv6mgrd.gnmi.failure import RpcError, as_status, check_encoding, check_number
from srv6mgrd.gnmi.pack import Request, Sample, counters_of, named
from srv6mgrd.gnmi.path import Path, Pattern, UnknownPathError, absolute, resolve
from srv6mgrd.gnmi.rights import Permit
from srv6mgrd.gnmi.schema import Kind, Node
from srv6mgrd.gnmi.turns import restful
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


class Asked(NamedTuple):
    """A GetRequest that was read: its paths, each with what it resolves to, and of them what the
    request is for and the client may read."""

    prefix: Path
    paths: list[tuple[Path, list[Pattern]]]
    chosen: Selection
    encoding: int

    def origin(self, path: Path) -> str:
        """What the paths of an answer have (2.2.2); that of a prefix comes back in the prefix."""
        return "" if self.prefix.origin else path.origin


def prepared(
    request: Any,
    model: Model,
    known: frozenset[str],
    permit: Permit | None,
    depth: int,
    *,
    budget: Budget,
    snapshot: Snapshot | None = None,
) -> tuple[Asked, list[Request] | None, bytes | None]:
    """The request, and how it is read from the records if it can be; else the answer, if there is
    a snapshot already: each way to another thread and back is a wait. Raises RpcError and
    BudgetError."""
    asked = read(request, model, known, permit, depth, budget=budget)
    requests = packs(asked, model)
    answer = None if requests is not None or snapshot is None else get(asked, snapshot)
    return asked, requests, answer


def read(
    request: Any,
    model: Model,
    known: frozenset[str],
    permit: Permit | None,
    depth: int,
    *,
    budget: Budget | None = None,
) -> Asked:
    """Raises RpcError and BudgetError."""
    check_number(len(request.path), "get")
    check_encoding(request.encoding)
    if request.type not in _WANTS:
        # Enumerations of protobuf are open.
        raise RpcError(
            StatusCode.INVALID_ARGUMENT, f"type {request.type}: unknown; use one of gnmi.proto"
        )
    want = want_models(_WANTS[request.type], request.use_models, known)
    with as_status():
        prefix = wire.read_path(request.prefix)
        paths = [absolute(prefix, wire.read_path(p)) for p in restful(request.path, every=20)]
    resolved = [(path, patterns_of(model, path, budget)) for path in paths]
    return Asked(prefix, resolved, Selection(want, permit, depth), request.encoding)


def get(asked: Asked, snapshot: Snapshot) -> bytes:
    """The GetResponse: what may be read, as if there were nothing else."""
    reader = _Reader(snapshot, asked)
    # Several are one with all of their notifications.
    return b"".join([reader.notification(*item) for item in asked.paths])


def packs(asked: Asked, model: Model) -> list[Request] | None:
    """How each path is read straight from the records, where all of them name counters of all SIDs
    and nothing else: leaf by leaf a hundred thousand SIDs take ten seconds."""
    found = [_packs(asked, model, path, patterns) for path, patterns in asked.paths]
    return [r for r in found if r is not None] if found and None not in found else None


def _packs(asked: Asked, model: Model, path: Path, patterns: list[Pattern]) -> Request | None:
    above = counters_of(model.root)
    if len(patterns) != 1 or above is None:
        return None
    leaves, only = named(model.root, patterns, asked.chosen.want)
    node = patterns[0][-1].node if patterns[0] else None
    whole = None
    if not only or (asked.encoding == wire.ASCII and node is above):
        return None
    if asked.encoding != wire.PROTO and node not in leaves:
        if node is not above:
            return None
        whole = above
    return Request(leaves, asked.encoding, asked.prefix, whole=whole, origin=asked.origin(path))


def packed(
    asked: Asked, requests: Sequence[Request], sample: Sample, budget: Budget
) -> bytes | None:
    """The GetResponse; None when there is nothing to give for one of the paths, or rules differ
    between SIDs."""
    permit = asked.chosen.permit
    if not sample.table.keys or (permit is not None and permit.is_keyed):
        return None
    out = []
    for (_, (pattern,)), request in zip(asked.paths, requests, strict=True):
        at = partial(sample.table.at, sample.table.keys[0])
        taken = (n for n in request.leaves if asked.chosen.takes(at(n), len(pattern)))
        budget.spend(len(sample.table.keys))
        out.append(sample.response(request._replace(leaves=tuple(taken))))
        budget.hold(len(out[-1]))
    return b"".join(out) if all(out) else None


def patterns_of(model: Model, path: Path, budget: Budget | None) -> list[Pattern]:
    """Resolved path; 3.3.4: what another model would hold is unimplemented, the rest not found."""
    with as_status():
        try:
            return resolve(model.root, path, model.views, budget)
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

    def __init__(self, snapshot: Snapshot, asked: Asked) -> None:
        self._snapshot, self._prefix = snapshot, asked.prefix
        self._chosen, self._encoding = asked.chosen, asked.encoding
        self._asked = asked

    def notification(self, path: Path, patterns: list[Pattern]) -> bytes:
        """3.3.2: one for each requested path, as a GetResponse with it alone."""
        origin = self._asked.origin(path)
        updates = list(restful(u for p in patterns for u in self._updates(p, origin)))
        if not updates:
            reads_state = all(p and not p[-1].node.config for p in patterns)
            if reads_state and self._snapshot.problem:
                raise RpcError(StatusCode.UNAVAILABLE, self._snapshot.problem)
            if not _may_be_empty(patterns):
                raise RpcError(StatusCode.NOT_FOUND, f"path {path}: no such data")
        # GetResponse.notification has the number of SubscribeResponse.update.
        prefix = frames.prefix(self._prefix)
        return frames.notification(self._time(patterns), prefix, updates)

    def _time(self, patterns: list[Pattern]) -> int:
        """Counters alone have the time of their sample (2.2.1)."""
        above = counters_of(self._snapshot.model.root)
        counters = () if above is None else (above, *above.children.values())
        counted = all(p and p[-1].node in counters for p in patterns)
        return (self._snapshot.sampled_at if counted else 0) or time.time_ns()

    def _updates(self, pattern: Pattern, origin: str) -> Iterator[bytes]:
        """One Update per instance; PROTO has no subtrees, so there one per leaf (2.3.3)."""
        snapshot, encoding = self._snapshot, self._encoding
        for at, data in snapshot.find(pattern):
            node = at[-1].node if at else snapshot.model.root
            if encoding in (wire.JSON, wire.JSON_IETF):
                reduced = snapshot.subtree(at, data, self._chosen)
                if reduced is not None:
                    yield self._held(frames.whole_update(at, self._value(node, reduced), origin))
                continue
            leaves = snapshot.leaves(at, data, self._chosen)
            if encoding == wire.PROTO:
                for leaf, value in leaves:
                    yield self._held(frames.update(encoding, leaf, value, of=origin))
            elif listed := list(leaves):
                text = encode.ascii_text(listed, at)
                yield self._held(frames.whole_update(at, pb.TypedValue(ascii_val=text), origin))

    def _value(self, node: Node, data: Any) -> Any:
        make = wire.leaf_value if node.is_leaf else wire.tree_value
        return make(self._encoding, node, data)

    def _held(self, update: bytes) -> bytes:
        if self._snapshot.budget is not None:
            self._snapshot.budget.hold(len(update))
        return update
