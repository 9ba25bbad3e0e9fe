"""srv6mgrd without northbounds on the kernel of a network namespace, and what others see of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any

from lab.waiting import wait_until_async
from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.counters.node import NodeWriter
from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.in_loop import InLoop
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kernel.events import KernelEvents
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.manager.conductor import Manager
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.notifications import Notification
from tests.contract.kernel.conftest import Run
from tests.fakes.frr import FakeFrr
from tests.fakes.inline import Inline
from tests.robot.library.snapshot import lines_of

LOCATOR = ObjectRef(Kind.LOCATOR, "MAIN")
RED, BLUE = ObjectRef(Kind.VRF, "red"), ObjectRef(Kind.VRF, "blue")
END = ObjectRef(Kind.SID, "fcbb:0:1:1::/64")
END_X = ObjectRef(Kind.SID, "fcbb:0:1:2::/64")
DT4 = ObjectRef(Kind.SID, "fcbb:0:1:4::/64")
DT46 = ObjectRef(Kind.SID, "fcbb:0:1:64::/64")
STEERED = ObjectRef(Kind.ROUTE, "main fc00:9::/64")

CONFIGURATION: dict[str, Any] = {
    "srv6mgr-srv6:srv6": {
        "encapsulation": {"source-address": "fcbb:0:1::1"},
        "locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]},
        "vrfs": {
            "vrf": [
                {"name": "red", "table-id": 100, "interface": ["eth2"]},
                {"name": "blue", "table-id": 200},
            ]
        },
        "segment-lists": {
            "segment-list": [{"name": "path", "segment": [{"index": 1, "sid": "fcbb:0:2::1"}]}]
        },
        "srv6mgr-steering:steering": {
            "route": [{"prefix": "fc00:9::/64", "segment-list": "path", "metric": 1024}]
        },
        "local-sids": {
            "sid": [
                {"prefix": END.name, "locator": "MAIN", "behavior": "End"},
                {
                    "prefix": END_X.name,
                    "locator": "MAIN",
                    "behavior": "End.X",
                    "next-hop": "fc00:5::5",
                    "interface": "eth1",
                },
                {"prefix": DT4.name, "locator": "MAIN", "behavior": "End.DT4", "vrf": "red"},
                {"prefix": DT46.name, "locator": "MAIN", "behavior": "End.DT46", "vrf": "red"},
            ]
        },
    }
}
# All SIDs that are declared.
SIDS = (END, END_X, DT4, DT46)

_PICTURE = (
    "-d -j link",
    "-j -4 rule",
    "-j -6 rule",
    "-j -4 route show table all",
    "-j -6 route show table all",
)
# What a device that is made again has again.
_ANEW = ("address", "ifindex", "link_index", "permaddr")
# Long enough for the slowest machine.
_SECONDS = 20


class Router:
    """``start`` is a new process: the journal, the store and the kernel stay."""

    def __init__(self, run: Run, path: Path, buffer: int = 32 << 20) -> None:
        run("for i in 1 2 9; do ip link add eth$i type dummy; ip link set eth$i up; done")
        self.run = run
        self.reported: list[Notification] = []
        self.lost = 0
        self._path = path
        self._buffer = buffer
        self._watching: list[asyncio.Future[None]] = []
        self.configuration = CONFIGURATION

    def start(self) -> None:
        """Take over the configuration."""
        self.kernel = LinuxKernel()
        self.journal = Journal(self._path / "journal.sqlite")
        self.store = StoreWriter(self._path / "store")
        self.node = NodeWriter(self._path / "node.json", 0)
        self.reconciler = Reconciler(self.kernel, FakeFrr(), self.journal, lambda _: [])
        self.manager = Manager(
            self.reconciler,
            self.kernel,
            store=self.store,
            outward=self,
            advertised=lambda _: {},
            running=lambda: self.configuration,
            writer=Inline(),
            state=Inline(),
            in_loop=InLoop(),
            node=self.node,
            notifier=self,
        )
        self._events = KernelEvents(self.kernel.port, self._buffer)
        self.manager.commits.start()

    def close(self) -> None:
        """Die."""
        self.stop_watching()
        self._events.close()
        self.store.close()
        self.journal.close()
        self.kernel.close()

    def watch(self) -> None:
        """Follow the kernel's events, beside the test."""
        jobs = [self.manager.run(), self.manager.follow(self._counted())]
        self._watching = [asyncio.ensure_future(job) for job in jobs]

    def stop_watching(self) -> None:
        for task in self._watching:
            task.cancel()
        self._watching = []

    async def _counted(self) -> AsyncIterator[list[KernelEvent]]:
        async for batch in self._events:
            self.lost += any(event.kind is EventKind.LOST for event in batch)
            yield batch

    # What the manager reports.

    def put(self, notifications: Iterable[Notification], left_out: int = 0) -> None:
        self.reported += notifications

    def publish(self, _: Desired, __: Mapping[ObjectRef, ObjectStatus]) -> None: ...

    def publish_counters(self, _: Mapping[str, SidCounters]) -> None: ...

    def publish_proxies(self, _: Mapping[IPv6Network, ProxyState]) -> None: ...

    def publish_accounting(self, _: Mapping[str, Any]) -> None: ...

    def status(self, ref: ObjectRef) -> ObjectStatus:
        reader = StoreReader(self._path / "store")
        try:
            return reader.objects()[ref]
        finally:
            reader.close()

    def counters(self, ref: ObjectRef) -> SidCounters:
        reader = StoreReader(self._path / "store")
        try:
            return reader.counters()[ref.name]
        finally:
            reader.close()

    def drift(self) -> dict[str, str]:
        """How each object that was found to differ did, in the order found."""
        return {
            notifications.leaves["name"]: notifications.leaves["reason"]
            for notifications in self.reported
            if notifications.name == "drift-detected"
        }

    # Waiting.

    async def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Let the manager work until this holds."""
        await wait_until_async(condition, what, _SECONDS, seen=lambda: self.reported)

    # What others see.

    def picture(self) -> list[str]:
        return picture(self.run)

    def repairs(self, ref: ObjectRef) -> int:
        return self.status(ref).repairs


def picture(run: Run) -> list[str]:
    """Links, rules and routes as iproute2 prints them, which is not our code."""
    lines: list[str] = []
    for line in run("; ".join(f"ip {command}; echo" for command in _PICTURE)).splitlines():
        entries = json.loads(line) if line.strip() else []
        for entry in entries:
            for name in _ANEW:
                entry.pop(name, None)
        lines += lines_of(entries)
    # The kernel's own of an interface follow its address; a foreign flush takes them for good.
    return sorted(line for line in lines if '"fe80:' not in line and '"ff00:' not in line)
