"""The host: daemons, certificates, tunnels, disks. Looked at here, with srv6mgrd or without."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from srv6mgrd.cli.doctor.finding import Finding, Level, or_ok, skip
from srv6mgrd.host_conditions import daemons, disks, judge, tunnels
from srv6mgrd.host_conditions.certificates import Certificates
from srv6mgrd.model.condition import Condition, Severity
from srv6mgrd.settings import Settings


def host(settings: Settings) -> Iterator[Finding]:
    """Those of its daemons that are to run do, certificates are valid, disks have room."""
    try:
        running = daemons.found(Path(settings.runtime_directory))
    except OSError as error:
        yield skip("daemons", f"they can't be looked at ({error.strerror or error})")
    else:
        names = ", ".join(daemon.name for daemon in running) or "none is enabled"
        yield from _judged(
            "daemons", f"those that are enabled run ({names})", judge.daemons(running)
        )
    yield from certificates(Certificates())
    if dialed := tunnels.found(Path(settings.runtime_directory)):
        well = f"up: {', '.join(tunnel.server for tunnel in dialed)}"
        yield from _judged("tunnels", well, judge.tunnels(dialed, time.time()))
    found = judge.disks(disks.found(settings))
    yield from _judged("disks", "state, runtime and shared memory have room", found)


def certificates(known: Certificates) -> Iterator[Finding]:
    """Those of northbounds, as far as the caller may read them."""
    found = []
    for each in known.found():
        if each.is_denied:
            yield skip("certificates", f"{each.file} may not be read", "run srv6ctl doctor as root")
        else:
            found.append(each)
    if found:
        what = f"valid: {', '.join(each.file for each in found)}"
        yield from _judged("certificates", what, judge.certificates(found, time.time()))


def _judged(check: str, well: str, found: Iterable[Condition]) -> Iterable[Finding]:
    return or_ok(
        check,
        well,
        [
            Finding(
                # What does not affect a service is degraded, not down.
                Level.FAIL if condition.severity >= Severity.MAJOR else Level.WARN,
                check,
                condition.cause,
                condition.remedy,
            )
            for condition in found
        ],
    )
