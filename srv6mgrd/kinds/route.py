"""Routes of ours. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import ClassVar, Literal

from srv6mgrd.kinds.object import Object, Unknown
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.reserved import MAIN_TABLE, ROUTE_PROTOCOL

Family = Literal[4, 6]

# Worse than any other route, so that it is only hit when nothing else matches
# (Documentation/networking/vrf.rst).
UNREACHABLE_METRIC = 4278198272
SID_METRIC = 1024

Place = tuple[int, int, IPv4Network | IPv6Network]


class Route(Object):
    """A route of our protocol. Each names ``table``, ``metric`` and ``prefix``."""

    __slots__ = ()

    @property
    def place(self) -> Place:
        """The kernel's key of a route: two with the same place replace each other."""
        raise NotImplementedError

    @property
    def options(self) -> str:
        """Arguments of ``ip route`` behind the metric."""
        return ""

    @property
    def type(self) -> str:
        """Arguments of ``ip route`` before the prefix."""
        return ""

    def create_command(self) -> str:
        return f"{self._command('add')}{self.options}"

    def replace_command(self, before: Object) -> str:
        return f"{self._command('replace')}{self.options}"

    def delete_command(self) -> str:
        # What is ours at this place goes, however it is.
        return self._command("delete")

    def _command(self, verb: str) -> str:
        table, metric, prefix = self.place
        to = prefix if prefix.prefixlen else "default"
        return (
            f"ip -{prefix.version} route {verb} {self.type}{to} table {table} metric {metric}"
            f" protocol {ROUTE_PROTOCOL}"
        )

    def difference(self, was: Object) -> str:
        if was == self and self.lost_with is not None:
            return f"{self.short_label} went with its interface"
        return Object.difference(self, was)

    def conflict(self, found: Object) -> Rejection:
        if not isinstance(found, VrfDevice):
            return Object.conflict(self, found)
        return Rejection(
            self.label,
            f"table {found.table} belongs to VRF {found.name}, which srv6mgr did not make",
            "choose another table-id",
            "table-in-use",
        )


class DeviceRoute(Route):
    """A route that goes with its device. Any such may be beside it, with another metric."""

    __slots__ = ()

    device: str

    @property
    def key(self) -> str:
        return route_key(self.place)

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return (self.device,)

    @property
    def lost_with(self) -> str:
        return self.device


@dataclass(frozen=True, slots=True)
class UnknownRoute(Route, Unknown):
    """A route in the place of one of ours that has attributes we don't write. Only ever observed.

    ``known_as`` is the key of the route whose place it takes; a further route to the same prefix,
    with another metric, has the metric behind it.
    """

    rank: ClassVar[int] = 50
    known_as: str
    family: Family
    table: int
    prefix: IPv4Network | IPv6Network
    metric: int
    description: str

    @property
    def key(self) -> str:
        return self.known_as

    @property
    def label(self) -> str:
        return f"route {self.prefix}{in_table(self.table)}, {self.description}"

    @property
    def in_front(self) -> str:
        """The same where it takes packets of ours."""
        return f"route {self.prefix} metric {self.metric}: {self.description}"

    @property
    def place(self) -> Place:
        return self.table, self.metric, self.prefix

    def create_command(self) -> str:
        return ""

    def replace_command(self, before: Object) -> str:
        return ""

    def delete_command(self) -> str:
        return ""


def route_key(place: Place) -> str:
    """The key of a route that its metric distinguishes from others."""
    table, metric, prefix = place
    return f"route{prefix.version} table {table} {prefix} metric {metric}"


def in_table(table: int) -> str:
    return "" if table == MAIN_TABLE else f" in table {table}"
