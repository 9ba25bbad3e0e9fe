"""The world of the property tests on a real kernel: others change it with iproute2."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv6Network
from pathlib import Path

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.route import Family
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sid.notices import SidNotices
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.plan.actions import Action, Create, Delete
from srv6mgrd.plan.observed import Links, Observed, ObservedObject
from srv6mgrd.ports import RejectedAction
from tests.fakes.fate import Fate

_OURS, _THEIRS = "protocol 86", "protocol 99"
_MARK = " alias srv6mgr"
# What somebody may switch off.
_SWITCHES = ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding", "net/vrf/strict_mode")
_PROC_SYS = Path("/proc/sys")


class Sysctls(Mapping[str, str]):
    """The values under /proc/sys; those in the list are switches."""

    def __getitem__(self, path: str) -> str:
        return (_PROC_SYS / path).read_text().strip()

    def __iter__(self) -> Iterator[str]:
        return iter(_SWITCHES)

    def __len__(self) -> int:
        return len(_SWITCHES)


class RealKernel:
    """``ports.Kernel`` on the kernel of this network namespace, with what a FakeKernel has for
    those who script it."""

    def __init__(self, _: Fate, interfaces: Mapping[str, int]) -> None:
        for name, index in interfaces.items():
            self.add_interface(name, index)
        # As srv6mgrd has it; others look for themselves.
        self._linux, self._others = LinuxKernel(notices=SidNotices()), LinuxKernel()
        self._rejected: Callable[[Action], bool] = lambda _: False
        self.sysctls = Sysctls()

    def close(self) -> None:
        self._linux.close()
        self._others.close()

    # What is installed.

    @property
    def objects(self) -> dict[str, ObservedObject]:
        """Things, not values of links and of the node. Addresses that are not ours the kernel makes
        itself."""
        seen = self._others.observe([]).objects
        return {
            key: item
            for key, item in seen.items()
            if not item.object.is_kept
            and (item.ours or not isinstance(item.object, InterfaceAddress))
        }

    @property
    def mtus(self) -> dict[str, int]:
        found = (item.object for item in self._others.observe([]).objects.values())
        return {obj.interface: obj.mtu for obj in found if isinstance(obj, LinkMtu)}

    @property
    def l3mdev_rules(self) -> set[Family]:
        found = (item.object for item in self._others.observe([]).objects.values())
        return {obj.family for obj in found if isinstance(obj, L3mdevRule)}

    @property
    def down(self) -> frozenset[str]:
        return self._others.links().down

    @property
    def interfaces(self) -> dict[str, int]:
        return dict(self._others.links().indexes)

    def forwards(self, sid: SidRoute) -> bool:
        """Packets are sent elsewhere (kernel/test_traffic)."""
        return self.objects[sid.key].ours

    # What others do.

    def reject(self, predicate: Callable[[Action], bool]) -> None:
        self._rejected = predicate

    def accept_all(self) -> None:
        self._rejected = lambda _: False

    def add_foreign(self, obj: Object) -> None:
        self.put(obj, ours=False)

    def put(self, obj: Object, *, ours: bool = True) -> None:
        if isinstance(obj, Sysctl):
            (_PROC_SYS / obj.path).write_text(obj.value)
            return
        seen = self.objects.get(obj.key)
        if isinstance(obj, VrfDevice) and seen is not None and not obj.up:
            _ip(f"ip link set {obj.name} down alias {'srv6mgr' if ours else shlex.quote('')}")
            return
        if seen is not None:
            self.remove(obj.key)
        words = Create(obj).command
        _ip(words if ours else words.replace(_OURS, _THEIRS).replace(_MARK, ""))

    def remove(self, key: str) -> None:
        seen = self.objects[key]
        obj = seen.object
        if isinstance(obj, UnknownRule):
            # One that its selectors, source and table make up.
            source = obj.source.network_address if obj.source is not None else None
            obj = Rule(obj.priority, obj.to, obj.table, source)
        words = Delete(obj).command
        _ip(words if seen.ours else words.replace(_OURS, _THEIRS))

    def add_interface(self, name: str, _: int) -> None:
        _ip(f"ip link add {name} type dummy && ip link set {name} up")

    def remove_interface(self, name: str) -> None:
        _ip(f"ip link del {name}")

    # ports.Kernel.

    @property
    def writes(self) -> int:
        return self._linux.writes

    def force_full_resync(self) -> None:
        self._linux.force_full_resync()

    def links(self) -> Links:
        return self._linux.links()

    def observe(self, sysctls: Iterable[str]) -> Observed:
        return self._linux.observe(sysctls)

    def sid_counters(self) -> Mapping[IPv6Network, tuple[int, int, int]]:
        return self._linux.sid_counters()

    def apply(self, actions: Sequence[Action]) -> list[RejectedAction]:
        rejected = []
        for action in actions:
            if self._rejected(action):
                rejected.append(RejectedAction(action, errno.ENOMEM, os.strerror(errno.ENOMEM)))
            else:
                rejected += self._linux.apply([action])
        return rejected


def _ip(commands: str) -> None:
    done = subprocess.run(commands, shell=True, check=False, capture_output=True, text=True)
    assert not done.returncode, f"{commands}: {done.stderr}"
