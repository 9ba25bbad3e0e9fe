"""The processes that srv6mgr lives with: srv6mgrd, sysrepo, Redis."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from srv6mgrd.cli.doctor.finding import Finding, fail, note, ok, skip, warn
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.units import NS, ago, counted
from srv6mgrd.counters.status import InstallStatus

_MODULES = frozenset(
    f"srv6mgr-{name}" for name in ("types", "srv6", "bgp", "steering", "proxy", "operations")
)
# So long the sampler may take before it is told: 60 times its interval, at least this.
_STALE = 60.0
_TIMEOUT = 2.0
_SHOWN = 5


def srv6mgrd(session: Session) -> Iterator[Finding]:
    """It runs, what it told is fresh, and what is declared is installed."""
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
        yield skip("status", "what srv6mgrd told last may be out of date")
        return
    with contextlib.suppress(OSError):
        process = (Path(session.settings.runtime_directory) / "lock").read_text().strip()
        yield ok("srv6mgrd", f"runs as process {process}")
    late = max(_STALE, 60 * session.settings.sample_interval)
    if sampled and time.time_ns() - sampled > late * NS:
        since = ago(sampled, time.time_ns())
        yield warn("counters", f"the last sample is {since} old", "see srv6mgrd's log")
    bad = [(r, s) for r, s in statuses.items() if s.status is not InstallStatus.INSTALLED]
    for ref, status in bad[:_SHOWN]:
        name = f"{ref.kind.name.lower().replace('_', '-')} {ref.name}"
        told = fail if status.status is InstallStatus.FAILED else warn
        cause, _, remedy = status.reason.rpartition("; ")
        words = f"{name} is {status.status.text}: {cause or status.reason}"
        yield told("status", words, remedy if cause else f"see srv6ctl show {_shown(name)}")
    if len(bad) > _SHOWN:
        yield warn(
            "status", f"... and {len(bad) - _SHOWN} more", "see srv6ctl show sids, show vrfs"
        )
    if statuses and not bad:
        yield ok("status", f"all {counted(len(statuses), 'object')} declared are installed")


def _shown(name: str) -> str:
    kind = name.partition(" ")[0]
    lists = {"sid": "sids", "vrf": "vrfs", "vrf-bgp": "vrfs", "locator": "locators"}
    return lists.get(kind, "routes")


def sysrepo(session: Session) -> Iterator[Finding]:
    """It answers, has our modules, and a reboot begins with what runs now."""
    try:
        with session.door() as door:
            modules, running, startup = door.modules(), door.running(), door.startup()
    except Problem as problem:
        complaint = problem.complaints[0]
        yield fail("sysrepo", complaint.cause, complaint.remedy)
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
    except OSError as error:
        yield fail(
            "redis",
            f"it can't be reached at {path} ({error.strerror or error}): SONiC tables stand still",
            "systemctl start redis-server, and see unixsocket in redis.conf; redis_socket ="
            ' "" in srv6mgrd.toml does without it',
        )
        return
    if answer.startswith("-LOADING"):
        yield warn("redis", "it is loading its data", "wait until it is done")
    elif not answer.startswith("+PONG"):
        yield fail("redis", f"it answers {answer!r}", "let root use it without a password")
    else:
        yield ok("redis", f"answers at {path}")
