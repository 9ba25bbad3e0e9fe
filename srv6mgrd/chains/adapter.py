"""Service function chains: the plan's objects in maps and hooks, written and read, the states of
functions, and the counters."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence, Set

from srv6mgrd.chains import layout
from srv6mgrd.chains.layout import Node
from srv6mgrd.chains.names import Named, NameTable
from srv6mgrd.chains.path_table import PathTable
from srv6mgrd.chains.programs import ChainPrograms, Maps
from srv6mgrd.chains.rule_table import Decoded, RuleTable
from srv6mgrd.ebpf import libbpf
from srv6mgrd.kinds.chain.object import (
    CLASSIFY,
    ClassifierHook,
    ClassifierRules,
    ServicePath,
)
from srv6mgrd.kinds.chain.object import ChainPrograms as ProgramsObject
from srv6mgrd.kinds.object import Object
from srv6mgrd.model.chain_state import ChainCounts
from srv6mgrd.model.chains import FunctionState
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.netlink import links
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.links import Link
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject


class _Tables:
    """All that is in the maps."""

    def __init__(self, maps: Maps, decoded: Decoded) -> None:
        self.maps = maps
        self.names = NameTable(maps.names)
        self.paths = PathTable(maps, self.names)
        self.rules = RuleTable(maps, self.names, decoded)

    def settle(self) -> Failure | None:
        return self.paths.settle(self.rules.chains)


class ServiceChains:
    """Reads and writes the kinds of ``kinds.chain``. Not thread-safe."""

    def __init__(self, netlink: NetlinkSocket, programs: ChainPrograms | None = None) -> None:
        self._netlink = netlink
        self._programs = programs or ChainPrograms()
        self._tables: _Tables | None = None
        self._links: Mapping[str, Link] = {}
        self._decoded: Decoded = {}
        # States of functions, also of before there was a map for them.
        self._said: Mapping[str, FunctionState] = {}
        # Whether pins are left of interfaces that are gone.
        self._untidy = False
        # Whether all paths were settled since this process began.
        self._settled = False
        # Whether paths were written that are not in force yet.
        self._unsettled = False

    def close(self) -> None:
        self._programs.close()

    # Reading.

    def observe(self, found: Sequence[Link]) -> Iterator[ObservedObject]:
        """What is in place, given all links."""
        self._links = {link.name: link for link in found}
        if not self._programs.present:
            return
        names = {link.index: link.name for link in found}
        self._tables = None
        tables = self._opened()
        fits = tables is not None and _node(tables.maps)[:2] == self._device()
        intact = self._programs.intact and fits
        objects: list[Object] = [ProgramsObject(intact)]
        if tables is not None:
            objects += tables.paths.paths()
            objects += tables.rules.rules()
            objects += self._hooks(tables, names, intact=intact)
        yield from (ObservedObject(obj, ours=True) for obj in objects)

    def _hooks(
        self, tables: _Tables, names: Mapping[int, str], *, intact: bool
    ) -> Iterator[ClassifierHook]:
        ids = self._programs.ids()
        classifiers = {
            layout.number_of(key): layout.number_of(value)
            for key, value in tables.maps.interfaces.items(layout.NUMBER_SIZE)
        }
        self._untidy = any(index not in names for index in classifiers)
        for item in self._programs.hooks.attached():
            self._untidy |= not item.ifindex
            if (name := names.get(item.ifindex)) is not None:
                classifier = tables.names.of(classifiers.get(item.ifindex, 0))
                current = item.program_id in ids and intact
                yield ClassifierHook(name, classifier, current=current)

    def counts(self) -> ChainCounts:
        tables = self._opened() if self._programs.present else None
        if tables is None:
            return ChainCounts()
        return ChainCounts(
            tables.rules.counts(), tables.paths.path_counts(), tables.paths.drop_counts()
        )

    def states(self) -> Mapping[str, FunctionState]:
        """Of functions that anything was said of."""
        tables = self._opened() if self._programs.present else None
        return {} if tables is None else dict(tables.paths.states)

    # Writing.

    def set_states(self, states: Mapping[str, FunctionState]) -> Failure | None:
        """New flows avoid functions that are not up, all flows those that are down, from now on.
        Functions that are not named keep their state, which outlives this process once there is a
        chain."""
        self._said = {**self._said, **states}
        tables = self._opened() if self._programs.present else None
        if tables is None:
            return None
        return self._ensure_settled(tables) or tables.paths.set_states(states)

    def settle(self) -> Failure | None:
        """Have the paths take effect that were written, and those go that were removed."""
        if not self._unsettled or (tables := self._tables) is None:
            return None
        failure = self._ensure_settled(tables) or tables.settle()
        self._unsettled = failure is not None
        return failure

    def _ensure_settled(self, tables: _Tables) -> Failure | None:
        if self._settled:
            return None
        self._settled = True
        return tables.paths.resettle()

    def forget(self, names: Set[str]) -> None:
        """These links are others than when they were observed."""
        if names:
            self._links = {n: link for n, link in self._links.items() if n not in names}

    def apply(self, action: Action) -> Failure | None:
        if self._untidy:
            self._tidy()
        match action:
            case Create(ProgramsObject()) | Replace(_, ProgramsObject()):
                self._tables = None
                return self._programs.install() or self._fit() or self.set_states(self._said)
            case Delete(ProgramsObject()):
                self._tables, self._settled = None, False
                self._programs.remove()
                return None
            case Delete(ClassifierHook() as hook):
                self._take_down(hook)
                return None
        tables = self._opened()
        if isinstance(action, Delete):
            return None if tables is None else self._take(tables, action.object)
        return _not_loaded() if tables is None else self._put(tables, action.object)

    def _put(self, tables: _Tables, obj: Object) -> Failure | None:
        match obj:
            case ServicePath():
                self._unsettled = True
                return tables.paths.put(obj)
            case ClassifierRules():
                failure = self.settle() or tables.rules.put(obj, tables.paths)
                self._unsettled = True
                return failure
            case ClassifierHook():
                return self.settle() or self._attach(tables, obj)
        return Failure(errno.EOPNOTSUPP, f"{obj.key} is no part of a service function chain")

    def _take(self, tables: _Tables, obj: Object) -> Failure | None:
        self._unsettled = True
        match obj:
            case ServicePath():
                tables.paths.take(obj)
            case ClassifierRules():
                tables.rules.take(obj.name)
        return None

    def _opened(self) -> _Tables | None:
        """The maps, as they were last observed and since written."""
        if self._tables is None and (maps := self._programs.maps()) is not None:
            self._tables = _Tables(maps, self._decoded)
        return self._tables

    def _fit(self) -> Failure | None:
        """Write the facts about this node."""
        tables = self._opened()
        if tables is None:
            return _not_loaded()
        device, mac = self._device()
        node = _node(tables.maps)._replace(sid_device=device, mac=mac)
        return tables.maps.nodes.put(layout.FIRST, node.pack())

    def _device(self) -> tuple[int, bytes]:
        link = self._link(SID_DEVICE)
        return (0, bytes(6)) if link is None else (link.index, link.address.ljust(6, b"\0")[:6])

    def _attach(self, tables: _Tables, hook: ClassifierHook) -> Failure | None:
        link = self._link(hook.interface)
        if link is None:
            return None
        if not link.ethernet:
            return Failure(errno.EOPNOTSUPP, f"interface {hook.interface} is no Ethernet interface")
        try:
            classifier = tables.names.need(Named.CLASSIFIER, hook.classifier)
        except ValueError as error:
            return Failure(errno.ENOSPC, str(error))
        key = layout.number(link.index)
        if failure := tables.maps.interfaces.put(key, layout.number(classifier)):
            return failure
        program = self._programs.program(CLASSIFY)
        if program is None:
            return _not_loaded()
        try:
            failure = self._programs.hooks.hang(link.index, libbpf.INGRESS, program)
        finally:
            os.close(program)
        # The interface may have gone meanwhile.
        return None if failure is not None and failure.errno == errno.ENODEV else failure

    def _take_down(self, hook: ClassifierHook) -> None:
        if (link := self._link(hook.interface)) is None:
            return
        self._programs.hooks.take_down(link.index, libbpf.INGRESS)
        if (tables := self._opened()) is not None:
            tables.maps.interfaces.delete(layout.number(link.index))

    def _tidy(self) -> None:
        """Forget interfaces that are gone."""
        self._untidy = False
        self._programs.hooks.tidy()
        if (tables := self._opened()) is not None:
            known = {layout.number(link.index) for link in self._links.values()}
            found = [key for key, _ in tables.maps.interfaces.items(layout.NUMBER_SIZE)]
            for key in found:
                if key not in known:
                    tables.maps.interfaces.delete(key)

    def _link(self, name: str) -> Link | None:
        if (known := self._links.get(name)) is not None:
            return known
        answer = self._netlink.read(links.get(name))
        return None if isinstance(answer, Failure) else links.decode(answer)


def _node(maps: Maps) -> Node:
    return Node.unpack(maps.nodes.get(layout.FIRST) or bytes(layout.NODE_SIZE))


def _not_loaded() -> Failure:
    return Failure(errno.ENOENT, "the programs of service function chains are not loaded")
