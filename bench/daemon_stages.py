"""A daemon that notes how long the stages of its work take.

    python -m bench.daemon_stages srv6mgrd|srv6-gnmid FILE ARGUMENTS...

FILE gets a line of JSON for each call of a stage: its name, when it began (``time.monotonic``, the
same clock in every process), how long it took, how long without the stages in it, and how deep it
is in others of its thread.
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TextIO

MAINS = {"srv6mgrd": "bench.reconcile_host", "srv6-gnmid": "srv6mgrd.gnmi.daemon"}
# What is called where, by the stage it belongs to. Each place exists, or the bench fails.
STAGES = {
    "srv6mgrd": {
        "commit, its other parts": ["srv6mgrd.apply.reconciler:Reconciler.commit"],
        "events of sysrepo, other parts": [
            "srv6mgrd.datastore.subscription:ConfigSubscription._event"
        ],
        "history": ["srv6mgrd.datastore.history:History.record"],
        "sysrepo: the new configuration as JSON": ["srv6mgrd.datastore.subscription:read"],
        "model": [
            "srv6mgrd.manager.commits:parse",
            "srv6mgrd.apply.reconciler:Reconciler._checked",
        ],
        "plan": ["srv6mgrd.apply.reconciler:Reconciler._compare"],
        "kernel: writing": ["srv6mgrd.kernel.adapter:LinuxKernel.apply"],
        "kernel: reading": [
            f"srv6mgrd.kernel.adapter:LinuxKernel.{name}"
            for name in ("observe", "links", "sid_counters")
        ],
        "FRR": [f"srv6mgrd.frr.adapter:FrrSockets.{name}" for name in ("apply", "observe", "meet")],
        "journal": [
            f"srv6mgrd.apply.journal:Journal.{name}"
            for name in ("intend", "done", "forget", "declare")
        ],
        "store, Redis, notifications": ["srv6mgrd.manager.publication:Publication._publish"],
    },
    "srv6-gnmid": {
        "gRPC": ["srv6mgrd.gnmi.service:Service._set"],
        "paths and JSON": ["srv6mgrd.gnmi.set:edits"],
        "libyang: parsing": [
            "srv6mgrd.datastore.transaction:Tree.merge",
            "srv6mgrd.datastore.transaction:_copy",
        ],
        "sysrepo": [
            f"sysrepo.session:SysrepoSession.{name}"
            for name in ("edit_batch_ly", "apply_changes", "replace_config_ly", "lock", "unlock")
        ],
        "the change as JSON": ["srv6mgrd.datastore.ffi:change_diff"],
        "what subscribers see": ["srv6mgrd.gnmi.feed:apply"],
    },
}


class Span(NamedTuple):
    """One call; seconds."""

    stage: str
    start: float
    took: float
    own: float
    depth: int


class _Notes:
    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._local = threading.local()

    def wrap(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            # Of each call that runs in this thread: what the stages in it took.
            stack: list[float] = self._local.__dict__.setdefault("stack", [])
            stack.append(0.0)
            start = time.monotonic()
            try:
                return function(*arguments, **named)
            finally:
                took = time.monotonic() - start
                inside = stack.pop()
                if stack:
                    stack[-1] += took
                span = Span(stage, start, took, took - inside, len(stack))
                with self._lock:
                    print(json.dumps(span), file=self._file, flush=True)

        return timed

    def watch(self, stage: str, place: str) -> None:
        module, _, name = place.partition(":")
        holder: Any = importlib.import_module(module)
        *above, last = name.split(".")
        for part in above:
            holder = getattr(holder, part)
        setattr(holder, last, self.wrap(stage, getattr(holder, last)))


def main() -> int:
    daemon, path, *arguments = sys.argv[1:]
    with open(path, "a", encoding="utf-8") as file:
        notes = _Notes(file)
        for stage, places in STAGES[daemon].items():
            for place in places:
                notes.watch(stage, place)
        sys.argv = [daemon, *arguments]
        return int(importlib.import_module(MAINS[daemon]).main() or 0)


if __name__ == "__main__":
    sys.exit(main())
