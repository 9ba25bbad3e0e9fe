"""A kernel and an FRR that others change too, and what must hold of them at any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.frr.render import render
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.expand import expand
from srv6mgrd.plan.target import target
from tests.fakes.fate import Disk, Fate, MortalFrr, MortalKernel
from tests.fakes.kernel import MTU

Lines = Mapping[str, frozenset[str]]


class World:
    """``foreign`` is what others put into the kernel, ``operators`` into FRR."""

    kernel_of: Callable[[Fate, dict[str, int]], MortalKernel] = MortalKernel

    def __init__(self) -> None:
        self.fate = Fate()
        self.kernel = self.kernel_of(self.fate, {"eth1": 2, "eth2": 3, "eth9": 9})
        self.frr = MortalFrr()
        self.frr.fate = self.fate
        self.disk = Disk(self.fate)
        self.foreign: dict[str, Object] = {}
        self.operators: dict[str, tuple[FrrBlock, set[str]]] = {}
        self.start()

    def start(self) -> None:
        """A new process on the same kernel, FRR and journal."""
        self.fate.begin()
        self.journal = Journal(None, self.disk.connect)
        self.reconciler = Reconciler(self.kernel, self.frr, self.journal, render)

    def copy(self) -> World:
        other = World()
        for name in ("objects", "interfaces", "sysctls", "counters", "mtus", "_bound"):
            setattr(other.kernel, name, dict(getattr(self.kernel, name)))
        other.kernel.down = set(self.kernel.down)
        other.kernel.l3mdev_rules = set(self.kernel.l3mdev_rules)
        other.kernel._had_vrf = self.kernel._had_vrf
        other.frr.contexts = dict(self.frr.contexts)
        self.disk.copy_to(other.disk)
        other.foreign = dict(self.foreign)
        other.operators = dict(self.operators)
        other.start()
        other.reconciler._current = self.reconciler._current
        return other

    @property
    def writes(self) -> int:
        return self.kernel.writes + self.frr.writes

    # What others do.

    def add_foreign(self, obj: Object) -> None:
        self.kernel.add_foreign(obj)
        self.foreign[obj.key] = obj

    def remove_foreign(self, key: str) -> None:
        self.kernel.remove(key)
        for gone in [k for k in self.foreign if k not in self.kernel.objects]:
            del self.foreign[gone]

    def operator_writes(self, block: FrrBlock, line: str) -> None:
        self.frr.operator(block.daemon, block.context, line)
        self.operators.setdefault(block.key, (block, set()))[1].add(line)

    def frr_restarts(self) -> None:
        """It comes back with what the operator saved."""
        self.frr.restart()
        for block, lines in self.operators.values():
            self.frr.operator(block.daemon, block.context, *sorted(lines))

    # What must hold.

    def state(self) -> tuple[object, ...]:
        """All that a rejected commit must leave as it was. Sysctls are never set back."""
        journal = self.journal.checkpoint()
        return (
            dict(self.kernel.objects),
            set(self.kernel.interfaces),
            {k: set(b.lines) for k, b in self.frr.contexts.items()},
            {k: set(lines) for k, lines in journal.items() if not k.startswith("sysctl")},
        )

    def wanted(self, state: Desired) -> Mapping[str, Object]:
        state = expand(state)
        links = self.kernel.links()
        blocks = render(state)
        return target(state, links, blocks, self.journal).objects

    def check(self, state: Desired) -> None:
        """Kernel and FRR hold exactly what is declared, beside what belongs to others."""
        wanted = self.wanted(state)
        in_kernel = {k: o for k, o in wanted.items() if not (o.is_kept or isinstance(o, FrrBlock))}
        found = {k: s.object for k, s in self.kernel.objects.items()}
        assert found == {**self.foreign, **in_kernel}
        for obj in wanted.values():
            if isinstance(obj, Sysctl):
                assert self.kernel.sysctls[obj.path] == obj.value
            if isinstance(obj, LinkMtu):
                assert self.kernel.mtus.get(obj.interface, MTU) == obj.mtu
            if isinstance(obj, L3mdevRule):
                assert obj.family in self.kernel.l3mdev_rules
            if isinstance(obj, AdminState):
                assert obj.up is (obj.interface not in self.kernel.down)
            if isinstance(obj, SidRoute):
                assert self.kernel.forwards(obj)
        in_frr = {k: set(o.lines) for k, o in wanted.items() if isinstance(o, FrrBlock)}
        for key, (_, lines) in self.operators.items():
            in_frr[key] = in_frr.get(key, set()) | lines
        assert {k: set(b.lines) for k, b in self.frr.contexts.items()} == in_frr
        self.check_journal(wanted)

    def check_journal(self, wanted: Mapping[str, Object]) -> None:
        """It names what is there because of us, and nothing that is not declared."""
        assert set(self.kernel.objects) - set(self.foreign) <= set(self.journal.keys)
        assert set(self.journal.keys) <= set(wanted)
