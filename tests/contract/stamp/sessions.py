"""Senders and reflectors of ours, with real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
from collections.abc import AsyncIterator
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from typing import Any

from lab.waiting import wait_until_async
from srv6mgrd.model.path_measurement import Session
from srv6mgrd.stamp.assignments import ReflectorAssignment, SessionAssignment
from srv6mgrd.stamp.path_state import PathState
from srv6mgrd.stamp.reflector import Reflector
from srv6mgrd.stamp.sender import SessionSender
from srv6mgrd.stamp.statistics import Measurement

HERE, OTHER = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2")
LOCAL = IPv6Network("2001:db8::/64")
# The shortest measurement that the model has.
SHORT = Session("pe2", OTHER, interval=10, measurement_interval=5)


def ip(command: str) -> None:
    subprocess.run(f"ip {command}", shell=True, check=True)


def to_here(*allowed: IPv4Network | IPv6Network, **more: Any) -> ReflectorAssignment:
    return ReflectorAssignment(allowed={"": allowed} if allowed else {}, **more)


def session(one: Session = SHORT, **more: Any) -> SessionSender:
    """From HERE unless another source is given."""
    return SessionSender(SessionAssignment(one, more.pop("source", HERE), **more), 1)


@contextlib.asynccontextmanager
async def reflecting(*allowed: IPv4Network | IPv6Network, **more: Any) -> AsyncIterator[Reflector]:
    reflector = Reflector()
    reflector.configure(to_here(*allowed, **more))
    try:
        yield reflector
    finally:
        reflector.close()


@contextlib.asynccontextmanager
async def sending(sender: SessionSender) -> AsyncIterator[SessionSender]:
    task = asyncio.create_task(sender.run())
    try:
        yield sender
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(sender: SessionSender, state: PathState, reason: str = "") -> None:
    def judged() -> str:
        found = sender.judgement(time.monotonic_ns())
        return f"{found.state} {found.reason}"

    await wait_until_async(
        lambda: judged().startswith(f"{state} {reason}"), f"{state} {reason}", seen=judged
    )


async def measured(sender: SessionSender) -> Measurement:
    """The first measurement interval."""

    def done() -> bool:
        sender.judgement(time.monotonic_ns())
        return sender.measurement is not None

    await wait_until_async(done, "a measurement")
    assert sender.measurement is not None
    return sender.measurement
