"""The first start of a new release: configurations that the last one wrote are migrated in place.

A start remembers the revision of the modules in ``/var/lib/srv6mgr/revision``. What an older one
wrote, the history included, is taken through the steps of ``datastore.migration``, so that
nothing means something else than it did.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from srv6mgrd.datastore.migration import CURRENT, FIRST, migrate
from srv6mgrd.storage import Problems, check_regular, read_text

_LOG = logging.getLogger(__name__)

_MODULE = "srv6mgr-srv6"
Convert = Callable[[str], str]


class Holder(Protocol):
    """Holds configurations (``history.History``, ``running.Running``)."""

    def convert(self, convert: Convert) -> bool:
        """Replace each by what ``convert`` makes of it; whether any differed."""


def upgrade(file: Path, *holders: Holder, seen: bool, problems: Problems) -> bool:
    """Migrate all that ``holders`` hold; whether anything changed. ``seen``: a release that kept no
    such file ran here last. Without that and without the file nothing is migrated: a file that was
    lost must not open the boundary of the domain. Raises DatastoreError or RejectedError."""
    have = _revision(file) or (FIRST if seen else CURRENT)
    changed = False
    if have < CURRENT:
        # Should this start fail, the next one goes on.
        _keep(file, have, problems)
        for holder in holders:
            changed |= holder.convert(lambda text: _migrated(text, have))
    if have > CURRENT or (have == CURRENT and file.exists()):
        return False
    _keep(file, CURRENT, problems)
    if changed:
        _LOG.warning(
            "configurations of revision %s were migrated to %s (docs/migration.md says how)",
            have,
            CURRENT,
        )
    return changed


def _keep(file: Path, revision: str, problems: Problems) -> None:
    with problems.writing(file, "make room for it, and see that root may write it"):
        if file.exists():
            check_regular(file, file)
        file.write_text(f"{revision}\n")


def _revision(file: Path) -> str:
    try:
        return read_text(file).strip()
    except (OSError, ValueError):
        return ""


def _migrated(text: str, revision: str) -> str:
    tree = json.loads(text)
    saved = {
        "ietf-yang-instance-data:instance-data-set": {
            "content-schema": {"module": [f"{_MODULE}@{revision}"]},
            "content-data": tree,
        }
    }
    made = migrate(saved)
    return text if made == tree else json.dumps(made, separators=(",", ":"))
