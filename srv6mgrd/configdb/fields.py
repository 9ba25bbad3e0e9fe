"""The fields of a row, and what is wrong with them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Network
from typing import Any

from srv6mgrd.redis.schema import Fields, Table

# So much of a text is shown in messages.
_SHOWN = 40
# What YANG asks of names. Rows that YANG would reject are rejected here: libyang names but one
# mistake a commit.
_NAME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_.\-]*")
_VRF_NAMES_OF_THE_KERNEL = frozenset({"all", "default", "lo"})
_INTERFACE = re.compile(r"[^/\s]{1,15}")
_ROUTE_TARGET = re.compile(r"[0-9]{1,10}:[0-9]{1,10}|[0-9]{1,3}(\.[0-9]{1,3}){3}:[0-9]{1,5}")
DEFAULT_VRF = "default"


class RowError(Exception):
    """A row that declares nothing; the message says why, and what to do."""


def printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)[1:-1]


def shown(text: str) -> str:
    """A text of a row as messages show it: printable, and not too long."""
    text = printable(text[: 4 * _SHOWN])
    return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]}..."


@dataclass(frozen=True, slots=True)
class Row:
    row: str
    table: Table
    fields: Fields

    def error(self, cause: str, remedy: str) -> RowError:
        return RowError(f"{shown(self.row)}: {cause}; {remedy}")

    def name(self, what: str, text: str, length: int) -> str:
        """A name, as YANG has them."""
        if _NAME.fullmatch(text) is None:
            raise self.error(
                f"{what} '{shown(text)}' holds other characters than letters, digits, '_', '.' and"
                " '-', or starts with '.' or '-'",
                "rename it",
            )
        if len(text) > length:
            raise self.error(f"{what} {shown(text)} is longer than {length}", "shorten it")
        return text

    def need(self, name: str) -> str:
        if name not in self.fields:
            raise self.error(f"{name} is missing", f"add {name}")
        return self.fields[name]

    def number(self, name: str, default: int) -> int:
        text = self.fields.get(name, str(default))
        if self.table.fields[name].fault(text):
            raise self.error(f"{name} '{shown(text)}' is no number of bits", "write 0 to 128")
        return int(text)

    def one_of(self, name: str) -> str:
        """A field that has one of the values of the schema."""
        value, text = self.table.fields[name], self.fields[name]
        if value.fault(text):
            known = ", ".join(value.values)
            raise self.error(f"{name} '{shown(text)}' is unknown", f"write one of {known}")
        return text

    def within(self, name: str, text: str, least: int, most: int) -> int:
        """A number between both."""
        text = text.strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= 10):
            raise self.error(f"{name} is no number", f"write {least} to {most}")
        if not least <= int(text) <= most:
            raise self.error(f"{name} {text} is out of range", f"write {least} to {most}")
        return int(text)

    def needed_list(self, name: str) -> list[str]:
        """Values of a list, of which there is one at least."""
        if found := [word for part in self.need(name).split(",") if (word := part.strip())]:
            return found
        raise self.error(f"{name} is empty", "write values with commas between them")

    def exclude(self, name: str, other: str) -> None:
        """Reject two fields of which there can be but one."""
        if name in self.fields and other in self.fields:
            raise self.error(f"{name} and {other} exclude each other", "remove one of both")

    def only(self, name: str, value: str, why: str) -> None:
        """Reject a field with any other value."""
        if (said := self.fields.get(name, value)) != value:
            raise self.error(f"{name} {shown(said)} {why}", f"remove {name}, or write {value}")

    def vrf(self, what: str, text: str) -> str:
        if text in _VRF_NAMES_OF_THE_KERNEL:
            raise self.error(f"{what} {text} is a name that the kernel uses itself", "rename it")
        return self.name(what, text, 15)

    def interface(self, text: str) -> str:
        if _INTERFACE.fullmatch(text) is None or not text.isprintable():
            raise self.error(f"interface '{shown(text)}' is no name of an interface", "correct it")
        return text

    def route_target(self, what: str, text: str) -> str:
        """A route target or distinguisher."""
        if _ROUTE_TARGET.fullmatch(text) is None:
            raise self.error(
                f"{what} '{shown(text)}' is not AS:number or IPv4-address:number",
                "write it like 65000:100",
            )
        return text

    def route_targets(self, what: str, text: str) -> list[str]:
        """Route targets, separated by blanks."""
        return sorted({self.route_target(what, word) for word in text.split()})

    def parsed(self, what: str, text: str, parse: Callable[[str], Any], wanted: str) -> Any:
        try:
            if "%" in text:  # a zone
                raise ValueError(text)
            return parse(text)
        except ValueError:
            raise self.error(f"{what} '{shown(text)}' is no {wanted}", "correct it") from None


def ipv6_network(text: str) -> IPv6Network:
    if "/" not in text:
        raise ValueError(text)
    return IPv6Network(text, strict=False)
