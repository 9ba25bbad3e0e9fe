"""``srv6-gnmid``: wiring only."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import logging
import sys
from functools import partial
from pathlib import Path
from typing import Any

import grpc

from srv6mgrd import memory
from srv6mgrd.clients.certificates import Certificates
from srv6mgrd.clients.passwords import Passwords, hash_password
from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.commits.watch import Watch
from srv6mgrd.datastore.connection import Connection, DatastoreError
from srv6mgrd.datastore.file_modes import deny_others
from srv6mgrd.datastore.running import content
from srv6mgrd.gnmi import models, operations_messages, rpc, tls, wire
from srv6mgrd.gnmi.access import Access
from srv6mgrd.gnmi.authority import Authority
from srv6mgrd.gnmi.budget import Room
from srv6mgrd.gnmi.config import Config, load
from srv6mgrd.gnmi.discovery import Discovery
from srv6mgrd.gnmi.feed import TelemetryFeed
from srv6mgrd.gnmi.listener.front import UNANSWERED_S, Front, FrontEndedError
from srv6mgrd.gnmi.operations import Operations
from srv6mgrd.gnmi.pam_workers import PamWorkers
from srv6mgrd.gnmi.projections import VIEWS
from srv6mgrd.gnmi.service import Service
from srv6mgrd.gnmi.state import State
from srv6mgrd.gnmi.subscribe import Telemetry
from srv6mgrd.gnmi.tunnel.dial_out import DialOut
from srv6mgrd.gnmi.view import Model
from srv6mgrd.gnmi.watch import SampleLimits
from srv6mgrd.gnmi.workers import Workers
from srv6mgrd.gnmi.writer import Writer
from srv6mgrd.jobs import until_stopped
from srv6mgrd.name_service import system_groups
from srv6mgrd.settings import SettingsError
from srv6mgrd.start import start

_NAME = "srv6-gnmid"
_LOG = logging.getLogger(_NAME)

# At once in memory, of all clients together.
_LARGE_ANSWERS = 8


def _most(config: Config) -> int:
    """Connections at once, those that come through tunnels too."""
    return config.max_connections + (config.max_tunnel_sessions if config.tunnel_servers else 0)


def _channel(config: Config) -> list[tuple[str, int]]:
    answer = int(min(config.keepalive, UNANSWERED_S) * 1000)
    return [
        ("grpc.max_receive_message_length", config.max_message << 20),
        ("grpc.max_send_message_length", -1),
        # The listener counts them; this is for those that it has just closed, too.
        ("grpc.max_allowed_incoming_connections", 2 * _most(config)),
        ("grpc.max_concurrent_streams", config.max_streams),
        ("grpc.keepalive_time_ms", int(config.keepalive * 1000)),
        # The first is for any data to come, the second (60 s by default) for the ping's answer.
        ("grpc.keepalive_timeout_ms", answer),
        ("grpc.http2.ping_timeout_ms", answer),
        # Else who connects and says nothing takes a place for two minutes.
        ("grpc.server_handshake_timeout_ms", answer),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.so_reuseport", 0),
    ]


async def _run(config: Config) -> None:
    loop = asyncio.get_running_loop()
    # Mistakes in the settings are reported before anything is set up.
    pam = PamWorkers(config.pam) if config.pam else None
    passwords = Passwords(config.users, pam.check if pam else None)
    certificates = None
    if config.client_ca:
        certificates = Certificates(config.client_ca, config.certificate_names, config.crl)
    front = Front(config)
    dial_out = DialOut(config, front)
    access = Access(
        passwords,
        certificates,
        anonymous=config.anonymous_user,
        authenticated=dial_out.authenticated,
    )
    connection = Connection(originator=_NAME)
    deny_others()
    try:
        with connection.context() as context:
            found = models.load(context, config.models)
        if not found.configurable:
            raise SettingsError(
                f"sysrepo: has no module like {', '.join(config.models)}; install the YANG modules"
            )
        model = Model(found.root, VIEWS)
        feed = TelemetryFeed(model, State(Path(config.store)))
        authority = await loop.run_in_executor(
            None, Authority, connection, model.source_of, system_groups()
        )
        commits = commit_socket(Path(config.store).parent)
        await loop.run_in_executor(None, authority.follow, commits)
        modules, reader = found.configurable, connection.session()
        read = partial(content, reader, modules)
        watch = await asyncio.to_thread(Watch, commits, modules, feed.follow(loop), read)
        workers = Workers(_most(config))
        writer = Writer(CommitClient(commits), modules, feed.is_bare, watch.wait_for)
        operations = Operations(writer.call)
        service = Service(
            found,
            Telemetry(feed, workers, SampleLimits(counters=config.counter_interval)),
            writer.commit,
            permit=authority.permit,
            most=config.max_subscribers,
        )
        services = (service, operations)
        known = rpc.Rpcs(
            rpc.identified_by(access, authority.know),
            workers,
            Room(_LARGE_ANSWERS),
            config.request_seconds,
            rpc.certified_by(access),
            authority.may_change,
        )
        server = await _server(config, services, known, front)
        await server.start()
        await front.start()
        _LOG.info("serving %s", ", ".join((*config.listen, *config.plaintext)))
        try:
            await until_stopped(memory.give_back(), front.watch(), dial_out.run())
        finally:
            service.end()
            await server.stop(grace=1)
            service.close()
            await asyncio.to_thread(watch.close)
            operations.close()
            feed.close()
            await asyncio.to_thread(authority.close)
    finally:
        dial_out.close()
        front.close()
        # Else a restart would find its addresses in use.
        await loop.run_in_executor(None, front.wait)
        await loop.run_in_executor(None, dial_out.wait)
        passwords.close()
        if pam:
            pam.close()
        await loop.run_in_executor(None, connection.close)


async def _server(
    config: Config, services: tuple[Service, Operations], known: rpc.Rpcs, front: Front
) -> grpc.aio.Server:
    server = grpc.aio.server(options=_channel(config))
    unknown = rpc.Rpcs(rpc.anyone, known.workers, known.room, known.seconds)
    # gnmi-specification.md 3: reflection lets a client find out that gNMI is here.
    discovery = Discovery([wire.SERVICE, operations_messages.SERVICE])
    await discovery.serving()
    longest = config.max_message << 20
    server.add_generic_rpc_handlers(
        (
            *(service.handlers(known, longest) for service in services),
            *discovery.handlers(unknown),
        )
    )
    server.add_secure_port(f"unix:{front.secure}", tls.credentials(config))
    server.add_insecure_port(f"unix:{front.plain}")
    return server


class _HashPassword(argparse.Action):
    """Print what the setting ``users`` wants of a password, and end. It is asked for, or read from
    standard input, one line."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        is_asked = sys.stdin.isatty()
        password = getpass.getpass() if is_asked else sys.stdin.readline().rstrip("\n")
        if not password:
            parser.error("the password is empty; type one, or pipe a line with it")
        print(hash_password(password))
        parser.exit()


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--hash-password",
        action=_HashPassword,
        nargs=0,
        help="hash a password for the setting users",
    )


def main() -> None:
    """Entry point."""
    start(
        _NAME,
        "gNMI server of srv6mgr.",
        load,
        _run,
        (DatastoreError, FrontEndedError),
        options=_options,
    )


if __name__ == "__main__":
    main()
