"""A node with a function behind it, in network namespaces on this host:

    eth0 --> node --> eth1 (packets are counted and end)
              |
           function

Packets are injected as if they came in on ``eth0``; neighbors are permanent.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager
from ipaddress import IPv6Address, IPv6Network, ip_address

from bench import namespaces
from srv6mgrd.ebpf import libbpf
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_DEVICE
from srv6mgrd.model.desired import Desired, Locator, Proxy, Role, SegmentList, Sid
from srv6mgrd.model.reserved import LINK_ALIAS
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.diff import plan
from srv6mgrd.plan.target import target

LOCATOR = IPv6Network("fcbb:0:1::/48")
LAST = "fcbb:0:9::"
IN_MAC, OUT_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
NEXT_HOPS = {"ipv6": "2001:db8:9::2", "ipv4": "10.9.0.2"}
_FUNCTION_MAC, _OWN_MAC = "02:00:00:00:09:02", "02:00:00:00:09:01"


def prefix(number: int) -> IPv6Network:
    return IPv6Network((int(LOCATOR.network_address) + (number << 64), 64))


def link(number: int) -> str:
    """The interface towards the function of a proxy; number 1 has packets."""
    return f"fn{number}"


class Node:
    """One node with its function. ``counter`` is the program at which packets end."""

    def __init__(self, name: str, counter: int) -> None:
        self.name = f"bench-{name}-{os.getpid()}"
        self.function = f"{self.name}-fn"
        self._far = f"{self.name}-far"
        for space in (self.name, self.function, self._far):
            namespaces.create(space)
        for port in ("eth0", "eth1"):
            far = f"{port} netns {self._far} address {OUT_MAC}"
            self.on(self.name, f"ip link add {port} address {IN_MAC} type veth peer name {far}")
            self.on(self.name, f"ip link set {port} up")
            self.on(self._far, f"ip link set {port} up")
        self.on(self.name, "ip addr add 2001:db8:b::1/64 dev eth1 nodad")
        self.on(self.name, f"ip -6 neigh add 2001:db8:b::2 lladdr {OUT_MAC} dev eth1 nud permanent")
        self.on(self.name, "ip -6 route add fcbb:0:9::/48 via 2001:db8:b::2")
        self._connect()
        self._counter = counter
        self._counting: int | None = None
        self.count_last()

    def count_last(self) -> None:
        """Have packets end behind the programs that are there by now."""
        if self._counting is not None:
            os.close(self._counting)
        with self.entered():
            made = libbpf.link(self._counter, socket.if_nametoindex("eth1"), libbpf.EGRESS)
        if isinstance(made, Failure):
            raise RuntimeError(made.message)
        self._counting = made

    def _connect(self) -> None:
        """The function's link."""
        self.links([1])
        for family, near, far in (
            ("-6", "2001:db8:9::1", "2001:db8:9::2"),
            ("-4", "10.9.0.1", "10.9.0.2"),
        ):
            length = 64 if family == "-6" else 24
            for space, port, own, other, mac in (
                (self.name, link(1), near, far, _FUNCTION_MAC),
                (self.function, link(1), far, near, _OWN_MAC),
            ):
                self.on(space, f"ip {family} addr add {own}/{length} dev {port}")
                permanent = f"lladdr {mac} dev {port} nud permanent"
                self.on(space, f"ip {family} neigh replace {other} {permanent}")
            self.on(self.function, f"ip {family} route add default via {near}")

    def links(self, numbers: Sequence[int]) -> None:
        """Veths to the function."""
        lines = []
        for n in numbers:
            first = n == 1
            own = f"address {_OWN_MAC} " if first else ""
            far = f" address {_FUNCTION_MAC}" if first else ""
            lines.append(
                f"link add {link(n)} {own}type veth peer name {link(n)} netns {self.function}{far}"
            )
            lines.append(f"link set {link(n)} up")
        self._batch(self.name, lines)
        self._batch(self.function, [f"link set {link(n)} up" for n in numbers])

    def end_in_function(self) -> None:
        """The baseline: the function itself knows SRv6, this node forwards."""
        self.on(self.name, f"ip -6 route add {prefix(1)} via {NEXT_HOPS['ipv6']}")
        self.on(self.function, f"ip -6 route add {prefix(1)} encap seg6local action End"
                               f" dev {link(1)}")  # fmt: skip

    def end_by_rules(self, count: int) -> None:
        """The paper's first design: a rule for each function puts the chain on again. The one with
        packets is the last; the others' links need not be there for their rules to be passed."""
        self.on(self.name, f"ip -6 route add {prefix(1)} encap seg6local action End.DX6"
                           f" nh6 {NEXT_HOPS['ipv6']} dev eth0")  # fmt: skip
        self.on(self.name, "ip -6 route add default table 20001 encap seg6 mode encap"
                           f" segs {LAST} dev eth1")  # fmt: skip
        # What the route made is looked up by the same rule.
        self.on(self.name, "ip -6 route add fcbb:0:9::/48 via 2001:db8:b::2 dev eth1 table 20001")
        others = [f"rule add priority {n} iif {link(n)} table {20000 + n}"
                  for n in range(2, count + 1)]  # fmt: skip
        last = f"rule add priority {count + 1} iif {link(1)} table 20001"
        self._batch(self.name, [*others, last])

    def first_design(self, count: int, *, present: bool) -> None:
        """What SRNKv1 has for each function (appendix A): a tunnel in My Local SID Table, a rule,
        and a table with a default route, which is a tunnel too."""
        verb = "add" if present else "del"
        lines = []
        for n in range(1, count + 1):
            lines += [
                f"route {verb} {prefix(n)} encap seg6local action End.DX6 nh6 {_unused(n)}"
                f" dev {link(n)}",
                f"rule {verb} priority {n} iif {link(n)} table {20000 + n}",
                f"route {verb} default table {20000 + n} encap seg6 mode encap segs {LAST}"
                " dev eth1",
            ]
        self._batch(self.name, lines)

    def unmatched_rules(self, count: int) -> None:
        """Rules by interface that no packet matches."""
        lines = [f"rule add priority {n} iif none{n} table {20000 + n}"
                 for n in range(2, count + 2)]  # fmt: skip
        self._batch(self.name, lines)

    def close(self) -> None:
        if self._counting is not None:
            os.close(self._counting)
        for space in (self.name, self.function, self._far):
            namespaces.delete(space)

    def on(self, space: str, command: str) -> str:
        return namespaces.on(space, command)

    def _batch(self, space: str, lines: Sequence[str]) -> None:
        text = "\n".join(lines) + "\n"
        command = ["ip", "-6", "-n", space, "-batch", "-"]
        subprocess.run(command, input=text, check=True, text=True, capture_output=True)

    def entered(self) -> AbstractContextManager[None]:
        """This thread in the node's namespace."""
        return namespaces.entered(self.name)


def declared(
    behavior: Behavior,
    inner: str = "ipv6",
    age: int = 0,
    numbers: Sequence[int] = (1,),
    per_flow: bool = False,
) -> Desired:
    """Proxies of one kind, each with an interface of its own."""
    static = behavior is Behavior.END_AS
    sids = {}
    for n in numbers:
        proxy = Proxy(
            inner_type=inner,
            interface=link(n),
            return_interface=link(n),
            next_hop=ip_address(NEXT_HOPS[inner]) if n == 1 else _unused(n),
            segment_list="on" if static else None,
            source=IPv6Address("2001:db8:5::5") if static else None,
            age=age if behavior is Behavior.END_AD else None,
            per_flow=per_flow,
        )
        sids[prefix(n)] = Sid(prefix(n), "MAIN", behavior, proxy=proxy)
    return Desired(
        locators={"MAIN": Locator("MAIN", LOCATOR)},
        segment_lists={"on": SegmentList("on", (IPv6Address(LAST),))},
        sids=sids,
        # The filter at the boundary is not what is measured.
        default_role=Role.CORE,
    )


def _unused(number: int) -> IPv6Address:
    return IPv6Address(f"fe80::{number:x}")


class Installed:
    """A kernel that is brought to what is declared, as srv6mgrd does it."""

    def __init__(self, kernel: LinuxKernel, run: Node) -> None:
        self.kernel = kernel
        self.folder = kernel._proxies._programs.folder
        # Where the kernel has no dummy device, a veth takes its place.
        run.on(run.name, f"ip link add {SID_DEVICE} type veth peer name sids")
        run.on(run.name, f"ip link set {SID_DEVICE} alias {LINK_ALIAS} up")

    def declare(self, desired: Desired) -> int:
        """How many objects were written."""
        links = self.kernel.links()
        wanted = target(desired, links).objects
        wanted = {k: obj for k, obj in wanted.items() if not isinstance(obj, DummyDevice)}
        sysctls = [obj.path for obj in wanted.values() if isinstance(obj, Sysctl)]
        seen = dict(self.kernel.observe(sysctls).objects)
        seen.pop(f"link {SID_DEVICE}", None)
        actions = plan(wanted, seen, set(seen), ()).actions
        if rejected := self.kernel.apply(actions):
            raise RuntimeError(f"{rejected[0].action.object.key}: {rejected[0].message}")
        return len(actions)
