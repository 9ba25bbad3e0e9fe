"""Which objects rows made, on disk: after a restart they differ from those of other northbounds."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from srv6mgrd.configdb.objects import Kind, Object
from srv6mgrd.configdb.ownership import Owned
from srv6mgrd.storage import Problems, set_aside


class UnreadableError(Exception):
    """The file can't be used; the message names file and remedy."""


class Memory:
    """A JSON file that is replaced as a whole."""

    def __init__(self, file: Path, boot: str) -> None:
        """``boot`` names this boot of the machine."""
        self._file = file
        self._boot = boot
        self._held: dict[Object, Owned] | None = None
        self._is_of_this_boot = False

    @property
    def is_of_this_boot(self) -> bool:
        """Whether what was loaded was written since the machine booted: before, the running
        configuration was another one."""
        return self._is_of_this_boot

    def load(self) -> dict[Object, Owned]:
        """Raises UnreadableError."""
        try:
            reported = json.loads(self._file.read_text())
            self._is_of_this_boot, entries = reported["boot"] == self._boot, reported["objects"]
            self._held = {
                Object(Kind(e["kind"]), e["name"]): Owned(e["row"], e["leaves"], e["written"])
                for e in entries
            }
        except FileNotFoundError:
            self._held = {}
        except OSError as error:
            raise UnreadableError(f"{self._file}: {error.strerror}; make it readable") from None
        except (ValueError, KeyError, TypeError) as error:
            # What rows made is kept from now on, as another northbound's.
            set_aside(self._file, Problems(), repr(error))
            self._held, self._is_of_this_boot = {}, False
        return dict(self._held)

    def save(self, owned: Mapping[Object, Owned]) -> None:
        """Write it when it differs; on disk when this returns. Raises OSError."""
        if owned == self._held and self._is_of_this_boot:
            return
        entries = [
            {
                "kind": o.kind,
                "name": o.name,
                "row": mine.row,
                "leaves": mine.leaves,
                "written": mine.written,
            }
            for o, mine in owned.items()
        ]
        fresh = self._file.with_suffix(".new")
        with fresh.open("w") as out:
            json.dump({"boot": self._boot, "objects": entries}, out)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self._file)
        self._held, self._is_of_this_boot = dict(owned), True
