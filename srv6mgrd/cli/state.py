"""The state of the node in files beside srv6mgrd's store; read without any daemon."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from srv6mgrd import single_instance
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.rates import Sample
from srv6mgrd.cli.units import NS
from srv6mgrd.counters import accounting, alarms, drops, observed, proxies
from srv6mgrd.counters.node import TRANSACTIONS, NodeReader, beside
from srv6mgrd.counters.store_file import EXPIRED, StoreError
from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.model.status import ObjectRef, ObjectStatus

# A sampler that has much to read, or nothing that counts, takes its time.
_TIMEOUT = 10.0
_LOOK = 0.02


class State:
    """Read-only. What it gives is empty, or a Problem, while srv6mgrd has not run."""

    def __init__(self, runtime: Path) -> None:
        self._reader = StoreReader(runtime / "store")
        self._node = NodeReader(beside(runtime / "store"))
        self._proxies = NodeReader(proxies.beside(runtime / "store"))
        self._observed = NodeReader(observed.beside(runtime / "store"))
        self._accounting = NodeReader(accounting.beside(runtime / "store"))
        self._drops = NodeReader(drops.beside(runtime / "store"))
        self._alarms = NodeReader(alarms.beside(runtime / "store"))

    @property
    def managed(self) -> bool:
        """Whether an srv6mgrd manages this network namespace."""
        return single_instance.is_managed()

    @property
    def manager(self) -> single_instance.Holder | None:
        """The process that does."""
        return single_instance.holder()

    def statuses(self) -> dict[ObjectRef, ObjectStatus]:
        """Of all declared objects. Raises Problem."""
        try:
            return self._reader.objects()
        except (StoreError, OSError) as error:
            raise _unreadable(error) from None

    @property
    def generation(self) -> int:
        """Moves when an object or its status does. Raises Problem."""
        try:
            return self._reader.generation
        except (StoreError, OSError) as error:
            raise _unreadable(error) from None

    def sample(self) -> Sample:
        """The counters of all SIDs as they were last read from the kernel. Raises Problem."""
        try:
            while True:
                number, at = self._reader.sample
                counters = self._reader.counters()
                # Both or none: a sample may have come in between.
                if self._reader.sample == (number, at):
                    return Sample(at, counters)
        except (StoreError, OSError) as error:
            raise _unreadable(error) from None

    def next_sample(self, before: Sample, seconds: float) -> Sample:
        """The first one that is ``seconds`` or more after ``before``; the last one there is when
        srv6mgrd takes too long. Raises Problem."""
        until = time.monotonic() + seconds + _TIMEOUT
        # It may come a little early, and still be the next one.
        while self._sampled_at() - before.at < 0.9 * seconds * NS and time.monotonic() <= until:
            time.sleep(_LOOK)
        return self.sample()

    def _sampled_at(self) -> int:
        try:
            return self._reader.sample[1]
        except (StoreError, OSError) as error:
            raise _unreadable(error) from None

    def node(self) -> dict[str, Any]:
        """Members of ``/srv6mgr-srv6:srv6`` about the node as a whole."""
        return dict(self._node.read().members)

    def transactions(self) -> dict[str, Any]:
        """The container ``transactions`` of srv6mgr-operations."""
        found: dict[str, Any] = self.node().get(TRANSACTIONS, {})
        return found

    def proxies(self) -> dict[str, Any]:
        """The container ``proxy/state`` of each proxy, by the prefix of its SID."""
        return dict(self._proxies.read().members)

    def observed(self) -> dict[str, Any]:
        """State of sessions, adjacencies and interfaces: members of ``/srv6mgr-srv6:srv6``. Nothing
        when srv6mgrd no longer vouches for it. Raises Problem."""
        return {} if self.generation & EXPIRED else dict(self._observed.read().members)

    def accounting(self) -> dict[str, Any]:
        """The container ``accounting/statistics``; empty while accounting is not enabled."""
        member: dict[str, Any] = self._accounting.read().members.get(accounting.ACCOUNTING, {})
        return dict(member.get("statistics", {}))

    def drops(self) -> list[dict[str, Any]]:
        """Entries of the list ``accounting/drops/drop``."""
        member: dict[str, Any] = self._drops.read().members.get(accounting.ACCOUNTING, {})
        return list(member.get("drops", {}).get("drop", ()))

    def alarms(self) -> list[dict[str, Any]]:
        """Entries of the list ``alarm``, as srv6mgrd wrote them last."""
        found: dict[str, Any] = self._alarms.read().members.get("alarm-list", {})
        return list(found.get("alarm", []))

    def shelved_alarms(self) -> list[dict[str, Any]]:
        """Entries of the list ``shelved-alarm``."""
        found: dict[str, Any] = self._alarms.read().members.get("shelved-alarms", {})
        return list(found.get("shelved-alarm", []))


def _unreadable(error: Exception) -> Problem:
    if isinstance(error, PermissionError):
        return Problem.of("store", str(error), "run srv6ctl as root", Exit.DENIED)
    return Problem.of(
        "srv6mgrd",
        f"it has reported nothing yet ({error})".replace("; is srv6mgrd running?", ""),
        "start it (systemctl start srv6mgrd)",
        Exit.UNREACHABLE,
    )
