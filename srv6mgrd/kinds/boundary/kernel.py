"""The filter at the boundary of the SRv6 domain, as an nftables table of ours.

It hangs in prerouting, before anything else is decided: a packet from a customer is seen there
with its interface and, once the VRF has taken it, again with the VRF device (vrf_ip6_rcv), as is
what an End.DT* decapsulates (end_dt_vrf_rcv). What the router encapsulates is not: it goes on from
seg6_input_core to the outer route. As nft shows it::

    table ip6 srv6mgr {
        set core { type ifname; }
        set sids { type ipv6_addr; flags interval; }
        set sources { type ipv6_addr; }
        chain boundary {
            type filter hook prerouting priority raw; policy accept;
            iifname != @core jump customer
        }
        chain customer {
            ip6 daddr @sids counter drop
            rt type 4 counter drop
            ip6 saddr @sources counter drop
        }
    }

While the default role is core, the set holds the customers instead: ``iifname @customers``.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.boundary.object import BOUNDARY_KEY, BOUNDARY_TABLE, Boundary, UnknownBoundary
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.kernel_kind import Decode, Host, KernelKind, not_ours_to_write
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.model.reserved import LINK_ALIAS
from srv6mgrd.netlink import nft
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject

# linux/netfilter_ipv6.h: NF_IP6_PRI_RAW, before connection tracking.
_PREROUTING_RAW = nft.Hook(0, -300)
# Offsets in struct ipv6hdr.
_SOURCE, _DESTINATION, _LENGTH = 8, 24, 16
# RFC 8754 section 2
_SRH = bytes([4])

_CHAINS: dict[str, nft.Hook | None] = {"boundary": _PREROUTING_RAW, "customer": None}
# Chain, comment, expressions.
_Rules = list[tuple[str, str, list[bytes]]]
_DROPPED: _Rules = [
    (
        "customer",
        "to a SID",
        [
            nft.network_header(_DESTINATION, _LENGTH),
            nft.is_in("sids"),
            nft.counter(),
            nft.drop(),
        ],
    ),
    (
        "customer",
        "source routing",
        [nft.routing_type(), nft.equals(_SRH), nft.counter(), nft.drop()],
    ),
    (
        "customer",
        "as if encapsulated here",
        [nft.network_header(_SOURCE, _LENGTH), nft.is_in("sources"), nft.counter(), nft.drop()],
    ),
]


class _Frame:
    """What a table has beside elements."""

    def __init__(self, kind: Boundary) -> None:
        self.closed, self.interfaces = kind.closed, kind.set_name
        self.sets = {self.interfaces: nft.NAMES, "sids": nft.PREFIXES, "sources": nft.ADDRESSES}
        member = nft.is_in(self.interfaces, inverted=kind.closed)
        jump = [nft.incoming_interface(), member, nft.jump("customer")]
        self.rules: _Rules = [("boundary", "from a customer", jump), *_DROPPED]
        self.read_back = [(chain, nft.rule(b"".join(parts))) for chain, _, parts in self.rules]


_FRAMES = [_Frame(Boundary((), (), (), closed)) for closed in (False, True)]


class Boundaries(KernelKind):
    kinds = (Boundary, UnknownBoundary)
    groups = MappingProxyType({nft.NETLINK_NETFILTER: (nft.NFNLGRP_NFTABLES,)})

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        # The table is the first attribute of all that is reported but NFT_MSG_NEWGEN.
        if message not in nft.REPORTED or nft.table_of(body) != BOUNDARY_TABLE:
            return None
        return KernelEvent(EventKind.BOUNDARY, BOUNDARY_KEY, message == nft.NFT_MSG_DELTABLE)

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.table = BoundaryTable()

    def close(self) -> None:
        self.table.close()

    def write(self, batch: Batch, action: Action) -> Failure | None:
        """One transaction: the filter that was there is in force until this one is."""
        match action:
            case Delete():
                return batch.call(self.table.delete)
            case Create(Boundary() as wanted):
                return batch.call(lambda: self.table.create(wanted))
            case Replace(before, Boundary() as wanted):
                return batch.call(lambda: self.table.replace(before, wanted))
        return not_ours_to_write(action.object)

    def dump(self, reader: Reader) -> Decode:
        found = list(self.table.observed())
        return lambda: self.by_key(found)


class BoundaryTable:
    """Reads and writes the table. On a kernel without nftables nothing is there, and writing fails
    with EOPNOTSUPP."""

    def __init__(self) -> None:
        self._socket: NetlinkSocket | None = None
        try:
            self._socket = NetlinkSocket(nft.NETLINK_NETFILTER)
        except OSError as error:
            if error.errno != errno.EPROTONOSUPPORT:
                raise

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def observed(self) -> Iterator[ObservedObject]:
        """The table of our name, if there is one."""
        if self._socket is None:
            return
        table = self._socket.read(nft.get_table(BOUNDARY_TABLE))
        # ENOENT: no such table; EINVAL: no nftables (nfnetlink_rcv_msg).
        if not isinstance(table, Failure):
            ours = nft.comment_of_table(table) == LINK_ALIAS
            yield ObservedObject(self._read(self._socket), ours)

    def _read(self, socket: NetlinkSocket) -> Boundary | UnknownBoundary:
        chains = nft.decode_chains(socket.dump(nft.get_chains()), BOUNDARY_TABLE)
        rules = nft.decode_rules(socket.dump(nft.get_rules(BOUNDARY_TABLE)), BOUNDARY_TABLE)
        sets = nft.decode_sets(socket.dump(nft.get_sets(BOUNDARY_TABLE)), BOUNDARY_TABLE)
        frame = next((f for f in _FRAMES if f.sets == sets), _FRAMES[0])
        if (chains, rules, sets) != (_CHAINS, frame.read_back, frame.sets):
            differ = [
                what
                for what, found, wanted in (
                    ("chains", chains, _CHAINS),
                    ("rules", rules, frame.read_back),
                    ("sets", sets, frame.sets),
                )
                if found != wanted
            ]
            return UnknownBoundary(f"with other {' and '.join(differ)}")
        elements = {
            name: nft.decode_elements(
                socket.dump(nft.get_elements(BOUNDARY_TABLE, name)), BOUNDARY_TABLE
            )
            for name in frame.sets
        }
        return Boundary(
            nft.names_in(elements[frame.interfaces]),
            nft.prefixes_in(elements["sids"]),
            nft.addresses_in(elements["sources"]),
            frame.closed,
        )

    def dropped(self) -> int:
        """How many packets to SIDs it dropped since it was made."""
        if self._socket is None:
            return 0
        rules = self._socket.dump(nft.get_rules(BOUNDARY_TABLE))
        counted = nft.decode_counters(rules, BOUNDARY_TABLE)
        return next((packets for chain, packets in counted if chain == "customer"), 0)

    def create(self, wanted: Boundary) -> Failure | None:
        return self._commit(_whole(wanted))

    def replace(self, before: Any, wanted: Boundary) -> Failure | None:
        """Where only elements differ the rules stay, with what they counted."""
        if isinstance(before, Boundary) and before.closed == wanted.closed:
            return self._commit(_elements(before, wanted))
        return self._commit([nft.delete_table(BOUNDARY_TABLE), *_whole(wanted)])

    def delete(self) -> Failure | None:
        """Only a table that has our mark."""
        if self._socket is None:
            return None
        table = self._socket.read(nft.get_table(BOUNDARY_TABLE))
        if isinstance(table, Failure):
            return None if table.errno == errno.ENOENT else table
        if nft.comment_of_table(table) != LINK_ALIAS:
            return Failure(errno.EPERM, f"table ip6 {BOUNDARY_TABLE} does not have our comment")
        return self._commit([nft.delete_table(BOUNDARY_TABLE)])

    def _commit(self, requests: Sequence[bytes]) -> Failure | None:
        if self._socket is None:
            return Failure(errno.EOPNOTSUPP, "this kernel has no nftables (CONFIG_NF_TABLES)")
        if not requests:
            return None
        return self._socket.transaction(nft.begin(), requests, nft.end())


def _whole(wanted: Boundary) -> list[bytes]:
    frame = _FRAMES[wanted.closed]
    requests = [nft.new_table(BOUNDARY_TABLE, LINK_ALIAS)]
    requests += [nft.new_chain(BOUNDARY_TABLE, name, hook) for name, hook in _CHAINS.items()]
    for number, (name, kind) in enumerate(frame.sets.items(), 1):
        requests.append(nft.new_set(BOUNDARY_TABLE, name, kind, number))
    requests += _elements(Boundary((), (), (), wanted.closed), wanted)
    for chain, comment, expressions in frame.rules:
        requests.append(nft.new_rule(BOUNDARY_TABLE, chain, expressions, comment))
    return requests


def _elements(before: Boundary, wanted: Boundary) -> list[bytes]:
    """Each set that differs is emptied, unless it is so already, and filled again."""
    requests: list[bytes] = []
    for name, old, new in (
        (wanted.set_name, nft.names(before.interfaces), nft.names(wanted.interfaces)),
        ("sids", nft.prefixes(before.sids), nft.prefixes(wanted.sids)),
        ("sources", nft.addresses(before.sources), nft.addresses(wanted.sources)),
    ):
        if old == new:
            continue
        if old:
            requests.append(nft.flush_set(BOUNDARY_TABLE, name))
        requests += nft.new_elements(BOUNDARY_TABLE, name, new)
    return requests
