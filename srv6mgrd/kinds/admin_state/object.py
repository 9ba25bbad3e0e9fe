"""Administrative state of an interface. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from srv6mgrd.kinds.object import Object
from srv6mgrd.model import names


@dataclass(frozen=True, slots=True)
class AdminState(Object):
    """Administrative state of an interface. Set when needed, never set back. ``order``: a VLAN can
    be up only if its parent is (vlan_dev_open), and goes up with it (vlan_device_event), as it does
    when the parent enters a VRF: so this comes after that."""

    rank: ClassVar[int] = 31
    bears_mark: ClassVar[bool] = False
    is_kept: ClassVar[bool] = True
    is_stacked: ClassVar[bool] = True
    takes_addresses: ClassVar[bool] = True
    interface: str
    up: bool
    order: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        return f"admin {self.interface}"

    @property
    def label(self) -> str:
        return f"{names.interface(self.interface)}, {self._state}"

    @property
    def short_label(self) -> str:
        return f"administrative state of {self.interface}"

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return (self.interface,)

    @property
    def _state(self) -> str:
        return "up" if self.up else "down"

    def create_command(self) -> str:
        return f"ip link set dev {self.interface} {self._state}"

    def delete_command(self) -> str:
        return self.create_command()

    def difference(self, was: Object) -> str:
        if isinstance(was, AdminState):
            return f"interface {self.interface} was {'down' if self.up else 'up'}"
        return Object.difference(self, was)
