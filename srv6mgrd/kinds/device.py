"""Devices of ours. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from srv6mgrd.kinds.object import Object, Unknown


class Device(Object):
    """A link that srv6mgrd makes, named by ``name``."""

    __slots__ = ()

    rank: ClassVar[int] = 0
    takes_addresses: ClassVar[bool] = True
    name: str

    @property
    def key(self) -> str:
        return f"link {self.name}"

    def keeps(self, was: Object) -> bool:
        """Whether the kernel need not make it again where ``was`` is (the adapter's
        ``is_live``)."""
        raise NotImplementedError

    def delete_command(self) -> str:
        return f"ip link delete {self.name}"


@dataclass(frozen=True, slots=True)
class UnknownLink(Unknown):
    """A link in the place of one of ours that is something else. Only ever observed."""

    rank: ClassVar[int] = 0
    name: str
    description: str

    @property
    def key(self) -> str:
        return f"link {self.name}"

    @property
    def label(self) -> str:
        return f"device {self.name}, {self.description}"
