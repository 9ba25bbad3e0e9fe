"""What takes our lines out of FRR when we can't do it ourselves any more: a script for vtysh."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Protocol

from srv6mgrd.frr.blocks import RESOLUTION_VIA_DEFAULT
from srv6mgrd.frr.script import commands, removals
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.plan.actions import Delete


class Owned(Container[object], Protocol):
    """The part of the journal that is read here."""

    def lines(self, key: str) -> tuple[str, ...]: ...


def script(owned: Owned, running: Mapping[str, FrrBlock]) -> list[str]:
    """Lines for vtysh that remove what is ours of FRR's running configuration; others' stay."""
    leaving = [
        Delete(replace(block, lines=tuple(n for n in block.lines if n in owned.lines(key))))
        for key, block in running.items()
        if key in owned
    ]
    texts: list[str] = []
    for daemon in dict.fromkeys(block.daemon for block in running.values()):
        steps = [s for s in removals(leaving, running) if s.daemon == daemon]
        # The effect of a profile is unknown here, and nil without static routes.
        steps = [s for s in steps if s.line not in RESOLUTION_VIA_DEFAULT]
        if steps:
            texts += ["configure terminal", *(c.text for c in commands(steps)), "end"]
    return texts
