"""srv6mgrd: wiring only."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from srv6mgrd import memory
from srv6mgrd import settings as settings_file
from srv6mgrd.activity import Activity
from srv6mgrd.alarms.keeper import Alarms
from srv6mgrd.alarms.kept import AlarmFile
from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.capability_monitor import CapabilityMonitor
from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.commits.revisions import Revisions
from srv6mgrd.commits.service import CommitService
from srv6mgrd.counters import accounting, drops, lease, observed, proxies
from srv6mgrd.counters import alarms as alarm_list
from srv6mgrd.counters.accounting import AccountingWriter
from srv6mgrd.counters.node import NodeReader, NodeWriter, beside
from srv6mgrd.counters.observed import ObservedWriter
from srv6mgrd.counters.proxies import ProxiesWriter
from srv6mgrd.counters.store_file import StoreError
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.datastore.alarms import AlarmSubscription
from srv6mgrd.datastore.connection import DatastoreError
from srv6mgrd.datastore.coordinator import CommitCoordinator
from srv6mgrd.datastore.file_modes import deny_others
from srv6mgrd.datastore.history import History
from srv6mgrd.datastore.ietf import IetfSubscription
from srv6mgrd.datastore.notifications import Notifier
from srv6mgrd.datastore.operational import OperationalSubscription
from srv6mgrd.datastore.participant import Participant
from srv6mgrd.datastore.rpc import RpcSubscription
from srv6mgrd.datastore.running import Running
from srv6mgrd.datastore.subscription import ConfigSubscription
from srv6mgrd.datastore.upgrade import upgrade
from srv6mgrd.drops.node import DropNode
from srv6mgrd.drops.program import DropProgram
from srv6mgrd.drops.watch import DropWatch
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.flushed_routes import FlushedRoutes
from srv6mgrd.frr.limits import limits
from srv6mgrd.frr.lost_next_hops import LostNextHops
from srv6mgrd.frr.lost_routes import LostRoutes
from srv6mgrd.frr.neighbors import peer
from srv6mgrd.frr.render import render
from srv6mgrd.frr.sid_loop import SidLoops
from srv6mgrd.frr.state import FrrState
from srv6mgrd.function_health.ports import Ports, Senders, resolve
from srv6mgrd.function_monitor import FunctionMonitor, Outside
from srv6mgrd.host_conditions.watch import HostWatch
from srv6mgrd.in_loop import InLoop
from srv6mgrd.jobs import until_stopped
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kernel.bgp_routes import BgpHostRoutes
from srv6mgrd.kernel.echoes import Sockets
from srv6mgrd.kernel.events import KernelEvents
from srv6mgrd.kernel.interface_state import InterfaceStates
from srv6mgrd.kernel.new_addresses import NewAddresses, ipv6_addresses
from srv6mgrd.kernel.path_mtu import PathMtu
from srv6mgrd.kernel.probe import probe
from srv6mgrd.kernel.service_evidence import KernelServiceEvidence
from srv6mgrd.kinds.sid.notices import SidNotices
from srv6mgrd.manager.conductor import Manager
from srv6mgrd.ports import AdapterError
from srv6mgrd.progress import Heartbeat, all_alive, heartbeats, progress
from srv6mgrd.proxy.health_checks import HealthChecks
from srv6mgrd.redis.publisher import Publisher
from srv6mgrd.redis.thread import InThread, Nowhere
from srv6mgrd.return_paths import ReturnPaths
from srv6mgrd.service_monitor import ServiceMonitor, Sources
from srv6mgrd.settings import Settings
from srv6mgrd.stages import stages
from srv6mgrd.stamp.exchange import StampExchange
from srv6mgrd.start import start
from srv6mgrd.storage import Problems
from srv6mgrd.systemd import extend_start, extend_stop
from srv6mgrd.vitals import Vitals

if TYPE_CHECKING:
    from srv6mgrd.frr.status import Reported
    from srv6mgrd.model.desired import Desired

_LOG = logging.getLogger(__name__)


def main() -> None:
    """Entry point."""
    start(
        "srv6mgrd",
        "Declarative SRv6 manager.",
        settings_file.load,
        _run,
        (AdapterError, DatastoreError, StoreError),
        single_instance_in=lambda settings: settings.runtime_directory,
    )


async def _run(settings: Settings) -> None:
    runtime, state = Path(settings.runtime_directory), Path(settings.state_directory)
    loop = asyncio.get_running_loop()
    in_loop, problems = InLoop(loop), Problems(in_loop=InLoop(loop))
    # docs/threads.md says what each does.
    writer, state_thread = ThreadPoolExecutor(1, "writer"), ThreadPoolExecutor(1, "state")
    starting = asyncio.create_task(extend_start(Heartbeat(writer, lambda: progress.steps).is_alive))
    # Passwords of BGP sessions are among what is ours in FRR.
    with problems.writing(state, "make it a folder of root's that can be written"):
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.chmod(0o700)
    with memory.made_to_stay():
        kernel = LinuxKernel(notices=SidNotices())
        frr = FrrSockets(Path(settings.frr_directory), progressed=progress.step)
        journal = await loop.run_in_executor(
            writer, lambda: Journal(state / "journal.sqlite", problems=problems)
        )
        store = StoreWriter(runtime / "store", problems=problems)
        problems.retry("store", lambda: state_thread.submit(store.publish))
        node = NodeWriter(beside(runtime / "store"), time.time_ns(), problems)
        notifier, publisher = Notifier(), _outward(settings)
        alarms = Alarms(
            alarm_list.beside(runtime / "store"),
            AlarmFile(state / "alarms.json", problems),
            notifier,
            in_loop=in_loop,
            problems=problems,
            outward=publisher,
        )
        capability_monitor = CapabilityMonitor(
            probe, frr, node=node, notifier=notifier, in_loop=in_loop
        )
        seen = ObservedWriter(observed.beside(runtime / "store"), problems)
        frr_state = FrrState(frr)
        datastore = ConfigSubscription()
        deny_others()
        reconciler = Reconciler(
            kernel,
            frr,
            journal,
            render,
            limits=limits,
            capabilities=capability_monitor.kernel,
            borrowed=settings.mode == "sonic",
        )
        manager = Manager(
            reconciler,
            kernel,
            store=store,
            outward=publisher,
            advertised=lambda desired: _ask(frr_state, desired, seen),
            running=datastore.running,
            writer=writer,
            state=state_thread,
            in_loop=in_loop,
            node=node,
            notifier=notifier,
            capability_monitor=capability_monitor,
            proxies=ProxiesWriter(proxies.beside(runtime / "store"), problems),
            accounting=AccountingWriter(accounting.beside(runtime / "store"), problems),
            drops=DropWatch(DropProgram(), DropNode(kernel)),
            drop_reasons=AccountingWriter(
                drops.beside(runtime / "store"), problems, part=drops.PART
            ),
            observed=seen,
        )
        history, running = History(state / "history.sqlite", problems=problems), Running()
        coordinator = CommitCoordinator(
            history,
            running,
            node,
            notifier,
            warnings=lambda: manager.commits.warnings,
            save=settings.save_startup,
            problems=problems,
        )
        participant = Participant(manager.commits, coordinator, in_loop)
        manager.commits.given_up = participant.give_up
        rpcs = RpcSubscription()
        operational = OperationalSubscription(runtime / "store")
        alarm_subscription = AlarmSubscription(runtime / "store")
        ietf = IetfSubscription(runtime / "store", lambda: reconciler.desired.sids)
        # Before the first dump, so that nothing falls in between.
        events = KernelEvents(ignore_port=kernel.port)
        bgp_routes = BgpHostRoutes()
        new_addresses = NewAddresses()
        service_evidence = KernelServiceEvidence()
        return_paths = ReturnPaths(lambda: reconciler.desired, Sockets())
        services = ServiceMonitor(
            Sources(
                desired=lambda: reconciler.desired,
                statuses=lambda: manager.publication.known,
                bgp=lambda: frr_state.bgp_evidence,
                peer=peer,
                ask_frr=manager.ask_frr_soon,
                doubt_routes=frr_state.doubt_routes,
                lost_return_paths=lambda: return_paths.lost,
                silent_neighbors=lambda: return_paths.silent,
                read_next_hops=frr_state.read_next_hops,
                arrivals=lambda: manager.sampling.arrivals,
            ),
            service_evidence,
            seen,
            publisher,
            alarms,
            published=NodeReader(observed.beside(runtime / "store")).read().members,
        )
        return_paths.changed = services.wake
        functions = FunctionMonitor(
            # A function that is rejected may have the SIDs of another one.
            lambda: reconciler.valid,
            Outside(
                Ports(),
                Senders(),
                HealthChecks(),
                seen,
                alarms,
                kernel.set_function_states,
                kernel.function_states,
                resolve,
            ),
        )
        # Before anybody can commit on top of it.
        upgrade(
            state / "revision",
            history,
            running,
            seen=history.of_older_release,
            problems=problems,
        )
        # First, since subscribing fails while another program's change holds sysrepo's locks: a
        # bgpd that was restarted meanwhile has its tenants back.
        await manager.start()
        read = await loop.run_in_executor(writer, datastore.text)
        await loop.run_in_executor(
            writer, datastore.start, participant.change, participant.stored, participant.aborted
        )
        if (tree := await loop.run_in_executor(writer, datastore.text)) != read:
            await manager.start()
            tree = await loop.run_in_executor(writer, datastore.text)
        coordinator.start(tree)
        datastore.follow(writer)
        operational.start()
        alarm_subscription.start(alarms)
        ietf.start()
        rpcs.start(manager, coordinator)
        revisions = Revisions(asyncio.get_running_loop(), coordinator)
        commits = CommitService(commit_socket(runtime), revisions)
        threads = heartbeats(writer, state_thread)
        queues = {"commits": commits.waiting, "notifications": notifier.waiting}
        vitals = Vitals(
            "srv6mgrd",
            node,
            lambda: stages.taken,
            queues,
            is_busy=_is_writing,
        )
    starting.cancel()
    try:
        with lease.held(store, settings.status_lease, lambda: manager.reported):
            await until_stopped(
                manager.run(),
                manager.follow(events),
                manager.compare_every(settings.compare_interval),
                manager.sample_every(settings.sample_interval),
                manager.watch_frr(),
                SidLoops(
                    frr, lambda: reconciler.desired, manager.request_reconcile, writer=writer
                ).run(bgp_routes),
                LostRoutes(
                    frr,
                    lambda: reconciler.desired,
                    manager.idle_static_routes,
                    manager.request_reconcile,
                    writer=writer,
                ).run(),
                FlushedRoutes(frr, lambda: services.lacking_routes, writer=writer).run(),
                LostNextHops(frr, lambda: reconciler.desired, ipv6_addresses, writer=writer).run(
                    new_addresses
                ),
                PathMtu(lambda: reconciler.desired).run(),
                InterfaceStates(lambda: reconciler.desired, seen).run(),
                services.run(),
                return_paths.run(),
                functions.run(),
                StampExchange(lambda: reconciler.desired, seen, runtime, problems).run(),
                manager.probe_every(settings.probe_interval),
                capability_monitor.follow_frr(manager.request_reconcile),
                notifier.run(),
                alarms.run(),
                HostWatch(
                    settings,
                    alarms,
                    problems,
                    lambda: {**coordinator.pending, "problem": coordinator.confirmation.problem},
                ).run(),
                vitals.run(),
                Activity(progress, node).run(),
                problems.run(),
                memory.give_back(),
                *([publisher.run()] if settings.has_redis else []),
                is_alive=lambda: all_alive(threads),
            )
    finally:
        _LOG.info("stopping; what is installed goes on forwarding")
        extending = asyncio.create_task(extend_stop())
        # In a thread: what it finishes is carried out by this event loop.
        await asyncio.to_thread(commits.close)
        events.close()
        bgp_routes.close()
        new_addresses.close()
        service_evidence.close()
        notifier.close()
        await coordinator.close()
        rpcs.close()
        ietf.close()
        alarm_subscription.close()
        operational.close()
        datastore.unfollow()
        # What the writer has begun it finishes, for which it needs this loop.
        for close in (datastore.close, frr.close, journal.close):
            await loop.run_in_executor(writer, close)
        for thread in (writer, state_thread):
            await asyncio.to_thread(thread.shutdown)
        running.close()
        await asyncio.to_thread(history.close)
        store.close()
        extending.cancel()


def _ask(frr: FrrState, desired: Desired, seen: ObservedWriter) -> Reported:
    """In a thread: what FRR says takes a while, and long answers are encoded here, too."""
    found = frr.ask(desired)
    seen.stage("frr", frr.observed)
    return found


def _outward(settings: Settings) -> InThread | Nowhere:
    if not settings.has_redis:
        return Nowhere()
    if settings.mode != "sonic":
        return InThread(Publisher(settings.redis(), is_writing=_is_writing))
    # redis-py is imported here: a start without it is shorter.
    from srv6mgrd.redis.outward import BesideSonic

    return InThread(BesideSonic(settings.redis(), is_writing=_is_writing))


def _is_writing() -> bool:
    """Whether a commit or a repair is carried out."""
    return progress.work is not None


if __name__ == "__main__":
    main()
