"""A change of the running configuration, as sysrepo asks srv6mgrd about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Bytes of a diff from which on the configuration itself is read.
SMALL = 1 << 18


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """``text`` reads the new configuration as JSON, which takes sysrepo as long as the commit
    itself; ``diff`` has what changes, with metadata (``sid_changes``), up to ``SMALL`` bytes of
    it, and empty where that is not to be had. Both within the callback of sysrepo alone."""

    text: Callable[[], str]
    diff: Callable[[], str] = str

    def small_diff(self) -> Mapping[str, Any] | None:
        """The diff, unless there is none or much of it."""
        text = self.diff()
        # Letters of a description may take several bytes.
        if not text or len(text.encode()) >= SMALL:
            return None
        diff: Mapping[str, Any] = json.loads(text)
        return diff
