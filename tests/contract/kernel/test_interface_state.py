"""State of declared interfaces, as it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.kernel.interface_state import InterfaceStates
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.interfaces import Interface
from tests.contract.kernel.conftest import Run

pytestmark = pytest.mark.contract

DESIRED = Desired(interfaces={name: Interface(name) for name in ("p0", "absent")})


class Seen:
    """``ports.Observed`` that remembers what was published."""

    def __init__(self) -> None:
        self.staged: Mapping[str, Any] = {}
        self.states: dict[str, dict[str, Any]] = {}

    def stage(self, part: str, members: Mapping[str, Any]) -> None:
        self.staged = members

    def publish(self) -> None:
        self.states = {
            e["name"]: {n.partition(":")[2]: v for n, v in e["state"].items()}
            for e in self.staged.get("interfaces", {}).get("interface", ())
        }


async def test_it_follows_links_addresses_and_what_is_declared(run: Run) -> None:
    run("ip link add p0 type veth peer name far; ip link set p0 mtu 1400 up; ip link set far up")
    run("ip addr add 10.9.0.1/24 dev p0")
    seen, declared = Seen(), DESIRED
    job = asyncio.create_task(InterfaceStates(lambda: declared, seen).run())

    def p0() -> dict[str, Any]:
        return seen.states.get("p0", {})

    def has(address: str) -> bool:
        return address in {f"{a['ip']}/{a['prefix-length']}" for a in p0().get("address", ())}

    await wait_until_async(
        lambda: p0().get("oper-status") == "up" and has("10.9.0.1/24"), "p0 is up"
    )
    assert p0()["mtu"] == 1400
    assert p0()["if-index"] > 0
    assert len(p0()["phys-address"].split(":")) == 6
    assert seen.states["absent"] == {"oper-status": "not-present"}
    run("ip link set far down")
    await wait_until_async(
        lambda: p0()["oper-status"] in ("lower-layer-down", "down"), "far is down"
    )
    run("ip addr add fc00:8::1/64 dev p0; ip addr del 10.9.0.1/24 dev p0")
    await wait_until_async(
        lambda: has("fc00:8::1/64") and not has("10.9.0.1/24"), "another address"
    )
    run("ip link del p0")
    await wait_until_async(lambda: p0() == {"oper-status": "not-present"}, "p0 is gone")
    declared = replace(declared, interfaces={"lo": Interface("lo")})
    await wait_until_async(lambda: set(seen.states) == {"lo"}, "lo")
    declared = Desired()
    await wait_until_async(lambda: seen.staged == {}, "nothing")
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
