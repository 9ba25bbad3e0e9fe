"""A VRF device. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srv6mgrd.kinds.device import Device
from srv6mgrd.kinds.object import Object
from srv6mgrd.model import names
from srv6mgrd.model.checks import table_in_use
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.reserved import LINK_ALIAS


@dataclass(frozen=True, slots=True)
class VrfDevice(Device):
    """A VRF device. The ifindex is pinned: End.DT4/DT46 remember it (``__seg6_end_dt_vrf_build``),
    so a recreated VRF with the same index revives its SIDs."""

    needs_mark: ClassVar[bool] = True
    name: str
    table: int
    ifindex: int
    up: bool = True

    @property
    def label(self) -> str:
        return names.vrf(self.name)

    @property
    def short_label(self) -> str:
        return f"VRF device {self.name}"

    @property
    def vrf_table(self) -> int:
        return self.table

    def keeps(self, was: Object) -> bool:
        # vrf_changelink: a VRF keeps its table; and no link changes its ifindex.
        return isinstance(was, VrfDevice) and (was.table, was.ifindex) == (self.table, self.ifindex)

    def create_command(self) -> str:
        made = f"ip link add {self.name} index {self.ifindex} alias {LINK_ALIAS} type vrf"
        return f"{made} table {self.table} && {self._state_command()}"

    def replace_command(self, before: Object) -> str:
        return self._state_command()

    def _state_command(self) -> str:
        return f"ip link set {self.name} {'up' if self.up else 'down'}"

    def conflict(self, found: Object) -> Rejection:
        if isinstance(found, VrfDevice) and found.name != self.name:
            return table_in_use(self.name, self.table, found.name)
        return Device.conflict(self, found)
