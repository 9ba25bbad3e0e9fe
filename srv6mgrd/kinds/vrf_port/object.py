"""An interface in a VRF. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srv6mgrd.kinds.object import Object
from srv6mgrd.model import names
from srv6mgrd.model.rejection import Rejection


@dataclass(frozen=True, slots=True)
class VrfPort(Object):
    """An interface in a VRF."""

    rank: ClassVar[int] = 30
    bears_mark: ClassVar[bool] = False
    takes_addresses: ClassVar[bool] = True
    interface: str
    vrf: str

    @property
    def key(self) -> str:
        return f"port {self.interface}"

    @property
    def label(self) -> str:
        return f"{names.interface(self.interface)} of {names.vrf(self.vrf)}"

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return (self.interface,)

    @property
    def owned_lines(self) -> tuple[str, ...]:
        return (self.vrf,)

    def create_command(self) -> str:
        return f"ip link set {self.interface} vrf {self.vrf}"

    def delete_command(self) -> str:
        return f"ip link set {self.interface} nomaster"

    def missing(self) -> str:
        return f"interface {self.interface} had left VRF {self.vrf}"

    def difference(self, was: Object) -> str:
        if isinstance(was, VrfPort):
            return f"interface {self.interface} was in VRF {was.vrf}, is in {self.vrf}"
        return Object.difference(self, was)

    def conflict(self, found: Object) -> Rejection:
        if not isinstance(found, VrfPort):
            return Object.conflict(self, found)
        return Rejection(
            self.label,
            f"it is in VRF {found.vrf}, which srv6mgr did not make",
            f"take it out ('ip link set {found.interface} nomaster') or declare another one",
            "foreign-object",
        )
