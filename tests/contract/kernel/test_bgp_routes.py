"""Removed host routes of BGP, as the kernel reports them; nothing else is."""

from __future__ import annotations

import asyncio
from ipaddress import IPv6Address

import pytest

from srv6mgrd.kernel.bgp_routes import BgpHostRoutes
from tests.contract.kernel.conftest import Run

pytestmark = pytest.mark.contract


def test_removed_host_routes_of_bgp(run: Run) -> None:
    run("ip link add eth1 type veth peer name eth2; ip link set eth1 up; ip link set eth2 up")
    routes = BgpHostRoutes()

    async def first() -> list[IPv6Address]:
        # Others have a turn, although it is there already.
        asyncio.get_running_loop().call_soon(turns.append, 1)
        async with asyncio.timeout(5):
            return await anext(routes)

    turns: list[int] = []

    try:
        run("ip -6 route add 2001:db8:1::/64 dev eth1 proto bgp")
        run("ip -6 route del 2001:db8:1::/64 dev eth1 proto bgp")
        run("ip -6 route add 2001:db8::1/128 dev eth1 proto static")
        run("ip -6 route del 2001:db8::1/128 dev eth1 proto static")
        run("ip -6 route add 2001:db8::2/128 dev eth1 proto bgp table 77")
        run("ip -6 route del 2001:db8::2/128 dev eth1 proto bgp table 77")
        assert asyncio.run(first()) == [IPv6Address("2001:db8::2")]
        assert turns == [1]
    finally:
        routes.close()
