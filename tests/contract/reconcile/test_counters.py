"""What SIDs count, errors too, goes on over replacement by hand and by commit, the loss of their
device and a restart; it never goes back."""

from __future__ import annotations

import copy
import socket
import struct
from typing import Any

import pytest

from srv6mgrd.model.status import ObjectRef, SidCounters
from tests.contract.kernel.test_forwarding import IPV4, IPV6, ROUTING, ipv4, ipv6, srh
from tests.contract.reconcile.router import DT4, DT46, END, Router

pytestmark = pytest.mark.contract

SOURCE = "fc00:7::1"
# Into VRF red, to an address of the router's own.
INNER6 = ipv6("fc00:8::1", "fc00:9::1", 17, struct.pack("!HHHH", 1, 2, 8, 0xFFFF))
INNER4 = ipv4("198.51.100.1", "198.51.100.129", struct.pack("!HHHH", 1, 2, 8, 0))


def to(ref: ObjectRef, following: int, payload: bytes) -> bytes:
    return ipv6(SOURCE, ref.name.partition("/")[0], following, payload)


GOOD = (DT46, to(DT46, IPV6, INNER6))
NO_SRH = (END, to(END, IPV6, INNER6))
NO_SEGMENT_LEFT = (END, to(END, ROUTING, srh(IPV6, 0, "fcbb:0:1:1::") + INNER6))
IPV6_FOR_DT4 = (DT4, to(DT4, IPV6, INNER6))
GOOD4 = (DT4, to(DT4, IPV4, INNER4))


class Counts:
    """Sends packets, and what the store must say of them."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._expected = {ref: [0, 0] for ref in (END, DT4, DT46)}
        self._last: dict[ObjectRef, SidCounters] = {}
        router.run(
            "ip link add wire0 type veth peer name wire1; ip link set wire0 up;"
            "ip link set wire1 up; ip addr add 198.51.100.129/24 dev eth2;"
            "ip -6 addr add fc00:9::1/64 dev eth2 nodad"
        )
        # Tunnels come in from the core alone.
        changed = copy.deepcopy(router.configuration)
        interfaces = changed["srv6mgr-srv6:srv6"].setdefault("interfaces", {})
        interfaces.setdefault("interface", []).append({"name": "wire0", "role": "core"})
        commit(router, changed)

    async def send(self, what: tuple[ObjectRef, bytes], count: int, *, error: bool = False) -> None:
        """All are counted, and nothing else is."""
        ref, packet = what
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as probe:
            probe.bind(("wire0", 0))
            mac: bytes = probe.getsockname()[4]
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
            wire.bind(("wire1", 0))
            for _ in range(count):
                wire.send(mac + bytes(6) + b"\x86\xdd" + packet)
        self._expected[ref][error] += count
        await self._router.wait_until(self._all_counted, f"{count} counted for {ref.name}")

    def _all_counted(self) -> bool:
        self._router.manager.sampling.sample()
        self.never_back()
        return all(
            [self._last[ref].packets, self._last[ref].errors] == expected
            for ref, expected in self._expected.items()
        )

    def never_back(self) -> None:
        for ref in self._expected:
            now, last = self._router.counters(ref), self._last.get(ref, SidCounters())
            assert now.packets >= last.packets
            assert now.octets >= last.octets
            assert now.errors >= last.errors
            # What was counted before stays true.
            assert last.discontinuity in (0, now.discontinuity)
            self._last[ref] = now


def commit(router: Router, configuration: dict[str, Any]) -> None:
    router.manager.commits.change(configuration)
    router.configuration = configuration
    router.manager.commits.stored()


async def all_of_them(counts: Counts) -> None:
    await counts.send(GOOD, 5)
    await counts.send(GOOD4, 2)
    await counts.send(NO_SRH, 3, error=True)
    await counts.send(NO_SEGMENT_LEFT, 2, error=True)
    await counts.send(IPV6_FOR_DT4, 4, error=True)


async def test_errors_are_counted_over_everything(router: Router) -> None:
    counts = Counts(router)
    await all_of_them(counts)

    # By hand: the kernel counts from 0 again.
    router.run(
        "ip -6 route replace fcbb:0:1:1::/64 table 8986 metric 1024"
        " encap seg6local action End count dev srv6mgr"
    )
    await router.wait_until(lambda: router.repairs(END) == 1, "repaired")
    await all_of_them(counts)

    # By a commit.
    changed = copy.deepcopy(router.configuration)
    changed["srv6mgr-srv6:srv6"]["local-sids"]["sid"][0]["flavor"] = ["psp"]
    commit(router, changed)
    counts.never_back()
    await all_of_them(counts)

    # The routes go with their device.
    router.run("ip link set srv6mgr down; ip link set srv6mgr up")
    await router.wait_until(lambda: router.repairs(DT46) == 1, "repaired")
    await all_of_them(counts)

    # A new process.
    router.close()
    router.start()
    router.watch()
    counts.never_back()
    assert router.kernel.writes == 0
    await all_of_them(counts)
