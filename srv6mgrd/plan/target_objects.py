"""The objects that declarations need, and what several kinds of them have in common. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.observed import ObservedObject

# After the l3mdev rule (1000): packets of a VRF meet their own table first and end at its
# unreachable default, so that customers can't reach SIDs (RFC 8754 section 5.1).
SID_RULE_PRIORITY = 2000

# Before the l3mdev rule: the kernel looks up the outer header of what a VRF encapsulates as if it
# had come in on the VRF (seg6_input_core), where the unreachable default would end it. For routes
# that don't name the table of that lookup.
UNDERLAY_RULE_PRIORITY = 990

# Before that one: what goes to a SID of this router is not the main table's to route, be it by a
# default route or by zebra's copy of the SID.
LOCAL_RULE_PRIORITY = 989

# Pinned ifindexes lie far above those that the kernel hands out one by one
# (net/core/dev.c, dev_index_reserve).
_VRF_IFINDEX_BASE = 1 << 28

FORWARD_IPV4 = Sysctl("net/ipv4/ip_forward", "1")
FORWARD_IPV6 = Sysctl("net/ipv6/conf/all/forwarding", "1")


@dataclass(slots=True)
class Target:
    """``objects`` by key; ``serves`` says which declared objects each of them is for that does not
    name itself (``refs``), SIDs by their prefixes alone where all of them need it; ``pending``
    holds what can't be put in place yet, with the reason. With ``borrowed`` VRFs are another's:
    they are waited for, never made, changed or removed. With ``vrf_rules``, rules take what VRFs
    encapsulate out of them. ``differs`` are the keys in which it differs from the one that it was
    made of (``with_sids``)."""

    objects: dict[str, Object] = field(default_factory=dict)
    serves: dict[str, list[ObjectRef | IPv6Network]] = field(default_factory=dict)
    pending: dict[ObjectRef, str] = field(default_factory=dict)
    borrowed: bool = False
    vrf_rules: bool = False
    differs: frozenset[str] = frozenset()

    def need(self, obj: Object, *refs: ObjectRef) -> None:
        self.put(obj.key, obj, *refs)

    def put(self, key: str, obj: Object, *refs: ObjectRef | IPv6Network) -> None:
        """``need`` with the key at hand."""
        self.objects[key] = obj
        # A declared object is done before the next one, so it is the last one if it is there;
        # the SID device serves all SIDs, and a search among them would be quadratic.
        serves = self.serves.setdefault(key, [])
        for ref in refs:
            if not serves or serves[-1] != ref:
                serves.append(ref)

    def refs(self, key: str) -> Sequence[ObjectRef]:
        """The declared objects that the object of this key is for. One list for each of a hundred
        thousand SID routes would take 20 MiB."""
        if (found := self.serves.get(key)) is not None:
            return [
                one if isinstance(one, ObjectRef) else ObjectRef(Kind.SID, str(one))
                for one in found
            ]
        own = obj.declared if (obj := self.objects.get(key)) is not None else None
        return () if own is None else (own,)

    def meet(self, observed: Mapping[str, ObservedObject], some: Iterable[str] | None) -> None:
        """Have the observed objects where they are equal, so that next time ``is`` suffices: to
        compare a hundred thousand objects by value takes several times as long. ``some`` are the
        keys to look at, if not all."""
        for key in self.objects if some is None else some:
            obj, seen = self.objects.get(key), observed.get(key)
            if obj is not None and obj.is_stacked:
                continue  # its order is not observed
            if seen is not None and seen.object is not obj and seen.object == obj:
                self.objects[key] = seen.object


def not_borrowed(name: str) -> str:
    return f"VRF {name} does not exist yet; on SONiC vrfmgrd makes it (CONFIG_DB VRF|{name})"


def segments_of(desired: Desired, name: str | None) -> tuple[IPv6Address, ...]:
    return desired.segment_lists[name].segments if name is not None else ()


def vrf_ifindex(table: int) -> int:
    """Pinned ifindex of the VRF on this table. One VRF per table, so one index per VRF; tables
    that differ only above bit 27 would collide, and the kernel would reject the second."""
    return _VRF_IFINDEX_BASE | (table & (_VRF_IFINDEX_BASE - 1))
