"""A job: one command of a stage, with what the scheduler needs to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Job:
    """``name`` is ``stage/room``. ``seconds`` (wall time when alone) and ``load`` (mean number of
    busy CPUs) are measured values from an earlier run; they order jobs and decide nothing else.
    ``after`` names jobs that must pass first, ``follows`` those that must have ended. ``limit`` is
    the deadline in seconds."""

    name: str
    argv: tuple[str, ...]
    seconds: float = 60.0
    load: float = 1.0
    after: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    limit: float = 1800.0

    @property
    def stage(self) -> str:
        return self.name.partition("/")[0]

    @property
    def slug(self) -> str:
        """The name as part of a path."""
        return self.name.replace("/", "-")
