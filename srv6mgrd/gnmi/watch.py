"""The subscriptions of a SubscriptionList (gnmi-specification.md 3.5.1), resolved. Pure but for
pb."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gnmi_pb import gnmi_pb2 as pb
from grpc import StatusCode

from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.budget import Budget
from srv6mgrd.gnmi.failure import RpcError, as_status, check_number
from srv6mgrd.gnmi.get import want_models
from srv6mgrd.gnmi.pack import counts_all, named
from srv6mgrd.gnmi.path import Path, Pattern, UnknownPathError, absolute, resolve
from srv6mgrd.gnmi.rights import Permit
from srv6mgrd.gnmi.schema import Node
from srv6mgrd.gnmi.view import Model, Selection, is_counter

_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class SampleLimits:
    """``fastest`` sampling that a client may ask for; ``counters`` when we choose. Seconds."""

    fastest: float = 0.1
    counters: float = 5.0


@dataclass(frozen=True, slots=True)
class Watch:
    """One subscription, resolved: sampled when it has an interval, else sent on change."""

    patterns: tuple[Pattern, ...]
    chosen: Selection
    interval: float = 0.0
    suppress: bool = False
    heartbeat: float = 0.0
    # The client left the interval to us (3.5.1.5.2): it may be longer.
    flexible: bool = False
    # As the path names it.
    origin: str = ""
    # Counters of every SID that it names; when these are all, they are sent as they are stored.
    packed: tuple[Node, ...] = ()
    only_packed: bool = False
    # It names leaves that are made from counters of SIDs.
    counted: bool = False

    @property
    def needs_counters(self) -> bool:
        """Whether a snapshot that it is read from has to hold the counters of all SIDs."""
        return self.counted or bool(self.packed)

    @property
    def is_packed(self) -> bool:
        """Rules that differ between SIDs take the long way."""
        permit = self.chosen.permit
        return self.only_packed and (permit is None or not permit.is_keyed)

    def takes(self, at: Pattern) -> bool:
        """Whether one of its paths gives this leaf."""
        return any(
            counts_all(p, at[-1].node) and self.chosen.takes(at, len(p)) for p in self.patterns
        )


def check_list(asked: Any) -> None:
    """RpcError for a SubscriptionList that nobody can serve, whatever its paths name."""
    if not asked.subscription:
        raise RpcError(StatusCode.INVALID_ARGUMENT, "subscribe: there is no subscription")
    for what, given, known_modes in (
        ("mode", [asked.mode], pb.SubscriptionList.Mode),
        ("subscription mode", [s.mode for s in asked.subscription], pb.SubscriptionMode),
    ):
        if unknown := set(given).difference(known_modes.values()):
            raise RpcError(
                StatusCode.INVALID_ARGUMENT,
                f"subscribe: {what} {min(unknown)} is unknown; use one of gnmi.proto",
            )
    check_number(len(asked.subscription), "subscribe")


def watches(
    model: Model,
    asked: Any,
    known: frozenset[str],
    limits: SampleLimits,
    *,
    permit: Permit | None = None,
    depth: int = 0,
    budget: Budget | None = None,
) -> list[Watch]:
    """The subscriptions of a SubscriptionList, of what ``permit`` lets through; TARGET_DEFINED
    becomes two of them."""
    check_list(asked)
    want = want_models(lambda _: True, asked.use_models, known)
    chosen = Selection(want, permit, depth)
    reported = replace(chosen, want=lambda n: want(n) and not is_counter(n))
    counted = replace(chosen, want=lambda n: want(n) and is_counter(n))
    budget = budget or Budget("subscribe")
    out: list[Watch] = []
    with as_status():
        prefix = wire.read_path(asked.prefix)
        for item in asked.subscription:
            path = absolute(prefix, wire.read_path(item.path))
            try:
                patterns = tuple(resolve(model.root, path, model.views, budget))
            except UnknownPathError as e:
                raise RpcError(StatusCode.UNIMPLEMENTED, str(e)) from e  # 3.5.2.4
            out += (
                part
                for watch in (
                    _by_target(item, path, patterns, (reported, counted), limits)
                    if item.mode == pb.TARGET_DEFINED
                    else [_watch(item, path, patterns, chosen, limits)]
                )
                for part in _with_packed(model, watch, budget)
            )
    return _joined(out)


def _with_packed(model: Model, watch: Watch, budget: Budget) -> list[Watch]:
    """The watch; one that is sampled in two, where it names counters of all SIDs beside others."""
    packed, only = named(model.root, watch.patterns, watch.chosen.want, budget)
    whole = _with_counted(model, replace(watch, packed=packed, only_packed=only))
    if not packed or only or not watch.interval:
        return [whole]
    want = watch.chosen.want
    counters = replace(watch.chosen, want=lambda n: n in packed)
    others = replace(watch.chosen, want=lambda n: n not in packed and want(n))
    return [
        _with_counted(model, replace(watch, chosen=others)),
        replace(watch, chosen=counters, packed=packed, only_packed=True),
    ]


def _with_counted(model: Model, watch: Watch) -> Watch:
    """Those of proxies come with the state of these."""
    return replace(
        watch,
        counted=any(
            is_counter(node) and (model.is_view(_top(node)) or not node.counts)
            for pattern in watch.patterns
            for node in (pattern[-1].node if pattern else model.root).descendants()
            if watch.chosen.want(node)
        ),
    )


def _top(node: Node) -> Node:
    return next(iter(node.lineage()), node)


def _watch(
    item: Any, path: Path, patterns: tuple[Pattern, ...], chosen: Selection, limits: SampleLimits
) -> Watch:
    interval, heartbeat = intervals(item, path, limits)
    suppress = item.suppress_redundant and item.mode == pb.SAMPLE
    flexible = item.mode == pb.SAMPLE and not item.sample_interval
    return Watch(patterns, chosen, interval, suppress, heartbeat, flexible, path.origin)


def _by_target(
    item: Any,
    path: Path,
    patterns: tuple[Pattern, ...],
    chosen: tuple[Selection, Selection],
    limits: SampleLimits,
) -> list[Watch]:
    """The part that is sent on change, and the counters, which are sampled."""
    reported, counted = chosen
    interval, beat = intervals(item, path, limits)
    return [
        Watch(patterns, reported, heartbeat=beat, origin=path.origin),
        Watch(patterns, counted, interval, heartbeat=beat, flexible=True, origin=path.origin),
    ]


def _joined(found: list[Watch]) -> list[Watch]:
    """Counters of every SID as one Watch where they differ in nothing but the path: each leaf a
    path of its own is how collectors ask for them."""
    out: list[Watch] = []
    alike: dict[tuple[Any, ...], int] = {}
    for watch in found:
        kind = (watch.chosen, watch.interval, watch.suppress, watch.heartbeat, watch.origin)
        at = alike.setdefault(kind, len(out)) if watch.only_packed else len(out)
        if at == len(out):
            out.append(watch)
            continue
        first = out[at]
        packed = tuple(dict.fromkeys((*first.packed, *watch.packed)))
        out[at] = replace(first, patterns=(*first.patterns, *watch.patterns), packed=packed)
    return out


def intervals(item: Any, path: Path, limits: SampleLimits) -> tuple[float, float]:
    """Seconds between samples, of counters if the mode is TARGET_DEFINED (0: sent on change), and
    between heartbeats (0: none)."""
    heartbeat, interval = item.heartbeat_interval / _NS, item.sample_interval / _NS
    if heartbeat and heartbeat < limits.fastest:
        raise _too_fast(path, "heartbeat_interval", limits)
    if item.mode == pb.ON_CHANGE:
        return 0.0, heartbeat
    if item.mode == pb.SAMPLE:
        if interval and interval < limits.fastest:
            raise _too_fast(path, "sample_interval", limits)
        return interval or limits.fastest, heartbeat
    if interval:
        raise RpcError(
            StatusCode.INVALID_ARGUMENT,
            f"path {path}: TARGET_DEFINED takes no sample_interval; leave it out or use SAMPLE",
        )
    return limits.counters, heartbeat


def counts(watch: Watch, root: Node) -> bool:
    """Whether it names counters."""
    return any(
        is_counter(node) and watch.chosen.want(node)
        for pattern in watch.patterns
        for node in (pattern[-1].node if pattern else root).descendants()
    )


def origins(found: list[Watch], root: Node, prefix: Path) -> dict[Node, str]:
    """The origin of each tree, by its first node, as the paths name it (2.2.2): that of the first
    path that has one. The prefix that comes back has its own."""
    named: dict[Node, str] = {}
    for watch in found if not prefix.origin else ():
        for pattern in watch.patterns if watch.origin else ():
            tops = [pattern[0].node] if pattern else root.children.values()
            for top in tops:
                named.setdefault(top, watch.origin)
    return named


def _too_fast(path: Path, what: str, limits: SampleLimits) -> RpcError:
    return RpcError(
        StatusCode.INVALID_ARGUMENT,
        f"path {path}: {what} is too short; {limits.fastest:g} s is the shortest",
    )
