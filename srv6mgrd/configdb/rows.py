"""Rows of CONFIG_DB to what they declare. Pure.

What the model can judge it judges; refused here is only what can't be said in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from ipaddress import IPv6Address, IPv6Network
from typing import Any

from srv6mgrd.redis.schema import Fields, Table, table

LOCATORS = table("CONFIG_DB", "SRV6_MY_LOCATORS")
SIDS = table("CONFIG_DB", "SRV6_MY_SIDS")
VRFS = table("CONFIG_DB", "VRF")
# What others refer to comes first.
TABLES = (LOCATORS, VRFS, SIDS)

# A hash, or the name of the Redis type that stands there in place of one.
Content = Fields | str
# Members of a list entry as RFC 7951 has them, but for the key.
Leaves = Mapping[str, Any]

_DEFAULT = "default"
_NEXT_CSID = ["next-csid"]
# So much of a text is shown in messages.
_SHOWN = 40
# What YANG asks of names. Rows that YANG would reject are rejected here: libyang names but one
# mistake a commit.
_NAME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_.\-]*")
_VRF_NAMES_OF_THE_KERNEL = frozenset({"all", "default", "lo"})
_INTERFACE = re.compile(r"[^/\s]{1,15}")
_DECAPSULATE = {"uDT4": "End.DT4", "uDT6": "End.DT6", "uDT46": "End.DT46"}


class RowError(Exception):
    """A row that declares nothing; the message says why, and what to do."""


class Kind(StrEnum):
    """Kinds of objects that rows declare, by the words that refusals name them with."""

    LOCATOR = "locator"
    VRF = "VRF"
    SID = "SID"

    @property
    def path(self) -> tuple[str, str, str]:
        """Container, list and its key below ``/srv6``."""
        return _PATHS[self]


_PATHS = {
    Kind.LOCATOR: ("locators", "locator", "name"),
    Kind.VRF: ("vrfs", "vrf", "name"),
    Kind.SID: ("local-sids", "sid", "prefix"),
}


@dataclass(frozen=True, slots=True, order=True)
class Object:
    """An object of the model: its kind and its key."""

    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Declared:
    """What a row declares, and which of its fields have no effect. A VRF's table is given to it
    elsewhere."""

    object: Object
    leaves: Leaves = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def references(leaves: Leaves) -> list[tuple[Kind, str]]:
    """Objects that an object's leaves name."""
    found = [(Kind.LOCATOR, leaves.get("locator")), (Kind.VRF, leaves.get("vrf"))]
    return [(kind, str(name)) for kind, name in found if name is not None]


def order(row: str) -> tuple[int, str]:
    """Rows in the order in which they depend on one another."""
    return next((n for n, t in enumerate(TABLES) if row.startswith(t.prefix)), len(TABLES)), row


def declare(row: str, content: Content) -> Declared | None:
    """What a row declares; None when that is nothing. Raises RowError."""
    found = next(t for t in TABLES if row.startswith(t.prefix))
    if isinstance(content, str):
        raise RowError(
            f"{shown(row)}: it is a {content}, not a hash; remove it and write it with HSET"
        )
    read = {LOCATORS.name: _locator, SIDS.name: _sid, VRFS.name: _vrf}[found.name]
    parts = row.removeprefix(found.prefix).split("|", len(found.parts) - 1)
    if len(parts) != len(found.parts) or not all(parts):
        shape = found.prefix + "|".join(f"<{p.name}>" for p in found.parts)
        raise RowError(f"{shown(row)}: the key is not {shape}; remove it and write that key")
    known = {n: v for n, v in content.items() if (n, v) != ("NULL", "NULL")}
    declared = read(parts, _Row(row, found, known))
    unknown = sorted(known.keys() - found.fields.keys())
    if declared is None or not unknown:
        return declared
    # SONiC's daemons pass over what they do not know.
    warning = f"field {shown(', '.join(map(printable, unknown)))} is unknown and has no effect"
    return replace(declared, warnings=(*declared.warnings, warning))


def printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)[1:-1]


def shown(text: str) -> str:
    """A text of a row as messages show it: printable, and not too long."""
    text = printable(text[: 4 * _SHOWN])
    return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]}..."


@dataclass(frozen=True, slots=True)
class _Row:
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

    def only(self, name: str, value: str, why: str) -> None:
        """Refuse a field that says anything else."""
        if (said := self.fields.get(name, value)) != value:
            raise self.error(f"{name} {shown(said)} {why}", f"remove {name}, or write {value}")


def _locator(parts: list[str], r: _Row) -> Declared:
    r.name("locator", parts[0], 64)
    r.only("vrf", _DEFAULT, "can't be: a locator belongs to the underlay")
    lengths = {
        f"{name}-length": r.number(f"{short}_len", default)
        for name, short, default in (
            ("block", "block", 32),
            ("node", "node", 16),
            ("function", "func", 16),
            ("argument", "arg", 0),
        )
    }
    if sum(lengths.values()) > 128:
        raise r.error(f"the lengths sum to {sum(lengths.values())} bits", "shorten one")
    if not lengths["block-length"] or not lengths["node-length"]:
        raise r.error("block_len and node_len are 1 at least", "write 8 or more")
    if any(length % 8 for name, length in lengths.items() if name != "argument-length"):
        raise r.error(
            "the lengths of micro-segments are whole bytes (net/ipv6/seg6_local.c)",
            "choose multiples of 8",
        )
    address = _parsed(r, "prefix", r.need("prefix"), IPv6Address, "address, without a length")
    length = lengths["block-length"] + lengths["node-length"]
    prefix = str(IPv6Network((int(address), length), strict=False))
    # bgpcfgd makes every locator one of micro-segments (managers_srv6.py: behavior usid).
    leaves = {"prefix": prefix, **lengths, "micro-segment": True}
    return Declared(Object(Kind.LOCATOR, parts[0]), leaves)


def _sid(parts: list[str], r: _Row) -> Declared:
    locator, text = r.name("locator", parts[0], 64), parts[1]
    prefix = str(_parsed(r, "SID", text, _network, "prefix"))
    action = r.need("action")
    if r.table.fields["action"].fault(action):
        known = ", ".join(r.table.fields["action"].values)
        raise r.error(f"action '{shown(action)}' is unknown", f"write one of {known}")
    leaves: dict[str, Any] = {"locator": locator}
    if action in _DECAPSULATE:
        leaves["behavior"] = _DECAPSULATE[action]
        vrf = r.fields.get("decap_vrf", _DEFAULT)
        if vrf != _DEFAULT:
            leaves["vrf"] = _vrf_name(r, "decap_vrf", vrf)
        elif action != "uDT6":
            raise r.error(
                f"{action} into the default VRF is not what the kernel does", "add decap_vrf"
            )
    else:
        r.only("decap_vrf", _DEFAULT, f"means nothing to {action}")
        leaves |= {"behavior": "End", "flavor": _NEXT_CSID}
    if action == "uA":
        leaves["behavior"] = "End.X"
        leaves["next-hop"] = str(_parsed(r, "adj", r.need("adj"), IPv6Address, "address"))
        leaves["interface"] = interface = r.need("interface")
        if _INTERFACE.fullmatch(interface) is None:
            raise r.error(
                f"interface '{shown(interface)}' is no name of an interface", "correct it"
            )
    elif unused := [n for n in ("interface", "adj") if n in r.fields]:
        raise r.error(f"{unused[0]} means nothing to {action}", f"remove {unused[0]}")
    return Declared(Object(Kind.SID, prefix), leaves, _dscp_warnings(r))


def _dscp_warnings(r: _Row) -> tuple[str, ...]:
    mode = r.fields.get("decap_dscp_mode", "pipe")
    if fault := r.table.fields["decap_dscp_mode"].fault(mode):
        raise r.error(shown(fault), "write uniform or pipe")
    if mode == "pipe":
        return ()
    return ("decap_dscp_mode uniform has no effect in the kernel, which keeps the inner DSCP",)


def _vrf_name(r: _Row, what: str, text: str) -> str:
    if text in _VRF_NAMES_OF_THE_KERNEL:
        raise r.error(f"{what} {text} is a name that the kernel uses itself", "rename it")
    return r.name(what, text, 15)


def _vrf(parts: list[str], r: _Row) -> Declared | None:
    r.only("fallback", "false", "is not offered: what a VRF doesn't know it drops")
    r.only("vni", "0", "is not offered: VRFs are carried over SRv6, not VXLAN")
    if parts[0] == _DEFAULT:
        return None
    return Declared(Object(Kind.VRF, _vrf_name(r, "VRF", parts[0])))


def _network(text: str) -> IPv6Network:
    if "/" not in text:
        raise ValueError(text)
    return IPv6Network(text, strict=False)


def _parsed(r: _Row, what: str, text: str, parse: Callable[[str], Any], wanted: str) -> Any:
    try:
        if "%" in text:  # a zone
            raise ValueError(text)
        return parse(text)
    except ValueError:
        raise r.error(f"{what} '{shown(text)}' is no IPv6 {wanted}", "correct it") from None
