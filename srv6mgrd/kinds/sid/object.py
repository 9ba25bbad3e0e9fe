"""A local SID. Pure."""

from __future__ import annotations

import errno
import shlex
import sys
from dataclasses import field
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import ClassVar

from srv6mgrd.kinds.route import SID_METRIC, Place, Route
from srv6mgrd.model import names
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.record import record
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.model.status import Kind, ObjectRef

# What follows a lookup table or next hop in iproute2, by behavior.
_NEXT_HOPS = {Behavior.END_X: "nh6", Behavior.END_DX6: "nh6", Behavior.END_DX4: "nh4"}


@record
class SidRoute(Route):
    """A seg6local route in our table (net/ipv6/seg6_local.c).

    ``vrf_table`` for End.DT* bound to a VRF, ``lookup_table`` for End.T and End.DT6 without one;
    ``interface`` is SEG6_LOCAL_OIF; ``segments`` those of End.B6.Encaps, the first one first;
    ``csid_lengths`` are block and node-function bits of NEXT-C-SID (SEG6_LOCAL_FLV_LCBLOCK_BITS,
    _LCNODE_FN_BITS). On the always-up ``device``: never `lo` (such SIDs are silently dead), never
    one that may go down (its routes vanish with it).
    """

    rank: ClassVar[int] = 50
    needs_mark: ClassVar[bool] = True
    prefix: IPv6Network
    action: Behavior
    table: int
    vrf_table: int | None = None
    device: str = SID_DEVICE
    metric: int = SID_METRIC
    counters: bool = True
    lookup_table: int | None = None
    next_hop: IPv4Address | IPv6Address | None = None
    interface: str | None = None
    segments: tuple[IPv6Address, ...] = ()
    bpf_program: str | None = None
    flavors: frozenset[Flavor] = frozenset()
    csid_lengths: tuple[int, int] | None = None
    _key: str = field(default="", init=False, repr=False, compare=False)

    @property
    def key(self) -> str:
        # Asked for a dozen times in a commit; one text for all who hold it, by the 100,000.
        if not self._key:
            key = sys.intern(f"route6 table {self.table} {self.prefix}")
            object.__setattr__(self, "_key", key)
        return self._key

    @property
    def label(self) -> str:
        return names.sid(self.prefix)

    @property
    def short_label(self) -> str:
        return "SID route"

    @property
    def declared(self) -> ObjectRef:
        return ObjectRef(Kind.SID, str(self.prefix))

    @property
    def in_front(self) -> str:
        """The same where it takes packets of ours."""
        return f"route {self.prefix} metric {self.metric}: {self.action}"

    @property
    def place(self) -> Place:
        return self.table, self.metric, self.prefix

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return () if self.interface is None else (self.interface,)

    @property
    def options(self) -> str:
        return f" encap seg6local {self._action()} dev {self.device}"

    def _action(self) -> str:
        words = [f"action {self.action}"]
        if self.next_hop is not None:
            words.append(f"{_NEXT_HOPS.get(self.action, 'nh6')} {self.next_hop}")
        if self.vrf_table is not None:
            words.append(f"vrftable {self.vrf_table}")
        if self.lookup_table is not None:
            words.append(f"table {self.lookup_table}")
        if self.interface is not None:
            words.append(f"oif {self.interface}")
        if self.segments:
            words.append(f"srh segs {','.join(map(str, self.segments))}")
        if self.bpf_program is not None:
            words.append(f"endpoint pinned {shlex.quote(self.bpf_program)}")
        if self.flavors:
            words.append("flavors " + ",".join(sorted(self.flavors)))
        if self.csid_lengths is not None and Flavor.NEXT_CSID in self.flavors:
            words.append("lblen {} nflen {}".format(*self.csid_lengths))
        if self.counters:
            words.append("count")
        return " ".join(words)

    def remedy(self, code: int) -> str:
        if code in (errno.EPERM, errno.EACCES):
            # Of what it names (a BPF program), not of srv6mgrd's rights.
            return "see the kernel's words, correct the configuration and try again"
        return Route.remedy(self, code)
