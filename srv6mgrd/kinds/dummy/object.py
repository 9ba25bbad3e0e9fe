"""An always-up dummy device. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srv6mgrd.kinds.device import Device
from srv6mgrd.kinds.object import Object
from srv6mgrd.model.reserved import LINK_ALIAS


@dataclass(frozen=True, slots=True)
class DummyDevice(Device):
    """An always-up dummy device of ours."""

    needs_mark: ClassVar[bool] = True
    name: str

    @property
    def label(self) -> str:
        return f"device {self.name}"

    def keeps(self, was: Object) -> bool:
        return isinstance(was, DummyDevice)

    def create_command(self) -> str:
        return (
            f"ip link add {self.name} alias {LINK_ALIAS} type dummy && ip link set {self.name} up"
        )
