"""How long the stages of a commit and of a repair take.

With ``log_level = "debug"`` each is logged as it ends; their counts and times are state
(``srv6mgr-operations:process``).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from srv6mgrd.progress import Progress, progress, state_progress

_LOG = logging.getLogger(__name__)


class Stage(StrEnum):
    """The stages, in the order in which they begin; ``COMMIT`` and ``REPAIR`` hold the others."""

    COMMIT = "commit"
    REPAIR = "repair"
    PARSE = "parse"
    CHECK = "check"
    OBSERVE_FRR = "observe-frr"
    OBSERVE_KERNEL = "observe-kernel"
    PLAN = "plan"
    JOURNAL = "journal"
    WRITE_KERNEL = "write-kernel"
    WRITE_FRR = "write-frr"
    PUBLISH = "publish"
    HISTORY = "history"
    SAMPLE = "sample"


_WHOLE = (Stage.COMMIT, Stage.REPAIR)
# Stages of thread ``state``, and of others.
_IN_STATE, _ELSEWHERE = (Stage.PUBLISH, Stage.SAMPLE), (Stage.HISTORY,)


@dataclass(frozen=True, slots=True)
class Taken:
    """How often a stage ended, and the seconds that it took: in all, last, and at most."""

    count: int = 0
    total: float = 0.0
    last: float = 0.0
    longest: float = 0.0


class Stages:
    """Any thread."""

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        progress: Progress | None = None,
        state_progress: Progress | None = None,
    ) -> None:
        """``progress`` gets the stages of the writer, ``state_progress`` those of ``state``."""
        self._clock = clock
        self._progress = progress or Progress()
        self._state_progress = state_progress or Progress()
        self._lock = threading.Lock()
        self._taken: dict[Stage, Taken] = {}

    @contextmanager
    def __call__(self, stage: Stage, detail: str = "") -> Iterator[None]:
        """Time what is within, whether it succeeds or not."""
        began = self._clock()
        if stage in _WHOLE:
            self._progress.begin(stage)
        elif stage in _IN_STATE:
            self._state_progress.step()
        elif stage not in _ELSEWHERE:
            self._progress.enter(stage)
        try:
            yield
        finally:
            if stage in _WHOLE:
                self._progress.end()
            seconds = self._clock() - began
            with self._lock:
                known = self._taken.get(stage, Taken())
                self._taken[stage] = Taken(
                    known.count + 1, known.total + seconds, seconds, max(known.longest, seconds)
                )
            _LOG.debug("%s%s: %.1f ms", stage, f" {detail}" if detail else "", seconds * 1e3)

    @property
    def taken(self) -> Mapping[Stage, Taken]:
        """Of each stage that ended at least once."""
        with self._lock:
            return dict(self._taken)


# Those of this process; each daemon has one event loop that commits.
stages = Stages(progress=progress, state_progress=state_progress)
