"""stamp-suite, written in Rust: its reflector for our sender, its sender for our reflector."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.stamp.path_state import PathState
from tests.contract.stamp.sessions import (
    HERE,
    LOCAL,
    OTHER,
    SHORT,
    measured,
    reflecting,
    sending,
    session,
    until,
)

PROGRAM = Path(__file__).parents[3] / "build/bin/stamp-suite"
KEY = b"a key of a session"
ITS_PORT, COUNT, RUNS = 8620, 20, 5

pytestmark = [
    pytest.mark.usefixtures("addresses"),
    pytest.mark.skipif(
        not PROGRAM.exists(), reason=f"{PROGRAM} is absent: make build/bin/stamp-suite"
    ),
]


async def started(*options: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(str(PROGRAM), *options, stdout=pipe, stderr=pipe)


def listens() -> bool:
    sockets = Path("/proc/thread-self/net/udp6").read_text().splitlines()[1:]
    return any(one.split()[1].endswith(f":{ITS_PORT:04X}") for one in sockets)


@contextlib.asynccontextmanager
async def its_reflector(*options: str) -> AsyncIterator[None]:
    process = await started("-i", "-S", str(OTHER), "-o", str(ITS_PORT), *options)
    try:
        # Packets before that would count as lost.
        await wait_until_async(lambda: process.returncode is not None or listens(), "its reflector")
        assert process.returncode is None
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        _, said = await process.communicate()
        print(said.decode())


async def its_sender(*options: str) -> dict[str, Any]:
    """What it found."""
    source = ("-S", str(HERE), "-o", "8621")
    destination = ("-r", str(OTHER), "-p", "862")
    often = ("-c", str(COUNT), "-d", "20", "-L", "2", "--output-format", "json")
    process = await started(*source, *destination, *often, *options)
    out, said = await asyncio.wait_for(process.communicate(), 60)
    print(said.decode(), out.decode())
    assert process.returncode == 0
    found: dict[str, Any] = json.loads(out[out.index(b"{") :])
    return found


AUTHENTICATED = ("-A", "A", "--hmac-key", KEY.hex())
TO_IT = replace(SHORT, port=ITS_PORT)


@pytest.mark.parametrize("key", [None, KEY], ids=["open", "authenticated"])
async def test_its_reflector_answers_us(key: bytes | None) -> None:
    options = AUTHENTICATED if key is not None else ()
    asked = replace(TO_IT, key=key, node_address=OTHER)
    async with its_reflector(*options), sending(session(asked)) as sender:
        await until(sender, PathState.UP)
        found = await measured(sender)
    assert found.received >= found.sent - 2
    # It counts, as we do.
    assert found.directions is not None


async def test_its_reflector_has_another_key() -> None:
    other = replace(TO_IT, key=b"the key of another")
    async with its_reflector(*AUTHENTICATED), sending(session(other)) as sender:
        await until(sender, PathState.DOWN, "no answer")


async def test_its_reflector_is_another_router() -> None:
    asked = replace(TO_IT, node_address=IPv6Address("2001:db8::22"))
    async with its_reflector(), sending(session(asked)) as sender:
        await until(sender, PathState.DEGRADED, "the router that answers does not say")


@pytest.mark.parametrize("key", [None, KEY], ids=["open", "authenticated"])
async def test_its_sender_is_answered(key: bytes | None) -> None:
    options = AUTHENTICATED if key is not None else ()
    more = ("--ssid", "7", "--direct-measurement", "--dest-node-addr", str(OTHER))
    async with reflecting(LOCAL, key=key):
        # On a busy machine no packet of some runs arrives.
        runs = [await its_sender(*options, *more)]
        while runs[-1]["packets_received"] == 0 and len(runs) < RUNS:
            runs.append(await its_sender(*options, *more))
    assert runs[-1]["packets_received"] >= COUNT - 2


async def test_its_sender_with_another_key_is_not_answered() -> None:
    async with reflecting(LOCAL, key=b"the key of another"):
        found = await its_sender(*AUTHENTICATED)
    assert found["packets_received"] == 0
