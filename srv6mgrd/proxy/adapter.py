"""Proxies: what of the plan's objects is in maps and hooks, read and written."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Collection, Container, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from ipaddress import IPv6Network, ip_network

from srv6mgrd.ebpf import libbpf
from srv6mgrd.kinds.proxy.object import (
    TOWARD_FUNCTION,
    TOWARD_LOCAL,
    ProxyEntry,
    ProxyHook,
    ProxyPrograms,
)
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.proxy_state import FlowChain, ProxyCounts, ProxyState
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.netlink import links
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.links import Link
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject
from srv6mgrd.proxy import layout
from srv6mgrd.proxy.layout import ChainValue, FlowChainValue, ProxyValue
from srv6mgrd.proxy.map_index import MapIndex, values
from srv6mgrd.proxy.programs import Maps, Programs

SECOND = 1_000_000_000
_TENTH = SECOND // 10


class Proxies:
    """Reads and writes ProxyPrograms, ProxyEntry and ProxyHook. Not thread-safe."""

    def __init__(self, netlink: NetlinkSocket, programs: Programs | None = None) -> None:
        self._netlink = netlink
        self._programs = programs or Programs()
        # As last observed; both save a look at a thousand others with each write.
        self._map_index: MapIndex | None = None
        self._links: Mapping[str, Link] = {}
        # SIDs to go on from without their functions, also those made again; None: as they are.
        self._bypassed: Collection[bytes] | None = None
        # Whether pins are left of interfaces that are gone.
        self._untidy = False

    def close(self) -> None:
        self._programs.close()

    # Reading.

    def observe(self, found: Sequence[Link]) -> Iterator[ObservedObject]:
        """The observed proxies, given all links."""
        self._map_index = None
        self._links = {link.name: link for link in found}
        names = {link.index: link.name for link in found}
        present = self._programs.present
        if present:
            maps = self._programs.maps()
            device = next((link.index for link in found if link.name == SID_DEVICE), 0)
            fits = maps is not None and MapIndex(maps).fits(device)
            intact = self._programs.intact and fits
            yield ObservedObject(ProxyPrograms(intact), ours=True)
            if maps is not None:
                yield from self._entries(maps, self._links, names)
            ids = self._programs.ids()
            for item in self._programs.hooks.attached():
                self._untidy |= not item.ifindex
                if (name := names.get(item.ifindex)) is not None:
                    program = ids.get(item.program_id)
                    egress = item.side == libbpf.EGRESS
                    hook = ProxyHook(
                        name,
                        program or (TOWARD_LOCAL if egress else TOWARD_FUNCTION),
                        # Programs that are not intact are loaded again: these are old ones then.
                        current=program is not None and intact,
                    )
                    yield ObservedObject(hook, ours=True)

    def _entries(
        self, maps: Maps, by_name: Mapping[str, Link], names: Mapping[int, str]
    ) -> Iterator[ObservedObject]:
        passes: dict[bytes, list[str]] = {}
        for key in maps.passes.keys(layout.PASS_SIZE):
            port, prefix = layout.pass_of(key)
            passes.setdefault(port, []).append(str(prefix))
        for key, value in values(maps):
            chain = self._chain(maps, value)
            interface = names.get(value.interface, f"if{value.interface}")
            back = names.get(value.return_interface, f"if{value.return_interface}")
            peer = self._peer(by_name.get(interface), value)
            masqueraded = value.behavior is Behavior.END_AM
            flags = chain.flags if chain is not None else 0
            words = [word for word, bit in layout.PASS_FLAGS.items() if flags & bit]
            static = chain if value.behavior is Behavior.END_AS else None
            entry = ProxyEntry(
                prefix=layout.sid_of(key),
                behavior=value.behavior,
                inner_type=value.inner_type,
                interface=interface,
                return_interface=back,
                next_hop=value.next_hop,
                source=static.source if static is not None else None,
                segments=static.segments if static is not None else (),
                age=value.age // SECOND,
                decrement_hop_limit=value.decrement,
                passes=tuple(sorted([*words, *passes.get(value.port, [])])),
                per_flow=value.per_flow,
                current=value.peer == peer
                and (masqueraded or chain is not None)
                and value.per_flow == bool(flags & layout.BY_FLOW),
            )
            yield ObservedObject(entry, ours=True)

    @staticmethod
    def _chain(maps: Maps, value: ProxyValue) -> ChainValue | None:
        found = maps.chains.get(value.port, locked=True)
        chain = ChainValue.unpack(found) if found is not None else None
        return chain if chain is not None and chain.id == value.id else None

    def _peer(self, link: Link | None, value: ProxyValue) -> tuple[bytes, bytes] | None:
        """MAC addresses of the function's end and of ours, where packets can be handed straight
        to it: bpf_redirect_peer takes those of a namespace alone, and no frames as they are."""
        if link is None or link.peer is None or value.inner_type == "ethernet":
            return None
        answer = self._netlink.read(links.get_peer(link.peer))
        if isinstance(answer, Failure):
            return None
        return links.decode(answer).address, link.address

    def counts(self) -> dict[IPv6Network, ProxyCounts]:
        """Counters of every proxy."""
        maps = self._programs.maps() if self._programs.present else None
        if maps is None:
            return {}
        return {layout.sid_of(k): self._counts(maps, value.id) for k, value in values(maps)}

    def states(self) -> dict[IPv6Network, ProxyState]:
        """Counters of every proxy, and what it restores at present."""
        maps = self._programs.maps() if self._programs.present else None
        if maps is None:
            return {}
        # From the programs' clock (bpf_ktime_get_coarse_ns) to the wall's.
        epoch = time.time_ns() - time.monotonic_ns()
        found = list(values(maps))
        by_port: dict[bytes, list[FlowChain]] = {}
        if any(value.per_flow for _, value in found):
            by_port = self._flow_chains(maps, epoch)
        mtus = {link.index: link.mtu for link in self._links.values()}
        return {
            layout.sid_of(key): replace(
                self._state(maps, value, epoch, by_port), mtu=mtus.get(value.interface, 0)
            )
            for key, value in found
        }

    def _state(
        self, maps: Maps, value: ProxyValue, epoch: int, by_port: Mapping[bytes, list[FlowChain]]
    ) -> ProxyState:
        counts = self._counts(maps, value.id)
        if value.per_flow:
            return ProxyState(counts, flow_chains=tuple(by_port.get(value.port, ())))
        chain = self._chain(maps, value)
        if chain is None or chain.source is None:
            return ProxyState(counts)
        learned = chain.learned and _rounded(epoch + chain.learned)
        return ProxyState(counts, chain.source, chain.segments, learned)

    @staticmethod
    def _flow_chains(maps: Maps, epoch: int) -> dict[bytes, list[FlowChain]]:
        """By port, in the order of their digests."""
        by_port: dict[bytes, list[FlowChain]] = {}
        for key in sorted(maps.flow_chains.keys(layout.FLOW_CHAIN_KEY_SIZE)):
            if (raw := maps.flow_chains.get(key)) is None:
                continue
            port, digest = layout.flow_chain_of(key)
            chain = FlowChainValue.unpack(raw)
            learned = _rounded(epoch + chain.learned)
            found = FlowChain(digest, chain.source, chain.segments, learned)
            by_port.setdefault(port, []).append(found)
        return by_port

    @staticmethod
    def _counts(maps: Maps, number: int) -> ProxyCounts:
        raw = maps.counters.get(layout.number(number))
        cpus = layout.COUNTERS.iter_unpack(raw or bytes(layout.COUNTERS.size))
        return ProxyCounts(*map(sum, zip(*cpus, strict=True)))

    # Writing.

    def forget(self, names: Set[str]) -> None:
        """These links are others than when they were observed."""
        if names:
            self._links = {n: link for n, link in self._links.items() if n not in names}

    def apply(self, action: Action) -> Failure | None:
        if self._untidy:
            self._programs.hooks.tidy()
            self._untidy = False
        match action:
            case Create(ProxyPrograms()) | Replace(_, ProxyPrograms()):
                self._map_index = None
                return self._programs.install() or self._fit()
            case Delete(ProxyPrograms()):
                self._map_index = None
                self._programs.remove()
                return None
            case Create(ProxyEntry() as entry):
                return self._put(entry, None)
            case Replace(ProxyEntry() as before, ProxyEntry() as entry):
                return self._put(entry, before)
            case Delete(ProxyEntry() as entry):
                return self._take(entry)
            case Create(ProxyHook() as hook) | Replace(_, ProxyHook() as hook):
                return self._hang(hook)
            case Delete(ProxyHook() as hook):
                self._take_down(hook)
                return None
        return Failure(errno.EOPNOTSUPP, f"{action.object.key} is no part of a proxy")

    def _opened(self) -> tuple[Maps, MapIndex] | None:
        maps = self._programs.maps()
        if maps is None:
            return None
        self._map_index = self._map_index or MapIndex(maps)
        return maps, self._map_index

    def _put(self, entry: ProxyEntry, before: ProxyEntry | None) -> Failure | None:
        opened = self._opened()
        if opened is None:
            return _not_loaded()
        maps, map_index = opened
        interface, back = self._link(entry.interface), self._link(entry.return_interface)
        if interface is None or back is None:
            gone = entry.interface if interface is None else entry.return_interface
            return Failure(errno.ENODEV, f"interface {gone} does not exist")
        key = layout.sid_key(entry.prefix)
        old = map_index.get(key)
        number = old.id if old is not None else map_index.number()
        if number is None:
            return Failure(errno.ENOSPC, f"there are {layout.MAX_PROXIES} proxies already")
        value = ProxyValue(
            number,
            entry.behavior,
            entry.inner_type,
            interface.index,
            back.index,
            entry.age * SECOND,
            entry.next_hop,
            entry.decrement_hop_limit,
            per_flow=entry.per_flow,
            bypass=self._is_bypassed(key, old),
        )
        value = _with_peer(value, self._peer(interface, value))
        if old is None:
            zero = bytes(layout.COUNTERS.size * libbpf.possible_cpus())
            maps.counters.put(layout.number(number), zero)
        if failure := self._put_chain(maps, map_index, entry, value):
            return failure
        if failure := map_index.put(key, value):
            return failure
        if old is not None and (old.port != value.port or entry.behavior is Behavior.END_AM):
            self._drop_chain(maps, map_index, old)
        elif old is not None and old.per_flow and not value.per_flow:
            _forget_flows(maps, old)
        return self._fit()

    def bypass(self, sids: Collection[IPv6Network]) -> Failure | None:
        """Packets to these go on without their functions, and to all others through them. What is
        so survives this process."""
        wanted = self._bypassed = {layout.sid_key(prefix) for prefix in sids}
        if not self._programs.present or (opened := self._opened()) is None:
            return None
        _, map_index = opened
        for key, value in map_index.all():
            if value.bypass != (key in wanted) and (
                failure := map_index.put(key, replace(value, bypass=key in wanted))
            ):
                return failure
        return None

    def _is_bypassed(self, key: bytes, old: ProxyValue | None) -> bool:
        if self._bypassed is None:
            return old is not None and old.bypass
        return key in self._bypassed

    def _put_chain(
        self, maps: Maps, map_index: MapIndex, entry: ProxyEntry, value: ProxyValue
    ) -> Failure | None:
        if entry.behavior is Behavior.END_AM:
            return None
        prefixes = [ip_network(word) for word in entry.passes if "/" in word]
        flags = sum(layout.PASS_FLAGS.get(word, 0) for word in entry.passes)
        flags |= layout.PASS_PREFIXES if prefixes else 0
        flags |= layout.BY_FLOW if entry.per_flow else 0
        if failure := map_index.set_passes(value.port, prefixes):
            return failure
        found = maps.chains.get(value.port, locked=True)
        before = ChainValue.unpack(found) if found is not None else None
        if entry.behavior is Behavior.END_AS and entry.source is not None:
            header = layout.static_header(entry.source, entry.segments, entry.inner_type)
            chain = ChainValue(value.id, flags, header)
        elif not entry.per_flow and before is not None and before.id == value.id and before.learned:
            # What was learned stays.
            chain = ChainValue(value.id, flags, before.header, before.learned)
        else:
            chain = ChainValue(value.id, flags)
        if before is None:
            return maps.chains.put(value.port, chain.pack())
        return maps.chains.put(value.port, chain.overtaking(before).pack(), locked=True)

    def _drop_chain(self, maps: Maps, map_index: MapIndex, value: ProxyValue) -> None:
        if self._chain(maps, value) is not None:
            maps.chains.delete(value.port)
            map_index.set_passes(value.port, [])
            if value.per_flow:
                _forget_flows(maps, value)

    def _take(self, entry: ProxyEntry) -> Failure | None:
        opened = self._opened()
        key = layout.sid_key(entry.prefix)
        if opened is None or (value := opened[1].get(key)) is None:
            return None
        maps, map_index = opened
        map_index.take(key)
        self._drop_chain(maps, map_index, value)
        return self._fit()

    def _fit(self) -> Failure | None:
        """Write the facts about this node to the programs' maps, if they changed."""
        opened = self._opened()
        if opened is None:
            return _not_loaded()
        device = self._link(SID_DEVICE)
        return opened[1].fit(device.index if device is not None else 0)

    def _hang(self, hook: ProxyHook) -> Failure | None:
        link = self._link(hook.interface)
        if link is None:
            return None
        program = self._programs.program(hook.program)
        if program is None:
            return _not_loaded()
        try:
            failure = self._programs.hooks.hang(link.index, _side(hook), program)
        finally:
            os.close(program)
        # An interface that has gone meanwhile has nothing to attach to.
        failure = _unless(failure, {errno.ENODEV})
        return failure or (self._fit() if hook.interface == SID_DEVICE else None)

    def _take_down(self, hook: ProxyHook) -> None:
        if (link := self._link(hook.interface)) is not None:
            self._programs.hooks.take_down(link.index, _side(hook))

    def _link(self, name: str) -> Link | None:
        if (known := self._links.get(name)) is not None:
            return known
        answer = self._netlink.read(links.get(name))
        return None if isinstance(answer, Failure) else links.decode(answer)


def _forget_flows(maps: Maps, value: ProxyValue) -> None:
    """What flows learned from this proxy; a later one may have its port."""
    for key in list(maps.flows.keys(layout.FLOW_SIZE)):
        if layout.flow_port(key) == value.port:
            maps.flows.delete(key)
    for key in list(maps.flow_chains.keys(layout.FLOW_CHAIN_KEY_SIZE)):
        if layout.flow_chain_of(key)[0] == value.port:
            maps.flow_chains.delete(key)


def _rounded(ns: int) -> int:
    """To a tenth of a second: two clocks are not read at once, and a neighbor learned once is to be
    reported once."""
    return round(ns / _TENTH) * _TENTH


def _not_loaded() -> Failure:
    return Failure(errno.ENOENT, "the programs of the proxies are not loaded")


def _with_peer(value: ProxyValue, peer: tuple[bytes, bytes] | None) -> ProxyValue:
    return value if peer is None else replace(value, peer=peer)


def _side(hook: ProxyHook) -> int:
    return libbpf.EGRESS if hook.side == "egress" else libbpf.INGRESS


def _unless(failure: Failure | None, expected: Container[int]) -> Failure | None:
    return None if failure is not None and failure.errno in expected else failure
