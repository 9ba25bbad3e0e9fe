"""Notifications reach every subscriber in sysrepo."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from lab.waiting import wait_until_async
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.notifications import Notifier
from srv6mgrd.notifications import Notification

ALL = [
    Notification(
        "sid-status-change", {"prefix": "fc00::/64", "install-status": "failed", "reason": "x"}
    ),
    Notification("sid-collision", {"prefix": "fc00::/64", "found": "a route"}),
    Notification("drift-detected", {"kind": "vrf", "name": "red", "reason": "gone"}),
    Notification("drift-repaired", {"kind": "vrf", "name": "red"}),
    Notification("capability-lost", {"name": "End.BPF", "reason": "Operation not permitted"}),
]


async def test_what_is_put_is_sent_in_order_and_slowly(place: Path) -> None:
    got: list[tuple[str, Any]] = []
    listener, notifier = Connection(originator="test"), Notifier()

    def reported(path: str, kind: str, leaves: Any, _at: int, _private: Any) -> None:
        if kind == "realtime":
            got.append((path.rpartition(":")[2], leaves))

    listener.session().subscribe_notification("srv6mgr-operations", None, reported)
    job = asyncio.create_task(notifier.run())
    begin = time.monotonic()
    notifier.put(ALL * 10)
    await wait_until_async(lambda: len(got) >= 50)
    assert time.monotonic() - begin > 0.3
    assert [name for name, _ in got] == [notifications.name for notifications in ALL * 10]
    assert got[0][1]["install-status"] == "failed"
    job.cancel()
    with suppress(asyncio.CancelledError):
        await job
    listener.close()
    notifier.close()
