"""What came back of the health checks of functions, as the programs saw it (bpf/health_check.h).

Opened and read apart from the proxies: these are written by one thread, and checks are read in the
event loop.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.libbpf import Map
from srv6mgrd.ebpf.pinned import folder_of_namespace
from srv6mgrd.kinds.proxy.object import PROXY_FOLDER
from srv6mgrd.netlink.errors import KernelError

NAME = "health_checks"
# struct health_key: the run of srv6mgrd and the number of the check; struct health.
_KEY, _VALUE = struct.Struct("=II"), struct.Struct("=I4xQ")
KEY_SIZE, VALUE_SIZE = _KEY.size, _VALUE.size


class Returned(NamedTuple):
    """The number of the last packet that came back, and when (CLOCK_MONOTONIC, nanoseconds)."""

    number: int
    at: int


class HealthChecks:
    """``run`` is in the packets of this process alone."""

    def __init__(self, folder: Path | None = None) -> None:
        self.run = int.from_bytes(os.urandom(4))
        self._pin = (folder or folder_of_namespace(PROXY_FOLDER)) / "maps" / NAME
        self._map: Map | None = None
        self._inode = 0

    def close(self) -> None:
        if self._map is not None:
            self._map.close()
            self._map = None

    def expect(self, checks: Iterable[int]) -> bool:
        """Have these reported, and no others; False while the programs are not loaded. Raises
        KernelError."""
        self.close()
        found = libbpf.pinned(self._pin)
        if found is None:
            return False
        self._inode = self._pin.stat().st_ino
        self._map = Map(found, VALUE_SIZE)
        wanted = {_KEY.pack(self.run, check) for check in checks}
        known = set(self._map.keys(KEY_SIZE))
        for key in known - wanted:
            self._map.delete(key)
        for key in wanted - known:
            if failure := self._map.put(key, bytes(VALUE_SIZE)):
                raise KernelError("health checks", failure.message, "check fewer functions")
        return True

    @property
    def is_current(self) -> bool:
        """Whether the map is the one that is pinned: the programs may have been loaded again."""
        try:
            return self._map is not None and self._pin.stat().st_ino == self._inode
        except OSError:
            return False

    def returned(self, check: int) -> Returned | None:
        """None when nothing came back yet."""
        value = self._map.get(_KEY.pack(self.run, check)) if self._map is not None else None
        if value is None:
            return None
        found = Returned(*_VALUE.unpack(value))
        return found if found.at else None
