"""``support-bundle``: what somebody else needs to find a fault, in one file without secrets."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from srv6mgrd.cli.bundle import archive, sources
from srv6mgrd.cli.bundle.scrub import Scrubber, frr_secrets, gathered, secrets_in
from srv6mgrd.cli.bundle.sources import Source, as_json
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.session import Session, json_option, pass_session


@click.command("support-bundle")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@json_option
@pass_session
def support_bundle(session: Session, file: Path | None) -> None:
    """Collect state, logs, kernel, FRR, versions and settings in FILE (.tar.gz), without secrets.

    FILE must not exist. By default it is named by the node and the time, in this folder.
    """
    if os.geteuid():
        raise Problem.of(
            "support-bundle", "it reads what root may read", "run it as root", Exit.DENIED
        )
    now = int(time.time())
    when = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    node = socket.gethostname()
    path = file or Path(f"srv6mgr-support-{node}-{when}.tar.gz")
    machine = sources.Machine()
    listed = [*_of_srv6mgr(session), *sources.of_system(machine, session.settings)]
    about = archive.ABOUT.format(node=node, when=when)
    scrubber = Scrubber(_known(session, machine))
    try:
        missing = archive.write(path, listed, scrubber, about, now)
    except FileExistsError:
        raise Problem.of(str(path), "it exists already", "name another file", Exit.USAGE) from None
    except OSError as error:
        cause = error.strerror or str(error)
        raise Problem.of(
            str(path), f"it can't be written ({cause})", "name another file", Exit.USAGE
        ) from None
    if session.out.as_json:
        session.out.json({"file": str(path), "missing": missing})
        return
    session.out.line(
        f"{path}: {len(listed) - len(missing)} files; README.txt names what is missing"
    )
    session.out.note("secrets were removed; look through it before you pass it on")


def _known(session: Session, machine: sources.System) -> frozenset[str]:
    """The secrets of this node."""

    def configured() -> Iterable[str]:
        import json

        with session.client() as client:
            names = client.secret_names()
            for text in (client.running(), client.startup()):
                yield from secrets_in(json.loads(text or "{}"), names)

    def of_frr() -> Iterable[str]:
        return frr_secrets(machine.run(["vtysh", "-c", "show running-config"]))

    def of_redis() -> Iterable[str]:
        file = session.settings.redis_password_file
        return [machine.file(Path(file)).strip()] if file else []

    return gathered((configured, of_frr, of_redis))


def _of_srv6mgr(session: Session) -> list[Source]:
    """What srv6mgr itself knows."""

    def configuration(which: str) -> str:
        with session.client() as client:
            return str(getattr(client, which)())

    def version() -> str:
        from importlib.metadata import version

        return f"{version('srv6mgr')}\n"

    def findings() -> Any:
        from srv6mgrd.cli.doctor import checks

        return [finding._asdict() for finding in checks(session)]

    def statuses() -> Any:
        return [
            {"kind": ref.kind.text, "name": ref.name, "status": status.status.text,
             "reason": status.reason, "since": status.since, "repairs": status.repairs,
             "detail": status.detail}
            for ref, status in session.state.statuses().items()
        ]  # fmt: skip

    def counters() -> Any:
        sample = session.state.sample()
        of_each = {name: [c.packets, c.octets, c.errors] for name, c in sample.counters.items()}
        return {"at": sample.at, "packets-octets-errors": of_each}

    return [
        Source("versions/srv6mgr.txt", version),
        Source("configuration/running.json", lambda: configuration("running")),
        Source("configuration/startup.json", lambda: configuration("startup")),
        Source("state/doctor.json", as_json(findings)),
        Source("state/statuses.json", as_json(statuses)),
        Source("state/counters.json", as_json(counters)),
        Source("state/alarms.json", as_json(session.state.alarms)),
        Source("state/node.json", as_json(session.state.node)),
        Source("state/proxies.json", as_json(session.state.proxies)),
    ]
