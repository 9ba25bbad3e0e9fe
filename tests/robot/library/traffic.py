"""Traffic between customers: counted pings and flows whose loss is measured."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

from robot.api.deco import library

from lab.guest.nodes import Node
from lab.waiting import wait_until
from srv6mgrd.counters.store_reader import StoreReader
from tests.robot.library import gnmi, kernel
from tests.robot.library.flow import Tally
from tests.robot.library.kernel import Counted
from tests.robot.library.network import node

INTERVAL = 0.02
# (node, SID) -> what was counted
Totals = dict[tuple[str, str], Counted]


def received(shown: str) -> int:
    """Replies that ``ping -q`` reports."""
    found = re.search(r"(\d+) received", shown)
    return int(found[1]) if found else 0


def counters(name: str, prefix: str) -> Counted:
    """Counters of a SID over gNMI."""
    found = gnmi.state(name, f"local-sids/sid[prefix={prefix}]").get("counters", {})
    return Counted(*(int(found.get(leaf, 0)) for leaf in ("in-pkts", "in-octets", "in-errors")))


@library(scope="GLOBAL", auto_keywords=True)
class Traffic:
    """Pings and flows, and what the SIDs on their way count."""

    def __init__(self) -> None:
        self._flows: dict[str, subprocess.Popen[Any]] = {}
        self._before: Totals = {}

    def ping(self, name: str, address: str, count: int = 10) -> int:
        """Send echo requests from a node; the number of replies."""
        command = ["ping", "-q", f"-c{count}", f"-i{INTERVAL}", "-W1", address]
        return received(node(name).run(command, check=False).stdout)

    def all_pings_arrive(self, name: str, address: str, count: int = 10) -> None:
        """Each echo request from a node has its reply."""
        replies = self.ping(name, address, count)
        assert replies == count, f"{name}: {replies} of {count} replies from {address}"

    def wait_for_traffic(self, name: str, address: str, timeout: float = 90) -> None:
        """Wait until ten echo requests in a row have their replies."""
        what = f"{name}: traffic to {address}"
        wait_until(
            lambda: self.ping(name, address) == 10, what, timeout,
            seen=lambda: f"{self.ping(name, address)} of 10 replies",
        )  # fmt: skip

    def no_ping_arrives(self, name: str, address: str) -> None:
        """Not one of three echo requests has a reply."""
        replies = self.ping(name, address, 3)
        assert not replies, f"{name}: {replies} replies from {address}"

    def echoes_received_by(self, name: str) -> str:
        """Echo requests that a node has got, of both families, as the kernel counts them."""
        return node(name).run(["nstat", "-asz", "IcmpInEchos", "Icmp6InEchos"]).stdout

    def begin_flow(self, name: str, address: str) -> None:
        """Begin a continuous flow of echo requests; packets pass on return."""
        child = node(name).popen(
            ["python3", "-S", "/src/tests/robot/library/flow.py", address, str(INTERVAL)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._flows[f"{name} {address}"] = child
        assert child.stdout is not None
        if child.stdout.readline() != "flowing\n":
            raise AssertionError(f"{name}: no packet reaches {address}")

    def end_flow(self, name: str, address: str) -> Tally:
        """End a flow: ``sent``, ``lost``, ``duplicates``, and ``blocked`` seconds."""
        child = self._flows.pop(f"{name} {address}")
        out, _ = child.communicate()
        return Tally(**json.loads(out))

    def end_all_flows(self) -> None:
        """End the flows that a failed test has left."""
        while self._flows:
            _, child = self._flows.popitem()
            child.communicate()

    def no_packet_was_lost(self, name: str, address: str) -> Tally:
        """End a flow that has to have lost nothing."""
        tally = self.end_flow(name, address)
        if tally.lost or tally.duplicates:
            raise AssertionError(f"{name} to {address}: {tally}")
        return tally

    def note_counters(self, *sids: str) -> None:
        """Remember what SIDs have counted until now; each is ``NODE PREFIX``."""
        for name in {sid.split()[0] for sid in sids}:
            sampled(name)
        self._before = {(n, p): counters(n, p) for n, p in map(str.split, sids)}

    def counted_since(self, sid: str, packets: int, errors: int = 0) -> None:
        """A SID has counted exactly that many packets and errors since then, over gNMI."""
        name, prefix = sid.split()
        before = self._before[name, prefix]

        sampled(name)
        now = counters(name, prefix) - before
        assert (now.packets, now.errors) == (packets, errors), f"{sid}: {now}"

    def counters_of(self, name: str, prefix: str) -> Counted:
        """Counters of a SID over gNMI."""
        return counters(name, prefix)

    def counters_equal_the_kernels(self, name: str, prefix: str) -> None:
        """gNMI reports what the kernel counts, for a SID that has not been replaced."""

        def same() -> bool:
            return counters(name, prefix) == kernel.counted(kernel.sid_routes(name)[prefix])

        wait_until(same, f"{name}: counters of {prefix} as in the kernel", 3, 0.05)


def sampled(name: str) -> None:
    """Wait for a sample that began after now: the next one may be under way already."""
    store = StoreReader(Node(name).path("/run/srv6mgr/store"))
    first = store.sample[0]
    what = f"{name}: two samples of the counters"
    # They are further apart where nothing counts.
    wait_until(lambda: store.sample[0] >= first + 2, what, 60)
    store.close()
