"""Leaves that are sampled: made once, and sent again while none of them can have changed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from srv6mgrd.gnmi import frames
from srv6mgrd.gnmi.mirror import Tree
from srv6mgrd.gnmi.outbox import Form, bundles
from srv6mgrd.gnmi.path import Pattern
from srv6mgrd.gnmi.projections.view import SOURCES, objects_of
from srv6mgrd.gnmi.sampling import PER_LEAF, PER_SENT_LEAF
from srv6mgrd.gnmi.turns import restful
from srv6mgrd.gnmi.view import Snapshot, is_counter
from srv6mgrd.gnmi.watch import Watch

# The objects that leaves are made from: each is replaced when something in it changes.
Moment = tuple[object, ...]


def moment(watch: Watch, snapshot: Snapshot) -> Moment:
    """What the leaves of a watch depend on."""
    permit = watch.chosen.permit
    return (
        snapshot.status,
        snapshot.proxies,
        None if permit is None else permit.policy,
        snapshot.counters if watch.counted else None,
        *(part for pattern in watch.patterns for part in _parts(snapshot, pattern)),
        *(part for pattern in watch.patterns for part in _of(snapshot.observed, pattern)),
    )


def _parts(snapshot: Snapshot, pattern: Pattern) -> Iterable[object]:
    """The parts of the configuration that the data of a path are in. The levels above are made
    again with each snapshot."""
    if pattern and snapshot.model.is_view(pattern[0].node):
        return (objects_of(snapshot.config, kind) for kind in SOURCES)
    return _of(snapshot.config, pattern)


def _of(tree: Tree, pattern: Pattern) -> Iterable[object]:
    top, below = (step.node.member for step in pattern[:2]), None
    first, below = next(top, None), next(top, None)
    tops = tree.values() if first is None else (tree.get(first, {}),)
    return (part for t in tops for part in (t.values() if below is None else (t.get(below),)))


class Rendering:
    """The leaves of one watch at one moment, and the messages that they make."""

    def __init__(self, of: Moment, leaves: dict[Pattern, Any], form: Form) -> None:
        self._of, self._leaves, self._form = of, leaves, form
        # Joined updates of each message, those of counters apart: their time is another.
        self._made = list(self._bodies(leaves, 0))

    def is_of(self, now: Moment) -> bool:
        return len(now) == len(self._of) and all(a is b for a, b in zip(now, self._of, strict=True))

    def cost(self, *, again: bool) -> float:
        """Seconds that a sample takes; ``again``: none of the leaves is made again."""
        return len(self._leaves) * (PER_SENT_LEAF if again else PER_LEAF)

    def responses(
        self, snapshot: Snapshot, since: Rendering | None, missed: int
    ) -> Iterator[bytes]:
        """All leaves, or what differs from ``since``; ``missed`` samples were not sent."""
        if since is self:
            return
        now, prefix = time.time_ns(), frames.prefix(self._form.prefix)
        if since is None and not missed:
            bodies: Iterable[tuple[bool, bytes]] = self._made
        else:
            old = {} if since is None else since._leaves
            changed = {p: v for p, v in restful(self._leaves.items()) if old.get(p, self) != v}
            bodies = self._bodies(changed, missed)
        for counted, body in bodies:
            at = (snapshot.sampled_at if counted else 0) or now
            yield frames.notification(at, prefix, (body,))

    def _bodies(self, leaves: dict[Pattern, Any], missed: int) -> Iterator[tuple[bool, bytes]]:
        for counted in (False, True):
            part = (item for item in leaves.items() if is_counter(item[0][-1].node) is counted)
            for bundle in bundles(part):
                yield counted, b"".join([self._form.update(p, v, missed) for p, v in bundle])
