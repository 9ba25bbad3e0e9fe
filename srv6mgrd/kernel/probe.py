"""What the kernel offers, found out by trying: each thing is installed and read back.

Versions say little: features are configured out, backported, or accepted and ignored. All is tried
in a network namespace of its own, which ends with the thread that it was made for.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from srv6mgrd.kernel import facilities
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.sid import requests
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.capabilities import ROUTE_LOOKUP_TABLE, Capabilities
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.netlink import links, routes
from srv6mgrd.netlink.errors import Failure, KernelError
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Create

_IGNORED = "the kernel ignores it"
_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)
# The substitute where the kernel has no dummy device: no packet will come.
_LOOPBACK, _LOOPBACK_INDEX = "lo", 1

_VRF = VrfDevice("probe", 100, 1000)
_STRICT_MODE = Sysctl("net/vrf/strict_mode", "1")
_NET = int(IPv6Address("fc00::"))
_SEGMENTS = (IPv6Address("fc00:1::"), IPv6Address("fc00:2::"))
_PLAIN = SidRoute(IPv6Network(_NET), Behavior.END, SID_TABLE, counters=False)
_CROSS_CONNECT = replace(_PLAIN, next_hop=_SEGMENTS[0])
_OF_VRF = replace(_PLAIN, vrf_table=_VRF.table)
_LOOK_UP = replace(_PLAIN, lookup_table=254)
_SIDS = {
    Behavior.END: _PLAIN,
    Behavior.END_X: _CROSS_CONNECT,
    Behavior.END_T: _LOOK_UP,
    Behavior.END_DX2: replace(_PLAIN, interface=_LOOPBACK),
    Behavior.END_DX6: _CROSS_CONNECT,
    Behavior.END_DX4: replace(_PLAIN, next_hop=IPv4Address("192.0.2.1")),
    # Without a VRF; with one it is as the others.
    Behavior.END_DT6: _LOOK_UP,
    Behavior.END_DT4: _OF_VRF,
    Behavior.END_DT46: _OF_VRF,
    Behavior.END_B6_ENCAPS: replace(_PLAIN, segments=_SEGMENTS),
    Behavior.END_BPF: replace(_PLAIN, bpf_program="probe"),
}
_FLAVORED = (Behavior.END, Behavior.END_X, Behavior.END_T)
_CSID_LENGTHS = (32, 16)


def probe() -> Capabilities:
    """Try out everything. The caller's namespace is not touched, and nothing stays behind.

    Raises KernelError when no namespace can be made.
    """
    found: list[Capabilities | Exception] = []

    def run() -> None:
        try:
            # Of this thread alone: network namespaces, unlike user namespaces, are per task.
            if _LIBC.unshare(_CLONE_NEWNET):
                message = os.strerror(ctypes.get_errno())
                raise KernelError("network namespace", message, "run with CAP_SYS_ADMIN")
            found.append(_Attempt().capabilities())
        except Exception as error:  # Carried over to the caller's thread.
            found.append(error)

    thread = threading.Thread(target=run, name="probe")
    thread.start()
    thread.join()
    (result,) = found
    if isinstance(result, Exception):
        raise result
    return result


@dataclass(slots=True)
class _Attempt:
    """One go at everything; ``missing`` is filled on the way."""

    missing: dict[str, str] = field(default_factory=dict)
    _wanted: dict[str, Object] = field(default_factory=dict)

    def capabilities(self) -> Capabilities:
        kernel = LinuxKernel()
        netlink = NetlinkSocket()
        try:
            return self._try(kernel, netlink)
        finally:
            netlink.close()
            kernel.close()

    def _try(self, kernel: LinuxKernel, netlink: NetlinkSocket) -> Capabilities:
        netlink.write([links.set_up(_LOOPBACK_INDEX)])
        device = DummyDevice(SID_DEVICE)
        on = SID_DEVICE
        if self._noted("dummy", _rejection(kernel, [device])):
            on = _LOOPBACK
        if self._noted("vrf", reason := _rejection(kernel, [_VRF, _STRICT_MODE])):
            for behavior in (b for b, sid in _SIDS.items() if sid.vrf_table):
                self._noted(behavior, f"it needs a VRF: {reason}")
        self._want(on)
        rejected = {
            r.action.object.key: r.message
            for r in kernel.apply(
                [Create(o) for o in self._wanted.values() if not _runs_program(o)]
            )
        }
        rejected |= self._programs(netlink)
        seen = kernel.observe([]).objects
        for name, obj in self._wanted.items():
            item = seen.get(obj.key)
            ignored = _IGNORED if item is None or item.object != obj else ""
            self._noted(name, rejected.get(obj.key, ignored))
        self._noted("nftables", facilities.nftables())
        self._noted("bpf", facilities.proxy_programs())
        for behavior in Behavior:
            if behavior.is_proxy:
                self._noted(behavior, self.missing.get("bpf", ""))
        return self._found()

    def _noted(self, name: str, reason: str) -> bool:
        """Whether there is a reason why it is not offered. The first one stays."""
        if reason:
            self.missing.setdefault(name.removesuffix(_IPV4), reason)
        return bool(reason)

    def _want(self, device: str) -> None:
        """All that is tried, each at a place of its own, by the name of what it shows."""
        sids = {str(b): replace(sid, action=b) for b, sid in _SIDS.items()}
        sids["counters"] = replace(_PLAIN, counters=True)
        for behavior in _FLAVORED:
            for flavor in Flavor:
                sids[f"{behavior} {flavor}"] = replace(
                    _SIDS[behavior],
                    action=behavior,
                    flavors=frozenset({flavor}),
                    csid_lengths=_CSID_LENGTHS if flavor is Flavor.NEXT_CSID else None,
                )
        for number, (name, sid) in enumerate(sids.items(), 1):
            self._wanted[name] = replace(sid, prefix=IPv6Network(_NET + number), device=device)
        for number, headend in enumerate(Headend, 1):
            route = EncapRoute(IPv6Network(_NET + number), 254, headend, _SEGMENTS, device)
            self._wanted[headend] = route
            if headend is not Headend.H_INSERT:
                self._wanted[headend + _IPV4] = replace(route, prefix=IPv4Network(number << 8))
        plain = EncapRoute(IPv6Network(_NET), 254, Headend.H_ENCAPS, _SEGMENTS, device)
        self._wanted["route-source"] = replace(plain, source=_SEGMENTS[0])
        self._wanted[ROUTE_LOOKUP_TABLE] = replace(plain, metric=1, lookup_table=254)

    def _programs(self, netlink: NetlinkSocket) -> Mapping[str, str]:
        """Install what runs a BPF program, which need not be pinned for that."""
        rejected = {}
        for obj in self._wanted.values():
            if isinstance(obj, SidRoute) and _runs_program(obj):
                program = facilities.seg6local_program()
                if isinstance(program, Failure):
                    rejected[obj.key] = program.message
                    continue
                index = _index(netlink, obj.device)
                request = requests.put(obj, routes.CREATE, index, program=program)
                if failure := netlink.write([request]).get(0):
                    rejected[obj.key] = failure.message
                os.close(program)
        return rejected

    def _found(self) -> Capabilities:
        return Capabilities(
            behaviors=frozenset(b for b in Behavior if b not in self.missing),
            flavors=frozenset(
                (b, f) for b in _FLAVORED for f in Flavor if f"{b} {f}" not in self.missing
            ),
            headends=frozenset(h for h in Headend if h not in self.missing),
            facilities=frozenset(_FACILITIES - self.missing.keys()),
            missing=self.missing,
            kernel=os.uname().release,
            probed=time.time_ns(),
        )


# Names of Capabilities.facilities.
_FACILITIES = frozenset({"vrf", "counters", "route-source", ROUTE_LOOKUP_TABLE, "nftables", "bpf"})
# Behind the name of what is tried with IPv4 too.
_IPV4 = " IPv4"


def _runs_program(obj: Object) -> bool:
    return isinstance(obj, SidRoute) and obj.bpf_program is not None


def _rejection(kernel: LinuxKernel, objects: Iterable[Object]) -> str:
    """The kernel's words when it rejects one of these."""
    rejected = kernel.apply([Create(obj) for obj in objects])
    return rejected[0].message if rejected else ""


def _index(netlink: NetlinkSocket, device: str) -> int:
    answer = netlink.read(links.get(device))
    return 0 if isinstance(answer, Failure) else links.decode(answer).index
