"""FRR in memory: ``ports.Frr`` for tests of what needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from srv6mgrd.frr.blocks import block
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.ports import RejectedAction


@dataclass(slots=True)
class FakeFrr:
    """Holds lines per context. ``reject`` maps a piece of a line to the words FRR says about it;
    with ``stuck`` it rejects what it has done, and does no more; ``unreachable`` with a reason
    makes it out of reach; ``operator`` adds foreign lines. ``patched``: its routes name the table
    in which their outer header is looked up."""

    reject: dict[str, str] = field(default_factory=dict)
    stuck: bool = False
    unreachable: str = ""
    patched: bool = False
    applied: list[Action] = field(default_factory=list)
    contexts: dict[str, FrrBlock] = field(default_factory=dict)
    writes: int = 0
    # What was asked for: "meet" or "let go", and the VRF.
    steps: list[tuple[str, str]] = field(default_factory=list)

    def observe(self) -> Mapping[str, FrrBlock] | None:
        return None if self.unreachable else dict(self.contexts)

    @property
    def names_lookup_tables(self) -> bool:
        return self.patched and not self.unreachable

    def apply(self, actions: Sequence[Action], *, atomic: bool = False) -> list[RejectedAction]:
        rejected = []
        for action in actions:
            message = self.unreachable or self._message(action)
            if self.stuck and isinstance(action, Create):
                self._carry_out(action)
            if self.stuck:
                rejected.append(RejectedAction(action, 0, "stuck", in_doubt=True))
            elif message:
                rejected.append(RejectedAction(action, 0, message))
            else:
                self._carry_out(action)
                self.applied.append(action)
        return rejected

    def meet(self, vrfs: Sequence[str]) -> None:
        self.steps += [("meet", vrf) for vrf in vrfs]

    def see_off(self, vrfs: Sequence[str]) -> None:
        self.steps += [("see off", vrf) for vrf in vrfs]

    def let_go(self, vrfs: Sequence[str]) -> None:
        self.steps += [("let go", vrf) for vrf in vrfs]

    def operator(self, daemon: str, context: tuple[str, ...], *lines: str) -> None:
        """Someone else adds lines."""
        self._put(block(daemon, context, ()), lines, ())

    def restart(self) -> None:
        """The daemons come back without a configuration."""
        self.contexts.clear()

    def _message(self, action: Action) -> str:
        if isinstance(action, Delete):
            return ""
        obj = _of(action.object)
        for line in (*obj.context, *obj.lines):
            for piece, message in self.reject.items():
                if piece in line:
                    return f"{obj.daemon}: {message} (at '{line}')"
        return ""

    def _carry_out(self, action: Action) -> None:
        obj = _of(action.object)
        if isinstance(action, Create):
            self._put(obj, obj.lines, ())
        elif isinstance(action, Replace):
            before = _of(action.before).lines
            self._put(obj, obj.lines, [line for line in before if line not in obj.lines])
        else:
            self._put(obj, (), obj.lines)
            if not self.contexts[obj.key].lines:
                del self.contexts[obj.key]

    def _put(self, obj: FrrBlock, new: Sequence[str], gone: Sequence[str]) -> None:
        seen = self.contexts.get(obj.key)
        old = [line for line in (seen.lines if seen else ()) if line not in gone]
        fresh = [line for line in new if line not in old]
        self.writes += len(fresh) + len(gone)
        made = block(obj.daemon, obj.context, [*old, *fresh])
        self.contexts[obj.key] = replace(made, part=obj.part)


def _of(obj: object) -> FrrBlock:
    assert isinstance(obj, FrrBlock)
    return obj
