"""What is wrong with the host, given what was seen of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.tunnels import Tunnel
from srv6mgrd.storage import DAMAGED

_NODE = "/srv6mgr-srv6:srv6/srv6mgr-operations"
DAY = 86_400
# Seconds before the end of a certificate from which on it is reported.
SOON = 14 * DAY
# Parts of a file system that are free, and bytes: who has more has enough, however small the part.
_LOW, _LEAST = 0.10, 0.02
_ENOUGH, _LITTLE = 1 << 30, 64 << 20
# Seconds that it takes to dial a server again that was restarted.
_MOMENT = 5.0


@dataclass(frozen=True, slots=True)
class Disk:
    """Room in the file system of a directory, in bytes."""

    directory: str
    size: int
    free: int


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that a northbound presents. ``ends`` in seconds since the epoch, or
    ``problem``; neither where it may not be read (``is_denied``)."""

    file: str
    northbound: str
    ends: float = 0.0
    problem: str = ""
    is_denied: bool = False
    is_self_signed: bool = False


@dataclass(frozen=True, slots=True)
class Daemon:
    """One that is to run. ``stopped`` is its process, where a signal stopped it."""

    name: str
    is_running: bool
    stopped: int | None = None


def files(problems: Mapping[str, tuple[str, int]]) -> Iterator[Condition]:
    """Of ``storage.Problems``."""
    for file, (text, _) in problems.items():
        cause, _, remedy = text.partition("; ")
        yield Condition(
            ConditionType.STATE_NOT_WRITTEN,
            f"{_NODE}:storage/problem[file='{file}']",
            Severity.WARNING if file.endswith(DAMAGED) else Severity.MINOR,
            f"{file}: {cause}",
            remedy or "see srv6mgrd's log",
        )


def rollback(commit: str, problem: str) -> Iterator[Condition]:
    """Of a commit that was to be rolled back; nothing where there is no problem."""
    if problem:
        cause, _, remedy = problem.rpartition("; ")
        yield Condition(
            ConditionType.ROLLBACK_FAILED,
            f"{_NODE}:transactions/pending",
            Severity.MAJOR,
            f"commit {commit} was not confirmed and can't be rolled back: {cause or problem}",
            f"{remedy if cause else 'remove the cause'}; or keep it: srv6ctl confirm {commit}",
        )


def disks(found: Iterable[Disk]) -> Iterator[Condition]:
    """Nearly full ones. The text has no figures that change each second."""
    for disk in found:
        part = disk.free / disk.size if disk.size else 1.0
        if part >= _LOW or disk.free >= _ENOUGH:
            continue
        is_least = part < _LEAST and disk.free < _LITTLE
        limit = _LEAST if is_least else _LOW
        yield Condition(
            ConditionType.DISK_NEARLY_FULL,
            disk.directory,
            Severity.MINOR if is_least else Severity.WARNING,
            f"less than {limit:.0%} of the file system of {disk.directory} is free",
            f"remove what fills it (du -xa {disk.directory} | sort -n | tail), or enlarge it",
        )


def certificates(found: Iterable[Certificate], now: float) -> Iterator[Condition]:
    """Those that can't be read, end soon or have ended."""
    for one in found:
        what = f"the certificate of {one.northbound}, {one.file},"
        # Both read the file again by themselves; what srv6-gnmid made it makes again at a start.
        remedy = "put a new certificate and its key there: they are used at once"
        if one.is_self_signed:
            remedy = f"remove it and restart {one.northbound}, or set certificate and key"
        if one.is_denied:
            continue
        if one.problem:
            severity, cause = Severity.MAJOR, f"{what} can't be read: {one.problem}"
        elif one.ends <= now:
            severity, cause = Severity.MAJOR, f"{what} ended on {_date(one.ends)}"
        elif one.ends - now <= SOON:
            severity, cause = Severity.WARNING, f"{what} ends on {_date(one.ends)}"
        else:
            continue
        yield Condition(ConditionType.CERTIFICATE_EXPIRY, one.file, severity, cause, remedy)


def daemons(found: Iterable[Daemon]) -> Iterator[Condition]:
    """Those that do not run, or are stopped."""
    for daemon in found:
        if daemon.is_running and daemon.stopped is None:
            continue
        cause, remedy = (
            "does not run",
            f"systemctl start {daemon.name}; journalctl -u {daemon.name}",
        )
        if daemon.stopped is not None:
            cause = f"is stopped by a signal (SIGSTOP), process {daemon.stopped}"
            remedy = f"let it go on: kill -CONT {daemon.stopped}"
        yield Condition(
            ConditionType.DAEMON_DOWN,
            f"{_NODE}:daemons/daemon[name='{daemon.name}']",
            Severity.MINOR,
            f"{daemon.name} {cause}",
            remedy,
        )


def redis(place: str, problem: str) -> Iterator[Condition]:
    """``problem`` empty: it answers."""
    if problem:
        yield Condition(
            ConditionType.REDIS_UNREACHABLE,
            place,
            Severity.MINOR,
            f"Redis at {place} does not answer ({problem}): tables of SONiC are out of date",
            'systemctl start srv6-redis; without Redis, set redis_socket = "" in srv6mgrd.toml',
        )


def tunnels(found: Iterable[Tunnel], now: float) -> Iterator[Condition]:
    """Those that are down, and not for a moment."""
    for tunnel in found:
        if tunnel.is_up or now - tunnel.since < _MOMENT:
            continue
        cause, _, remedy = tunnel.reason.rpartition("; ")
        yield Condition(
            ConditionType.TUNNEL_DOWN,
            f"tunnel {tunnel.server}",
            Severity.MINOR,
            f"the tunnel to {tunnel.server} is down: {cause or remedy}",
            remedy if cause else "journalctl -u srv6-gnmid",
        )


def clock(problem: str) -> Iterator[Condition]:
    """``problem`` empty: it is well."""
    if problem:
        yield Condition(
            ConditionType.CLOCK_NOT_SYNCHRONIZED,
            "clock",
            Severity.WARNING,
            problem,
            "see that a time service runs and reaches its servers: timedatectl, chronyc sources",
        )


def _date(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
