"""``srv6-gnmid``: wiring only."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import getpass
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from srv6mgrd import memory
from srv6mgrd.datastore.connection import Connection, DatastoreError
from srv6mgrd.gnmi import models, tls, wire
from srv6mgrd.gnmi.access import Access, hash_password
from srv6mgrd.gnmi.authority import Authority
from srv6mgrd.gnmi.config import Config, load
from srv6mgrd.gnmi.feed import Feed
from srv6mgrd.gnmi.projections import VIEWS
from srv6mgrd.gnmi.service import Service
from srv6mgrd.gnmi.state import State
from srv6mgrd.gnmi.subscribe import Pace
from srv6mgrd.gnmi.view import Model
from srv6mgrd.gnmi.writer import Writer
from srv6mgrd.jobs import until_stopped
from srv6mgrd.settings import SettingsError
from srv6mgrd.start import start

_NAME = "srv6-gnmid"
_LOG = logging.getLogger(_NAME)

# How long a client may take to answer a ping, if not less than the time between two.
_ANSWER_S = 10.0


def _channel(config: Config) -> list[tuple[str, int]]:
    answer = int(min(config.keepalive, _ANSWER_S) * 1000)
    return [
        ("grpc.max_receive_message_length", config.max_message << 20),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_allowed_incoming_connections", config.max_connections),
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
    connection = Connection(originator=_NAME)
    try:
        with connection.context() as context:
            found = models.load(context, config.models)
        if not found.configurable:
            raise SettingsError(
                f"sysrepo: has no module like {', '.join(config.models)}; install the YANG modules"
            )
        model = Model(found.root, VIEWS)
        feed = Feed(model, State(Path(config.store)))
        authority = await loop.run_in_executor(None, Authority, connection, model.source_of)
        await loop.run_in_executor(None, authority.follow, connection, loop)
        follower = feed.follow(loop)
        await loop.run_in_executor(None, connection.follow, found.configurable, follower)
        required = bool(config.users) and not config.client_ca
        service = Service(
            found,
            feed,
            Writer(connection, found.configurable, authority, feed.is_bare).commit,
            Access(config.users, required=required, anonymous=config.anonymous_user or None),
            permit=authority.permit,
            pace=Pace(counters=config.counter_interval),
            most=config.max_subscribers,
        )
        server = await _server(config, service)
        await server.start()
        _LOG.info("serving %s", ", ".join((*config.listen, *config.plaintext)))
        try:
            await until_stopped(memory.give_back())
        finally:
            service.end()
            await server.stop(grace=1)
            service.close()
            feed.close()
            await loop.run_in_executor(None, authority.close)
    finally:
        await loop.run_in_executor(None, connection.close)


async def _server(config: Config, service: Service) -> grpc.aio.Server:
    server = grpc.aio.server(options=_channel(config))
    server.add_generic_rpc_handlers((service.handlers(),))
    checks = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    for name in ("", wire.SERVICE):
        await checks.set(name, health_pb2.HealthCheckResponse.SERVING)
    # gnmi-specification.md 3: reflection lets a client find out that gNMI is here.
    names = (wire.SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)
    for address in config.listen:
        with _binding(address):
            server.add_secure_port(address, tls.credentials(config))
    for address in config.plaintext:
        with _binding(address):
            server.add_insecure_port(address)
    return server


@contextlib.contextmanager
def _binding(address: str) -> Iterator[None]:
    try:
        yield
    except RuntimeError:  # what grpc.aio has instead of an OSError
        raise SettingsError(
            f"listen {address}: can't be bound; is another server running?"
        ) from None


class _HashPassword(argparse.Action):
    """Print what the setting ``users`` wants of a password, and end."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(hash_password(getpass.getpass()))
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
        (DatastoreError,),
        options=_options,
    )


if __name__ == "__main__":
    main()
