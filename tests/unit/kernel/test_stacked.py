"""VLANs follow the interface below them, some time behind it."""

from __future__ import annotations

import time
from dataclasses import replace

from srv6mgrd.kinds.stacked_vlans import StackedVlans
from srv6mgrd.netlink.links import Link

PARENT = Link(1, "p0", up=True)
VLAN = Link(2, "p0.5", up=False, kind="vlan", parent=1, vlan=5)
INNER = Link(3, "p0.5.6", up=False, kind="vlan", parent=2, vlan=6)
LOOSE = Link(4, "p0.7", up=False, kind="vlan", parent=1, vlan=7, loose=True)
OTHER = Link(5, "p1", up=True)


class Kernel:
    """Has each VLAN follow when it was looked at so many times."""

    def __init__(self, late: int) -> None:
        self.now = {link.name: link for link in (PARENT, VLAN, INNER, LOOSE, OTHER)}
        self.late, self.dumps, self.looks = late, 0, 0

    def links(self) -> list[Link]:
        self.dumps += 1
        return list(self.now.values())

    def link(self, name: str) -> Link | None:
        self.looks += 1
        found = self.now[name]
        if found.parent and not found.loose:
            self.late -= 1
            below = next(link for link in self.now.values() if link.index == found.parent)
            if self.late <= 0 and found.up != below.up:
                found = self.now[name] = replace(found, up=below.up)
        return found


def test_all_that_are_stacked_on_it_are_waited_for() -> None:
    kernel = Kernel(late=5)
    stacked = StackedVlans(kernel.links, kernel.link)
    stacked.changed(PARENT)
    stacked.settle()
    assert [kernel.now[link.name].up for link in (VLAN, INNER, LOOSE)] == [True, True, False]
    assert kernel.dumps == 1


def test_nothing_is_waited_for_where_nothing_is_stacked() -> None:
    kernel = Kernel(late=0)
    stacked = StackedVlans(kernel.links, kernel.link)
    stacked.settle()
    assert kernel.dumps == 0
    for _ in range(100):
        stacked.changed(OTHER)
        stacked.settle()
    assert (kernel.dumps, kernel.looks) == (1, 0)
    stacked.forget()
    stacked.changed(OTHER)
    stacked.settle()
    assert kernel.dumps == 2


def test_one_that_never_follows_is_waited_for_no_longer_than_a_while() -> None:
    kernel = Kernel(late=1_000_000)
    stacked = StackedVlans(kernel.links, kernel.link, timeout=0.02)
    stacked.changed(PARENT)
    start = time.monotonic()
    stacked.settle()
    assert time.monotonic() - start < 1


def test_one_that_has_gone_is_not_waited_for() -> None:
    stacked = StackedVlans(lambda: [PARENT, VLAN], lambda name: PARENT if name == "p0" else None)
    stacked.changed(PARENT)
    stacked.settle()
