"""srv6mgrd: wiring only."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

from srv6mgrd import memory
from srv6mgrd import settings as settings_file
from srv6mgrd.apply.journal import Journal, JournalError
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.counters import proxies
from srv6mgrd.counters.node import NodeWriter, beside
from srv6mgrd.counters.proxies import ProxiesWriter
from srv6mgrd.counters.store import StoreWriter
from srv6mgrd.datastore.clock import CommitClock
from srv6mgrd.datastore.history import History
from srv6mgrd.datastore.ietf import IetfSubscription
from srv6mgrd.datastore.notifications import Notifier
from srv6mgrd.datastore.operational import OperationalSubscription
from srv6mgrd.datastore.rpc import RpcSubscription
from srv6mgrd.datastore.running import Running
from srv6mgrd.datastore.subscription import ConfigSubscription
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.limits import limits
from srv6mgrd.frr.render import render
from srv6mgrd.frr.sid_loop import SidLoops
from srv6mgrd.frr.status import told
from srv6mgrd.jobs import until_stopped
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kernel.bgp_routes import BgpHostRoutes
from srv6mgrd.kernel.events import KernelEvents
from srv6mgrd.kernel.notices import SidNotices
from srv6mgrd.kernel.path_mtu import PathMtu
from srv6mgrd.kernel.probe import probe
from srv6mgrd.manager import Manager
from srv6mgrd.offering import Offering
from srv6mgrd.ports import AdapterError
from srv6mgrd.redis.publisher import Publisher
from srv6mgrd.settings import Settings
from srv6mgrd.start import start

if TYPE_CHECKING:
    from srv6mgrd.redis.outward import BesideSonic

_LOG = logging.getLogger(__name__)


def main() -> None:
    """Entry point."""
    start(
        "srv6mgrd",
        "Declarative SRv6 manager.",
        settings_file.load,
        _run,
        (JournalError, AdapterError),
        alone_in=lambda settings: settings.runtime_directory,
    )


async def _run(settings: Settings) -> None:
    runtime, state = Path(settings.runtime_directory), Path(settings.state_directory)
    # Passwords of BGP sessions are among what is ours in FRR.
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    state.chmod(0o700)
    with memory.made_to_stay():
        kernel = LinuxKernel(notices=SidNotices())
        frr = FrrSockets(Path(settings.frr_directory))
        journal = Journal(state / "journal.sqlite")
        store = StoreWriter(runtime / "store")
        node = NodeWriter(beside(runtime / "store"), time.time_ns())
        notifier = Notifier()
        offering = Offering(probe, frr, node=node, herald=notifier)
        publisher = _outward(settings)
        datastore = ConfigSubscription()
        reconciler = Reconciler(
            kernel,
            frr,
            journal,
            render,
            limits=limits,
            capabilities=offering.kernel,
            borrowed=settings.mode == "sonic",
        )
        manager = Manager(
            reconciler,
            kernel,
            store=store,
            outward=publisher,
            advertised=lambda desired: told(desired, frr),
            running=datastore.running,
            node=node,
            herald=notifier,
            offering=offering,
            proxies=ProxiesWriter(proxies.beside(runtime / "store")),
        )
        history, running = History(state / "history.sqlite"), Running()
        clock = CommitClock(history, manager, running, node, notifier, save=settings.save_startup)
        rpcs = RpcSubscription()
        operational = OperationalSubscription(runtime / "store")
        ietf = IetfSubscription(runtime / "store", lambda: reconciler.desired.sids)
        # Before the first dump, so that nothing falls in between.
        events = KernelEvents(ignore_port=kernel.port)
        bgp_routes = BgpHostRoutes()
        datastore.start(clock.change, clock.stored, clock.aborted)
        manager.start()
        clock.start(datastore.text())
        operational.start()
        ietf.start()
        rpcs.start(manager, clock)
    try:
        await until_stopped(
            manager.keep(),
            manager.follow(events),
            manager.compare_every(settings.compare_interval),
            manager.sample_every(settings.sample_interval),
            manager.watch_frr(),
            SidLoops(frr, lambda: reconciler.desired, manager.disturbed).run(bgp_routes),
            PathMtu(lambda: reconciler.desired).run(),
            manager.try_out_every(settings.probe_interval),
            offering.follow_frr(manager.disturbed),
            notifier.run(),
            memory.give_back(),
            *([publisher.run()] if settings.has_redis else []),
        )
    finally:
        _LOG.info("stopping; what is installed goes on forwarding")
        events.close()
        bgp_routes.close()
        notifier.close()
        await clock.close()
        rpcs.close()
        ietf.close()
        operational.close()
        datastore.close()
        running.close()
        history.close()
        store.close()
        journal.close()


def _outward(settings: Settings) -> Publisher | BesideSonic:
    if settings.mode != "sonic":
        return Publisher(settings.redis())
    # redis-py is imported here: a start without it is shorter.
    from srv6mgrd.redis.outward import BesideSonic

    return BesideSonic(settings.redis())


if __name__ == "__main__":
    main()
