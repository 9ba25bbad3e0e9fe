"""An 802.1Q subinterface. Pure."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from typing import ClassVar

from srv6mgrd.kinds.device import Device
from srv6mgrd.kinds.object import Object
from srv6mgrd.model import names
from srv6mgrd.model.reserved import LINK_ALIAS


@dataclass(frozen=True, slots=True)
class VlanDevice(Device):
    """An 802.1Q subinterface. ``order``: those that others are stacked on come first."""

    rank: ClassVar[int] = 1
    is_stacked: ClassVar[bool] = True
    name: str
    parent: str
    id: int
    order: int = field(default=0, compare=False)

    @property
    def label(self) -> str:
        return f"{names.interface(self.name)} (VLAN {self.id} of {self.parent})"

    @property
    def short_label(self) -> str:
        return names.interface(self.name)

    @property
    def tag(self) -> tuple[str, int]:
        """What two VLAN devices can't share (vlan_check_real_dev)."""
        return self.parent, self.id

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return (self.parent,)

    def keeps(self, was: Object) -> bool:
        # vlan_changelink: neither parent nor id can be changed.
        return isinstance(was, VlanDevice) and was.tag == self.tag

    def create_command(self) -> str:
        tag = f"type vlan id {self.id}"
        return f"ip link add link {self.parent} name {self.name} alias {LINK_ALIAS} {tag}"

    def remedy(self, code: int) -> str:
        if code == errno.EOPNOTSUPP:
            return "load the kernel module 8021q, or name a parent-interface that takes VLANs"
        return Device.remedy(self, code)
