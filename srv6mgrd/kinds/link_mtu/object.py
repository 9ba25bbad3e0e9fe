"""MTU of an interface. Pure."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from typing import ClassVar

from srv6mgrd.kinds.object import Object


@dataclass(frozen=True, slots=True)
class LinkMtu(Object):
    """MTU in bytes of an interface. Set when needed, never set back. ``order``: a VLAN's is at
    most that of its parent, which comes first (vlan_dev_change_mtu). Before sysctls: below 1280
    bytes there are none of IPv6."""

    rank: ClassVar[int] = 12
    bears_mark: ClassVar[bool] = False
    is_kept: ClassVar[bool] = True
    is_stacked: ClassVar[bool] = True
    interface: str
    mtu: int
    order: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        return f"mtu {self.interface}"

    @property
    def label(self) -> str:
        return f"MTU {self.mtu} of interface {self.interface}"

    @property
    def short_label(self) -> str:
        return f"MTU of {self.interface}"

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return (self.interface,)

    def create_command(self) -> str:
        return f"ip link set dev {self.interface} mtu {self.mtu}"

    def delete_command(self) -> str:
        return self.create_command()

    def difference(self, was: Object) -> str:
        if isinstance(was, LinkMtu):
            return f"{self.short_label} was {was.mtu}, is {self.mtu}"
        return Object.difference(self, was)

    def remedy(self, code: int) -> str:
        if code in (errno.EINVAL, errno.ERANGE):
            return "choose an mtu that the interface takes ('ip -d link'), that of a VLAN's parent"
        return Object.remedy(self, code)
