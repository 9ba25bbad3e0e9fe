"""``interfaces/interface`` of a configuration as YANG JSON (RFC 7951) to desired state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Interface, IPv6Interface
from typing import Any

from srv6mgrd.model.interfaces import Address, Interface, Vlan

_MODULE = "srv6mgr-interfaces:"
_Entry = Mapping[str, Any]


def interfaces(entries: Iterable[_Entry]) -> dict[str, Interface]:
    """By name those of which more is declared than a role, or nothing at all."""
    found = {e["name"]: _interface(e) for e in entries}
    roles = {e["name"] for e in entries if "role" in e}
    return {n: one for n, one in found.items() if n not in roles or one != Interface(n)}


def _interface(e: _Entry) -> Interface:
    vlan = e.get(f"{_MODULE}vlan")
    return Interface(
        name=e["name"],
        loopback=e.get(f"{_MODULE}type") == "loopback",
        vlan=None if vlan is None else Vlan(vlan["parent-interface"], vlan["vlan-id"]),
        enabled=e.get(f"{_MODULE}enabled"),
        mtu=e.get(f"{_MODULE}mtu"),
        addresses=tuple(_addresses(e)),
    )


def _addresses(e: _Entry) -> Iterator[Address]:
    """In the order of the addresses, so that the order of entries makes no difference."""
    ipv4 = e.get(f"{_MODULE}ipv4", {}).get("address", ())
    ipv6 = e.get(f"{_MODULE}ipv6", {}).get("address", ())
    yield from sorted(IPv4Interface((a["ip"], a["prefix-length"])) for a in ipv4)
    yield from sorted(IPv6Interface((a["ip"], a["prefix-length"])) for a in ipv6)
