"""Actions to commands: only the lines that differ, in an order that FRR accepts (pure).

Removal comes first, users before what they use; then writing, what is used before its users.
The daemons try a command that a context does not know in the contexts around it (lib/command.c,
cmd_execute_command), so a sibling context is entered without leaving the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from srv6mgrd.frr.blocks import (
    BGPD,
    ISISD,
    LOCATORS,
    MGMTD,
    OSPF6D,
    OSPFD,
    RESOLUTION_VIA_DEFAULT,
    ROUTE_MAP,
    ZEBRA,
    is_list,
    negated,
    slot_of,
)
from srv6mgrd.frr.vty import Answer
from srv6mgrd.kinds.frr_block.object import FrrBlock, hide_secret, without_secret
from srv6mgrd.plan.actions import Action, Create, Delete, Replace

# Single-valued lines that FRR does not overwrite: a second index for a SID is ignored without a
# word, a second locator of bgpd is rejected, another prefix for a locator leaves SIDs of the old
# one behind. They are cleared first. Each with the levels to climb for the command that clears.
_CLEAR_FIRST = {"sid vpn per-vrf export": 0, "sid vpn export": 0, "locator": 1, "prefix": 1}


_IMPLIED = frozenset(f"no {line}" for line in RESOLUTION_VIA_DEFAULT)
# What bgpd prints in an instance of its own accord under one or the other profile ("frr defaults"):
# options whose default differs between them (bgpd/bgp_vty.c, FRR_CFG_DEFAULT_BOOL). Nobody's line.
_OF_A_PROFILE = frozenset(
    f"{no}bgp {option}"
    for no in ("", "no ")
    for option in (
        "ebgp-requires-policy",
        "enforce-first-as",
        "network import-check",
        "deterministic-med",
        "log-neighbor-changes",
        "suppress-duplicates",
        "graceful-restart notification",
        "hard-administrative-reset",
        "default show-hostname",
        "default show-nexthop-hostname",
        "default dynamic-capability",
    )
)


@dataclass(frozen=True, slots=True)
class Step:
    """One command in its context, for the sake of an action. ``optional``: may be rejected."""

    daemon: str
    context: tuple[str, ...]
    line: str = field(repr=False)
    action: Action | None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A command as sent; ``step`` is None for those that enter a context. ``needs`` are the
    indexes of the commands that must have been accepted for this one to mean what it says."""

    text: str = field(repr=False)
    step: Step | None
    needs: tuple[int, ...]


def frr_block(action: Action) -> FrrBlock:
    """The block of an action."""
    found = action.object
    if not isinstance(found, FrrBlock):
        raise TypeError(f"{found.key} is no FRR block; give it to the kernel adapter")
    return found


def changes_router_id(action: Action) -> bool:
    """Whether ``additions`` has to know which address families of the instance export."""
    if not isinstance(action, Replace) or not isinstance(action.before, FrrBlock):
        return False
    obj = frr_block(action)
    gone = set(obj.lines) - set(action.before.lines)
    return is_instance(obj) and any(slot_of(line) == "bgp router-id" for line in gone)


def removals(actions: Sequence[Action], running: Mapping[str, FrrBlock]) -> list[Step]:
    """Steps that take away, from ``Delete`` and from lines gone in ``Replace``.

    An instance of a protocol is removed as a whole only when nothing but the lines to be deleted
    is in it; otherwise our lines go one by one and those of others stay. ``running`` has to
    hold the contents of those for which ``is_instance`` is true.
    """
    deletes = [a for a in actions if isinstance(a, Delete)]
    whole = _removable_instances(deletes, running)
    blocks = sorted(((frr_block(a), a) for a in actions), key=lambda pair: _place(pair[0], -1))
    return [step for obj, action in blocks for step in _removal(action, obj, whole)]


def _removal(action: Action, obj: FrrBlock, whole: set[str]) -> list[Step]:
    if isinstance(action, Create):
        return []
    if isinstance(action, Delete):
        if obj.context[0] in whole:
            # The instance takes its inner contexts along; but isisd forgets the SIDs of a locator
            # with it, and only without the locator takes them out of the kernel
            # (isis_srv6_area_term, isis_srv6_locator_unset).
            if len(obj.context) > 1:
                return [
                    Step(obj.daemon, obj.context, negated(line), action)
                    for line in obj.lines
                    if obj.daemon == ISISD and slot_of(line) == "locator"
                ]
            return [Step(obj.daemon, (), f"no {obj.context[0]}", action)]
        if obj.context[: len(LOCATORS)] == LOCATORS:
            return [Step(obj.daemon, LOCATORS, f"no {obj.context[-1]}", action)]
        if obj.context[0].startswith(ROUTE_MAP):
            return [Step(obj.daemon, (), f"no {obj.context[0]}", action)]
        gone: Sequence[str] = obj.lines
        kept: set[str | None] = set()
    else:
        before = action.before
        assert isinstance(before, FrrBlock)
        gone = [line for line in before.lines if line not in obj.lines]
        kept = {slot_of(line) for line in obj.lines} - {None}
    gone = [line for line in gone if slot_of(line) not in kept]
    going = [line for line in gone if _IS_NEIGHBOR.fullmatch(line)]
    groups = [line for line in going if line.endswith(" peer-group")]
    # A peer group goes with all that is said of it, a neighbor likewise.
    going = [
        line for line in going if line in groups or f"{_neighbor(line)}peer-group" not in groups
    ]
    steps = []
    for line in reversed(gone):
        if line.startswith(tuple(map(_neighbor, going))) and line not in going:
            continue
        steps.append(_step(obj, negated(line), action))
    return steps


# The lines that make a neighbor or a peer group; without them it is gone.
_IS_NEIGHBOR = re.compile(r"neighbor \S+ (?:(?:interface )?remote-as \d+|peer-group)")


def _neighbor(line: str) -> str:
    return f"neighbor {line.split()[1]} "


def _step(obj: FrrBlock, line: str, action: Action) -> Step:
    """A line of a block. That of a static route names its VRF, to be independent of others."""
    if obj.daemon == MGMTD and obj.part:
        return Step(MGMTD, (), f"{line} {obj.context[0]}", action)
    return Step(obj.daemon, obj.context, line, action)


def is_instance(obj: FrrBlock) -> bool:
    """Whether it is the outer context of a routing protocol."""
    return len(obj.context) == 1 and obj.context[0].startswith("router ")


def _removable_instances(deletes: Sequence[Delete], running: Mapping[str, FrrBlock]) -> set[str]:
    going = {(frr_block(d).context, line) for d in deletes for line in frr_block(d).lines}
    instances = {frr_block(d).context[0] for d in deletes if is_instance(frr_block(d))}
    for found in running.values():
        instance = found.context[0]
        foreign = [ln for ln in found.lines if ln not in _OF_A_PROFILE]
        if instance in instances and any((found.context, ln) not in going for ln in foreign):
            instances.discard(instance)
    return instances


def additions(actions: Iterable[Action], running: Mapping[str, FrrBlock]) -> list[Step]:
    """Steps that write: the lines of ``Create`` and those new in ``Replace``.

    ``running`` is needed for those that ``changes_router_id``.
    """
    puts = [(frr_block(a), a) for a in actions if not isinstance(a, Delete)]
    puts.sort(key=lambda pair: _place(pair[0], 1))
    steps = []
    for obj, action in puts:
        found = _addition(action, obj)
        if changes_router_id(action):
            found = _with_export_paused(found, obj, running)
        steps += found
    return steps


def _place(obj: FrrBlock, way: int) -> tuple[int, int, str, int]:
    """Sort key; ``way`` 1 for writing, -1 for removal. Blocks of one instance stay together:
    entering an instance makes bgpd look at all its VPN routes."""
    daemon = (ZEBRA, MGMTD, ISISD, OSPFD, OSPF6D, BGPD).index(obj.daemon)
    return way * daemon, way * (obj.order // 10), obj.context[0], way * obj.order


def _addition(action: Create | Replace, obj: FrrBlock) -> list[Step]:
    before: tuple[str, ...] = ()
    if isinstance(action, Replace):
        assert isinstance(action.before, FrrBlock)
        before = action.before.lines
    new = [line for line in obj.lines if line not in before]
    if before and any(_CLEAR_FIRST.get(slot_of(line) or "") for line in new):
        new = list(obj.lines)  # the context goes, and all lines with it
    if not new and isinstance(action, Create):
        return [Step(obj.daemon, obj.context, "", action)]
    steps = []
    for line in new:
        slot = slot_of(line)
        if slot in _CLEAR_FIRST and isinstance(action, Replace):
            steps.append(_clearing(obj, slot, action, line))
        steps.append(_step(obj, line, action))
    return steps


def _with_export_paused(
    steps: list[Step], obj: FrrBlock, running: Mapping[str, FrrBlock]
) -> list[Step]:
    """A new router ID makes bgpd replace the export RD and RT of every address family that
    exports by values made up from the ID, although they are configured
    (vpn_handle_router_id_update); of the RD it goes on printing what was configured."""
    exporting = [
        found.context
        for found in running.values()
        if found.context[:-1] == obj.context and "export vpn" in found.lines
    ]
    action = steps[0].action
    return [
        *(Step(obj.daemon, context, "no export vpn", action) for context in exporting),
        *steps,
        *(Step(obj.daemon, context, "export vpn", action) for context in exporting),
    ]


def _clearing(obj: FrrBlock, slot: str, action: Action, line: str) -> Step:
    if _CLEAR_FIRST[slot] == 0:
        # Any index will do, where one has to be named.
        return Step(obj.daemon, obj.context, negated(line), action, optional=True)
    inner = obj.context[-1]
    return Step(obj.daemon, obj.context[:-1], f"no {inner}", action, optional=True)


def _at_top(step: Step) -> Step:
    """A line of a list with the list in it."""
    if not is_list(step.context):
        return step
    no, line = ("no ", step.line[3:]) if step.line.startswith("no ") else ("", step.line)
    return replace(step, context=(), line=f"{no}{step.context[0]} {line}")


def undone(actions: Iterable[Action], running: Mapping[str, FrrBlock]) -> list[Action]:
    """What is left to do of actions that were carried out."""
    left: list[Action] = []
    for action in actions:
        obj = frr_block(action)
        there = running[obj.key].lines if obj.key in running else ()
        before = frr_block(Delete(action.before)).lines if isinstance(action, Replace) else ()
        stayed = [line for line in dict.fromkeys((*before, *obj.lines)) if line in there]
        if isinstance(action, Delete):
            # What a profile implies stays.
            if stayed := [line for line in stayed if line not in _IMPLIED]:
                left.append(Delete(replace(obj, lines=tuple(stayed))))
        elif set(stayed) != set(obj.lines):
            left.append(Replace(replace(obj, lines=tuple(stayed)), obj))
    return left


def commands(steps: Sequence[Step]) -> list[Command]:
    """Steps with the commands that enter their contexts, starting in config mode."""
    found: list[Command] = []
    path: tuple[str, ...] = ()
    entered: list[int] = []
    for step in map(_at_top, steps):
        common = 0
        while common < min(len(path), len(step.context)) and path[common] == step.context[common]:
            common += 1
        if 0 < common == len(step.context) < len(path):
            common -= 1  # going up: enter the outer context once more
        if path and not step.context:
            found += [Command("end", None, ()), Command("configure terminal", None, ())]
        del entered[common:]
        for context in step.context[common:]:
            found.append(Command(context, None, tuple(entered)))
            entered.append(len(found) - 1)
        path = step.context
        if step.line:
            found.append(Command(step.line, step, tuple(entered)))
        elif entered:
            # Entering an empty context is what creates it.
            found[-1] = replace(found[-1], step=step)
    return found


def rejections(
    sent: Sequence[Command], answers: Sequence[Answer], silence: str
) -> dict[int, tuple[Action, str]]:
    """First rejection of each action, by its ``id``: FRR's words and the line.

    ``silence`` is said for commands that got no answer.
    """
    found: dict[int, tuple[Action, str]] = {}
    for number, command in enumerate(sent):
        step = command.step
        if step is None or step.optional or step.action is None or id(step.action) in found:
            continue
        for index in (*command.needs, number):
            answer = answers[index] if index < len(answers) else None
            if answer is None or not answer.ok:
                message = silence if answer is None else hide_secret(step.line, answer.message)
                line = (without_secret(step.line),) if step.line else ()
                where = " / ".join((*step.context, *line))
                found[id(step.action)] = (step.action, f"{step.daemon}: {message} (at '{where}')")
                break
    return found
