"""A tunnel to one server: dialed, registered, and dialed again when it is lost."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from srv6mgrd.backoff import Backoff
from srv6mgrd.gnmi.tunnel import messages
from srv6mgrd.gnmi.tunnel.dial import Dialed
from srv6mgrd.gnmi.tunnel.sessions import Sessions
from srv6mgrd.model.tunnels import Tunnel

_LOG = logging.getLogger("srv6-gnmid")
_FIRST_S, _LAST_S = 1.0, 60.0
# A server that takes a registration and ends it at once is not asked again at once.
_STEADY_S = 60.0
_ANSWER_S = 20.0
# In Go, a server by default ends a connection with more than one ping of HTTP/2 in five minutes.
_PING_S, _PONG_S = 330.0, 20.0
_SOCKET = re.compile(r"^.*unix:/\S+: ")
_NUMBER = re.compile(r"\[Errno (\d+)\]")
_OF_TLS = ("andshake", "certificate", "TSI_")

Report = Callable[[], None]


class TunnelError(Exception):
    """Why a tunnel is down: cause and remedy."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """PEM files: the authority of the server's certificate; ours and its key, or empty."""

    ca: str
    certificate: str
    key: str

    def read(self) -> grpc.ChannelCredentials:
        """Raises TunnelError."""
        ca, certificate, key = map(_content, (self.ca, self.certificate, self.key))
        return grpc.ssl_channel_credentials(ca, key, certificate)


@dataclass(frozen=True, slots=True)
class Options:
    """Of all tunnels. ``keepalive``: seconds of silence until a server is asked for a sign."""

    target: str
    credentials: Credentials
    keepalive: float


class TunnelClient:
    """Keeps one tunnel up."""

    def __init__(
        self, server: str, options: Options, sessions: Sessions, path: Path, report: Report
    ) -> None:
        """``server`` is ``host:port``, ``path`` free for a socket. ``report`` hears of changes of
        ``state`` and ``sessions``."""
        self._host, _, port = server.rpartition(":")
        self._host, self._port = self._host.strip("[]"), int(port)
        self._options, self._sessions = options, sessions
        self._path, self._report = path, report
        self._serving: set[asyncio.Task[None]] = set()
        self.state = Tunnel(server, options.target, False, time.time(), "it is being dialed")

    async def run(self) -> None:
        """Until cancelled."""
        backoff = Backoff(_FIRST_S, _LAST_S)
        while True:
            try:
                await self._once()
            except TunnelError as error:
                state = self.state
                lasted = time.time() - state.since
                if state.is_up and lasted > _STEADY_S:
                    backoff.reset()
                self._change(False, str(error))
            await backoff.wait()

    async def _once(self) -> None:
        """Raises TunnelError when it is lost, or can't be had."""
        credentials = await asyncio.to_thread(self._options.credentials.read)
        dialed = Dialed(self._path, self._options.keepalive)
        try:
            try:
                await dialed.open(self._host, self._port)
            except (OSError, TimeoutError) as error:
                raise TunnelError(
                    f"{_cause(error)}; see that the tunnel server runs, and that the address in"
                    " tunnel_servers leads to it"
                ) from None
            options = [
                ("grpc.ssl_target_name_override", self._host),
                ("grpc.default_authority", self.state.server),
                ("grpc.keepalive_time_ms", int(_PING_S * 1000)),
                ("grpc.keepalive_timeout_ms", int(_PONG_S * 1000)),
                ("grpc.http2.max_pings_without_data", 0),
                ("grpc.use_local_subchannel_pool", 1),
                ("grpc.enable_retries", 0),
            ]
            async with grpc.aio.secure_channel(
                f"unix:{self._path}", credentials, options=options
            ) as channel:
                await self._registered(channel, dialed)
        finally:
            dialed.close()

    async def _registered(self, channel: grpc.aio.Channel, dialed: Dialed) -> None:
        call = channel.stream_stream(
            messages.REGISTER,
            request_serializer=messages.RegisterOp.SerializeToString,
            response_deserializer=messages.RegisterOp.FromString,
        )()
        tunnel = channel.stream_stream(
            messages.TUNNEL,
            request_serializer=messages.Data.SerializeToString,
            response_deserializer=messages.Data.FromString,
        )
        try:
            async with asyncio.timeout(_ANSWER_S):
                await call.write(messages.registration(self.state.target))
                while not (operation := await _read(call)).HasField("target"):
                    pass
            self._check(operation.target)
            self._change(True)
            while True:
                operation = await _read(call)
                if operation.HasField("session"):
                    await self._session(call, operation.session, tunnel, dialed)
        except TimeoutError:
            raise TunnelError(
                f"it does not answer the registration within {_ANSWER_S:.0f} s; see its log"
            ) from None
        except grpc.aio.AioRpcError as error:
            raise TunnelError(_status(error.code(), error.details())) from None
        except asyncio.InvalidStateError:
            # Written to a call that had ended.
            raise TunnelError(_status(await call.code(), await call.details())) from None
        finally:
            call.cancel()
            await self._end_sessions()

    def _check(self, answer: Any) -> None:
        if answer.error or not answer.accept:
            raise TunnelError(
                f"it does not take target {self.state.target}:"
                f" {answer.error or 'it says no reason'}; if another router has this name, set"
                " tunnel_target"
            )

    async def _session(self, call: Any, asked: Any, tunnel: Any, dialed: Dialed) -> None:
        error = ""
        if not asked.accept or asked.tag <= 0:
            return  # An answer to a session that we would have asked for.
        if (asked.target, asked.target_type) != (self.state.target, messages.GNMI):
            error = f"target {asked.target}, type {asked.target_type}: not registered"
        else:
            begun = self._sessions.begin(tunnel, asked.tag, dialed.address, dialed.port)
            if isinstance(begun, str):
                error = begun
            else:
                self._serving.add(begun)
                begun.add_done_callback(self._served)
                self._report()
        if error:
            await call.write(messages.rejection(asked, error))

    @property
    def sessions(self) -> int:
        return len(self._serving)

    def _served(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("tunnel: a session failed", exc_info=error)
        self._report()

    async def _end_sessions(self) -> None:
        serving = list(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    def _change(self, is_up: bool, reason: str = "") -> None:
        before, server = self.state, self.state.server
        if (before.is_up, before.reason) == (is_up, reason):
            return
        since = time.time() if is_up != before.is_up else before.since
        self.state = Tunnel(server, before.target, is_up, since, reason)
        if is_up:
            _LOG.info("tunnel to %s: up, target %s", server, before.target)
        else:
            _LOG.warning("tunnel to %s: down: %s", server, reason)
        self._report()


async def _read(call: Any) -> Any:
    """Raises AioRpcError, or TunnelError at the end."""
    operation = await call.read()
    if operation is grpc.aio.EOF:
        code = await call.code()
        if code is grpc.StatusCode.OK:
            raise TunnelError("the server ended it; see its log")
        raise TunnelError(_status(code, await call.details()))
    return operation


def _status(code: grpc.StatusCode, details: str | None) -> str:
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return "no tunnel server answers there; correct tunnel_servers"
    # gRPC's own words begin with our socket.
    cause = _SOCKET.sub("", details or "it says no reason")
    remedy = "see the server's log"
    if any(word in cause for word in _OF_TLS):
        remedy = (
            "see that tunnel_ca signed the server's certificate, that it names the server, and that"
            " the server takes tunnel_certificate"
        )
    return f"{code.name}: {cause}; {remedy}"


def _cause(error: OSError | TimeoutError) -> str:
    if isinstance(error, TimeoutError):
        return "nothing answers there"
    if isinstance(error, socket.gaierror):
        return error.strerror or str(error)
    # With several addresses it is one error with the texts of all.
    numbers = [error.errno] if error.errno else map(int, _NUMBER.findall(str(error)))
    return ", ".join(dict.fromkeys(map(os.strerror, numbers))) or str(error)


def _content(file: str) -> bytes | None:
    if not file:
        return None
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise TunnelError(
            f"{file}: {error.strerror}; correct the path or its permissions"
        ) from None
