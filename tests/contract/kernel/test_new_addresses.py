"""Interfaces that get an IPv6 address, as the kernel reports them."""

from __future__ import annotations

import asyncio

import pytest

from srv6mgrd.kernel.new_addresses import NewAddresses
from tests.contract.kernel.conftest import Run

pytestmark = pytest.mark.contract


def test_interfaces_with_new_addresses(run: Run) -> None:
    run("ip link add eth1 type veth peer name eth2")
    run("ip addr add 2001:db8::9/128 dev eth1 nodad")
    addresses = NewAddresses()

    async def first() -> set[str]:
        async with asyncio.timeout(5):
            return await anext(addresses)

    try:
        # Neither link-local addresses, nor IPv4, nor one that goes.
        run("ip link set eth1 up; ip link set eth2 up")
        run("ip addr add 192.0.2.1/32 dev lo; ip addr del 2001:db8::9/128 dev eth1")
        run("ip addr add 2001:db8::1/128 dev eth2 nodad")
        run("ip addr add 2001:db8::2/128 dev lo")
        # What came meanwhile is one look for who follows.
        assert asyncio.run(first()) == {"eth2", "lo"}
    finally:
        addresses.close()
