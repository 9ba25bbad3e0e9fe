"""The lease of the store: how readers know that srv6mgrd still vouches for the statuses in it.

srv6mgrd renews the lease every second once it has reported. A process that dies, stops or can't
take over the running configuration lets it expire; a restart that is shorter than the lease goes
unnoticed. ``netconfd/store.c`` reads it, too.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from srv6mgrd.model.status import InstallStatus, ObjectRef, ObjectStatus

REASON = "srv6mgrd does not report any more; start it (systemctl status srv6mgrd says why)"
_RENEWALS = 10


class Store(Protocol):
    """Where the lease is (``counters.store_writer.StoreWriter``)."""

    def renew_lease(self, seconds: float) -> None: ...


@contextlib.contextmanager
def held(store: Store, seconds: float, reported: Callable[[], bool]) -> Iterator[None]:
    """Renew the lease as long as this process runs, from when ``reported`` says that the statuses
    are its own.

    In a thread: a commit that keeps the event loop busy for longer than the lease is no death. The
    watchdog of the service manager ends a loop that hangs.
    """
    stop = threading.Event()

    def renew() -> None:
        while True:
            if reported():
                store.renew_lease(seconds)
            if stop.wait(seconds / _RENEWALS):
                return

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def expired(
    statuses: Mapping[ObjectRef, ObjectStatus], renewed: int
) -> dict[ObjectRef, ObjectStatus]:
    """Statuses that nobody vouches for since ``renewed`` (ns)."""
    alike: dict[ObjectStatus, ObjectStatus] = {}
    found = {}
    for ref, status in statuses.items():
        if (unknown := alike.get(status)) is None:
            unknown = alike[status] = replace(
                status, status=InstallStatus.UNKNOWN, reason=REASON, since=renewed, detail=""
            )
        found[ref] = unknown
    return found
