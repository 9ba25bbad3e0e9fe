"""Neighbors that BFD is taken off.

bgpd 10.3 ends a session when BFD goes down, which it does as soon as the neighbor takes it off, and
does not begin again while it is (peer_active). When BFD is taken off here as well, nothing starts
the session (bgp_peer_remove_bfd): it waits for the neighbor, whose tries have failed meanwhile and
come up to 150 s apart (v_start, connect retry).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.vty import Shows
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.plan.actions import Action, Replace


@dataclass(frozen=True, slots=True)
class Relieved:
    """A neighbor of an instance that BFD was taken off; ``vrf`` is empty for the router's own."""

    vrf: str
    peer: str

    @property
    def instance(self) -> str:
        """The instance, as it is in commands of bgpd."""
        return f"bgp vrf {self.vrf}" if self.vrf else "bgp"

    @property
    def clear(self) -> str:
        """The command that has bgpd begin again."""
        return f"clear {self.instance} {self.peer}"


def relieved(actions: Iterable[Action]) -> Iterator[Relieved]:
    """The neighbors that stay, and lose BFD."""
    for action in actions:
        before, after = getattr(action, "before", None), action.object
        if not isinstance(action, Replace) or not isinstance(after, FrrBlock):
            continue
        assert isinstance(before, FrrBlock)
        if before.daemon != BGPD or len(before.context) > 1:
            continue
        vrf = before.context[0].partition(" vrf ")[2]
        for line in before.lines:
            words = line.split()
            if words[::2] == ["neighbor", "bfd"] and line not in after.lines:
                yield Relieved(vrf, words[1])


def is_idle(frr: Shows, one: Relieved) -> bool:
    """Whether bgpd does nothing to reach the neighbor."""
    shown = json.loads(frr.show(BGPD, f"show {one.instance} neighbors {one.peer} json") or "{}")
    return any(
        isinstance(entry, dict) and entry.get("bgpState") == "Idle" for entry in shown.values()
    )
