"""The processes that srv6mgr lives with: srv6mgrd, sysrepo, Redis."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from srv6mgrd.cli.doctor.finding import Finding, fail, note, ok, skip, warn
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.units import NS, ago, counted
from srv6mgrd.counters.node import STORAGE
from srv6mgrd.model import names
from srv6mgrd.model.status import InstallStatus, Kind
from srv6mgrd.storage import DAMAGED

_MODULES = frozenset(
    f"srv6mgr-{name}"
    for name in (
        "types",
        "srv6",
        "routing-policy",
        "bgp",
        "isis",
        "steering",
        "routing",
        "ospf",
        "proxy",
        "interfaces",
        "path-measurement",
        "accounting",
        "chain",
        "operations",
        "alarms",
    )
)
# A slower sampler is reported: 60 times its interval, at least this.
_STALE = 60.0
_TIMEOUT = 2.0
_SHOWN = 5
_WRONG = frozenset({InstallStatus.FAILED, InstallStatus.REJECTED})


def srv6mgrd(session: Session) -> Iterator[Finding]:
    """It runs, its reports are fresh, and declared objects are installed."""
    state = session.state
    if not state.managed:
        yield fail(
            "srv6mgrd",
            "it is not running: nothing is kept as declared, nothing is counted",
            "systemctl start srv6mgrd; journalctl -u srv6mgrd says why it ended",
        )
    try:
        statuses, sampled = state.statuses(), state.sample().at
    except Problem as problem:
        yield skip("status", str(problem))
        return
    if not state.managed:
        yield skip("status", "the last report of srv6mgrd may be out of date")
        return
    yield from _process(session)
    late = max(_STALE, 60 * session.settings.sample_interval)
    if sampled and time.time_ns() - sampled > late * NS:
        since = ago(sampled, time.time_ns())
        yield warn("counters", f"the last sample is {since} old", "see srv6mgrd's log")
    bad = [(r, s) for r, s in statuses.items() if s.status is not InstallStatus.INSTALLED]
    for ref, status in bad[:_SHOWN]:
        reported = fail if status.status in _WRONG else warn
        cause, _, remedy = status.reason.rpartition("; ")
        message = f"{names.of_ref(ref)} is {status.status.text}: {cause or status.reason}"
        yield reported(
            "status", message, remedy if cause else f"see srv6ctl show {_shown(ref.kind)}"
        )
    if len(bad) > _SHOWN:
        yield warn(
            "status", f"... and {len(bad) - _SHOWN} more", "see srv6ctl show sids, show vrfs"
        )
    if statuses and not bad:
        yield ok("status", f"all {counted(len(statuses), 'object')} declared are installed")


def _process(session: Session) -> Iterator[Finding]:
    """Who holds the lock of this network namespace is srv6mgrd, and answers."""
    manager = session.state.manager
    if manager is None:
        return
    name = f"process {manager.pid}"
    if not manager.is_manager:
        yield fail(
            "srv6mgrd",
            f"{name} ({manager.command}) holds the lock of srv6mgrd and is another program",
            f"end it: kill {manager.pid}; systemctl start srv6mgrd",
        )
    elif manager.is_stopped:
        tracer = _tracer(manager.pid)
        by = f"by process {tracer}, which traces it" if tracer else "by a signal (SIGSTOP)"
        yield fail(
            "srv6mgrd",
            f"{name} is stopped {by}: nothing is kept as declared, and commits wait",
            f"{f'end process {tracer}, or ' if tracer else ''}let it go on:"
            f" kill -CONT {manager.pid}; or systemctl restart srv6mgrd",
        )
    else:
        yield _answer(session, name)


def _tracer(pid: int) -> int:
    """The process that traces another one, as a debugger does; 0: none does."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.split("TracerPid:")[1].split()[0])
    return 0


def resumed(session: Session) -> str:
    """What has to be done so that srv6mgrd repairs by itself; empty: it does."""
    manager = session.state.manager
    if not session.state.managed or manager is None:
        return "start srv6mgrd (systemctl start srv6mgrd), which puts it back by itself"
    if manager.is_stopped:
        return f"let srv6mgrd go on (kill -CONT {manager.pid}), which puts it back by itself"
    return ""


def _answer(session: Session, name: str) -> Finding:
    try:
        with session.client() as client:
            answers = client.answers(_TIMEOUT)
    except Problem:
        return note("srv6mgrd", f"runs as {name}; sysrepo does not say whether it answers")
    if answers:
        return ok("srv6mgrd", f"runs as {name}, and answers")
    return warn(
        "srv6mgrd",
        f"{name} does not answer within {_TIMEOUT:.0f} s: it carries out a commit, or hangs",
        "look again in a minute; then systemctl restart srv6mgrd",
    )


def storage(session: Session) -> Iterator[Finding]:
    """The files in which srv6mgrd keeps its state are read and written."""
    found = session.state.node().get(STORAGE, {}).get("problem", [])
    reported = {str(problem["file"]): str(problem["text"]) for problem in found}
    folder = Path(session.settings.state_directory)
    with contextlib.suppress(OSError):
        for aside in folder.glob(f"*{DAMAGED}"):
            reported.setdefault(
                aside.name, f"it was damaged and set aside; look at {aside}, delete it"
            )
    for file, text in sorted(reported.items()):
        cause, _, remedy = text.partition("; ")
        level = warn if file.endswith(DAMAGED) else fail
        yield level("storage", f"{file}: {cause}", remedy)
    if not reported and session.state.managed:
        yield ok("storage", f"srv6mgrd's files in {folder} are read and written")


def _shown(kind: Kind) -> str:
    lists = {Kind.SID: "sids", Kind.VRF: "vrfs", Kind.VRF_BGP: "vrfs", Kind.LOCATOR: "locators"}
    return lists.get(kind, "steering")


def sysrepo(session: Session) -> Iterator[Finding]:
    """It answers, has our modules and room, and a reboot begins with what runs now."""
    from srv6mgrd.datastore import shared_memory

    if (left := shared_memory.free()) < 2 * shared_memory.RESERVE:
        yield fail(
            "shared memory",
            f"{shared_memory.PATH} has {left >> 10} KiB left: commits are rejected",
            shared_memory.REMEDY,
        )
    try:
        with session.client() as client:
            modules, running, startup = client.modules(), client.running(), client.startup()
    except Problem as problem:
        complaint = problem.complaints[0]
        reported = skip if problem.status is Exit.DENIED else fail
        yield reported("sysrepo", complaint.cause, complaint.remedy)
        return
    if absent := sorted(_MODULES - modules):
        remedy = "install them (sysrepoctl --install), which the package srv6mgr-yang does"
        yield fail("sysrepo", f"YANG modules are not installed: {', '.join(absent)}", remedy)
        return
    yield ok("sysrepo", f"answers, with the {len(_MODULES)} YANG modules of srv6mgr")
    if running == "{}":
        yield note("configuration", "nothing is declared", "srv6ctl apply FILE")
    elif running != startup and session.state.transactions().get("pending") is None:
        yield warn(
            "configuration",
            "the running one is not what the next boot begins with",
            "commit it again, or set save_startup = true in srv6mgrd.toml",
        )


def redis(path: str) -> Iterator[Finding]:
    """It answers at its socket."""
    if not path:
        yield skip("redis", "no SONiC tables are written (redis_socket is empty)")
        return
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(_TIMEOUT)
            client.connect(path)
            client.sendall(b"PING\r\n")
            answer = client.recv(256).decode(errors="replace").strip()
    except PermissionError as error:
        yield skip("redis", f"{path}: {error.strerror}", "run srv6ctl doctor as root")
        return
    except OSError as error:
        yield fail(
            "redis",
            f"it can't be reached at {path} ({error.strerror or error}): SONiC tables are stale",
            "systemctl start srv6-redis, and see unixsocket in redis.conf; redis_socket ="
            ' "" in srv6mgrd.toml does without it',
        )
        return
    if answer.startswith("-LOADING"):
        yield warn("redis", "it is loading its data", "wait until it is done")
    elif not answer.startswith("+PONG"):
        yield fail("redis", f"it answers {answer!r}", "let root use it without a password")
    else:
        yield ok("redis", f"answers at {path}")
