"""A value under /proc/sys. Pure."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import ClassVar

from srv6mgrd.kinds.object import Object

_IPV6_OF_ONE = "net/ipv6/conf/"


@dataclass(frozen=True, slots=True)
class Sysctl(Object):
    """A value under /proc/sys, named by its path below it. Set when needed, never set back."""

    rank: ClassVar[int] = 20
    bears_mark: ClassVar[bool] = False
    is_kept: ClassVar[bool] = True
    path: str
    value: str

    @property
    def key(self) -> str:
        return f"sysctl {self.path}"

    @property
    def label(self) -> str:
        return f"sysctl {self.path}"

    @property
    def short_label(self) -> str:
        return self.path.replace("/", ".")

    @property
    def hangs_on(self) -> tuple[str, ...]:
        # net/ipv6/conf/NAME/...
        parts = self.path.split("/")
        return (parts[3],) if parts[2:3] == ["conf"] and len(parts) > 3 else ()

    def create_command(self) -> str:
        # sysctl(8): dots separate, and a slash stands for a dot in a name (eth0.100).
        name = self.path.replace(".", "%").replace("/", ".").replace("%", "/")
        return f"sysctl -w {name}={self.value}"

    def delete_command(self) -> str:
        return self.create_command()

    def difference(self, was: Object) -> str:
        if isinstance(was, Sysctl):
            return f"{self.short_label} was {was.value}, is {self.value}"
        return Object.difference(self, was)

    def remedy(self, code: int) -> str:
        if self.path == "net/vrf/strict_mode":
            if code == errno.EBUSY:
                return (
                    "two VRF devices share a table; remove or move one ('ip -d link show type vrf')"
                )
            if code == errno.ENOENT:
                return "load the kernel module vrf"
        if code == errno.ENOENT and self.path.startswith(_IPV6_OF_ONE):
            return "see that the interface has IPv6: an MTU of at least 1280, and no ipv6.disable=1"
        return Object.remedy(self, code)
