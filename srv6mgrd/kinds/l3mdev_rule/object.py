"""The rule that has packets of VRFs look up the table of their VRF. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.route import Family

# As the kernel makes it (vrf_fib_rule in drivers/net/vrf.c).
L3MDEV_PRIORITY = 1000


@dataclass(frozen=True, slots=True)
class L3mdevRule(Object):
    """The l3mdev rule of a family. The kernel makes it with the first VRF and never again, so once
    it is flushed (``ip rule flush``) packets of customers are routed by the main table. Set when
    needed, never taken away: VRFs of others need it too."""

    rank: ClassVar[int] = 1
    bears_mark: ClassVar[bool] = False
    is_kept: ClassVar[bool] = True
    family: Family

    @property
    def key(self) -> str:
        return f"l3mdev rule IPv{self.family}"

    @property
    def label(self) -> str:
        return f"IPv{self.family} rule that looks up the tables of VRFs (l3mdev)"

    @property
    def short_label(self) -> str:
        return f"IPv{self.family} l3mdev rule"

    def create_command(self) -> str:
        return f"ip -{self.family} rule add priority {L3MDEV_PRIORITY} l3mdev protocol kernel"
