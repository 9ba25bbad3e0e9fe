"""IPv6 rules that lead locators into the table of our SIDs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from typing import ClassVar

from srv6mgrd.kinds.object import Object, Unknown
from srv6mgrd.model.reserved import ROUTE_PROTOCOL


@dataclass(frozen=True, slots=True)
class Rule(Object):
    """An IPv6 rule that sends packets to a prefix (from ``source``, if given) into a table."""

    rank: ClassVar[int] = 60
    priority: int
    to: IPv6Network
    table: int
    source: IPv6Address | None = None

    @property
    def key(self) -> str:
        return f"rule {self.priority} to {self.to}"

    @property
    def label(self) -> str:
        return f"rule {self.priority} that looks up {self.to} in table {self.table}"

    @property
    def short_label(self) -> str:
        return f"rule {self.priority} to {self.to}"

    @property
    def in_front(self) -> str:
        """The same where it takes packets of ours."""
        return f"{self.short_label}: table {self.table}"

    def create_command(self) -> str:
        return f"ip -6 rule add {self._selectors()}"

    def replace_command(self, before: Object) -> str:
        # Rules can't be changed: the new one is there before the old one goes.
        gone = f" && {before.delete_command()}" if isinstance(before, Rule) else ""
        return f"{self.create_command()}{gone}"

    def delete_command(self) -> str:
        return f"ip -6 rule delete {self._selectors()}"

    def _selectors(self) -> str:
        source = f"from {self.source} " if self.source is not None else ""
        return (
            f"priority {self.priority} {source}to {self.to} table {self.table}"
            f" protocol {ROUTE_PROTOCOL}"
        )


@dataclass(frozen=True, slots=True)
class UnknownRule(Unknown):
    """A rule in the place of one of ours that has more or other selectors. Only ever observed.

    ``place`` is the key of the Rule whose place it takes; a further rule with the same priority and
    prefix has its table or selectors behind it. ``source`` is whose packets it takes (None:
    anybody's), ``table`` where it leads them (0: nowhere).
    """

    rank: ClassVar[int] = 60
    place: str
    priority: int
    to: IPv6Network
    description: str
    source: IPv6Network | None = None
    table: int = 0

    @property
    def key(self) -> str:
        return self.place

    @property
    def label(self) -> str:
        return f"rule {self.priority} to {self.to}, {self.description}"

    @property
    def in_front(self) -> str:
        return f"rule {self.priority} to {self.to}: {self.description}"
