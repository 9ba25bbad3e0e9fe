"""Topology files: TOML in, checked and frozen objects out. Pure."""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from lab.problem import LabError

ROLES = ("router", "host")
# A node names a folder, an interface must fit the kernel's IFNAMSIZ.
NODE_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
INTERFACE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9._-]{0,14}")
RESERVED_INTERFACES = ("lo", "all", "default")
LEAST_MTU = 1280  # of IPv6
GREATEST_MTU = 65535


@dataclass(frozen=True, slots=True)
class Route:
    """A static route of a node."""

    to: str
    via: str


@dataclass(frozen=True, slots=True)
class Node:
    """A router or a host."""

    name: str
    role: str
    lo: tuple[str, ...] = ()
    interfaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    routes: tuple[Route, ...] = ()
    gateway: tuple[str, ...] = ()
    sysctl: Mapping[str, str] = field(default_factory=dict)
    # Boots a fresh Debian with systemd, instead of sharing the lab's root.
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A cable between two interfaces."""

    ends: tuple[tuple[str, str], tuple[str, str]]
    mtu: int = 1500


@dataclass(frozen=True, slots=True)
class Topology:
    """A network to bring up."""

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def with_fresh(self, names: Collection[str]) -> Topology:
        """The same with those nodes booting a fresh Debian."""
        for name in names:
            if name not in {node.name for node in self.nodes}:
                raise LabError(f"--fresh {name}", f"topology {self.name} has no such node")
        return replace(
            self, nodes=tuple(replace(node, fresh=node.name in names) for node in self.nodes)
        )


def parse(text: str, source: str) -> Topology:
    """The topology in `text`; `source` names it in errors."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LabError(source, f"is not TOML: {error}") from error
    _known(table, ("name", "nodes", "links"), source)
    name = table.get("name")
    if not isinstance(name, str) or not NODE_NAME.fullmatch(name):
        raise LabError(source, f"name is {name!r}", "give it a name of small letters, digits, -")
    nodes = tuple(
        _node(key, value, f"{source}: node {key}")
        for key, value in _table(table.get("nodes", {}), f"{source}: nodes").items()
    )
    if not nodes:
        raise LabError(source, "has no nodes", "add a table [nodes.NAME]")
    links = tuple(
        _link(value, f"{source}: link {number}")
        for number, value in enumerate(_list(table.get("links", []), f"{source}: links"), start=1)
    )
    topology = Topology(name, nodes, links)
    _check_ends(topology, source)
    return topology


def from_json(table: Mapping[str, Any]) -> Topology:
    """The inverse of Topology.as_json."""
    nodes = tuple(
        Node(
            name=node["name"],
            role=node["role"],
            lo=tuple(node["lo"]),
            interfaces={key: tuple(value) for key, value in node["interfaces"].items()},
            routes=tuple(Route(**route) for route in node["routes"]),
            gateway=tuple(node["gateway"]),
            sysctl=dict(node["sysctl"]),
            fresh=node["fresh"],
        )
        for node in table["nodes"]
    )
    links = tuple(
        Link(ends=(tuple(link["ends"][0]), tuple(link["ends"][1])), mtu=link["mtu"])
        for link in table["links"]
    )
    return Topology(table["name"], nodes, links)


def _node(name: str, value: object, subject: str) -> Node:
    if not NODE_NAME.fullmatch(name):
        raise LabError(subject, "is not a node name", "use small letters, digits and -")
    table = _table(value, subject)
    _known(table, ("role", "lo", "interfaces", "routes", "gateway", "sysctl"), subject)
    role = table.get("role")
    if role not in ROLES:
        raise LabError(subject, f"role is {role!r}", f"use one of {', '.join(ROLES)}")
    interfaces: dict[str, tuple[str, ...]] = {}
    for interface, addresses in _table(table.get("interfaces", {}), subject).items():
        where = f"{subject}: interface {interface}"
        _check_interface(interface, where)
        interfaces[interface] = _addresses(addresses, where)
    sysctl = {
        key: str(setting) for key, setting in _table(table.get("sysctl", {}), subject).items()
    }
    for key in sysctl:
        if not re.fullmatch(r"[a-z0-9_]+([./][A-Za-z0-9_-]+)+", key):
            raise LabError(f"{subject}: sysctl {key}", "is not the name of one")
    gateways = tuple(
        _address(item, f"{subject}: gateway")
        for item in _list(table.get("gateway", []), f"{subject}: gateway")
    )
    return Node(
        name=name,
        role=str(role),
        lo=_addresses(table.get("lo", []), f"{subject}: lo"),
        interfaces=interfaces,
        routes=tuple(
            _route(item, subject) for item in _list(table.get("routes", []), f"{subject}: routes")
        ),
        gateway=gateways,
        sysctl=sysctl,
    )


def _route(value: object, subject: str) -> Route:
    table = _table(value, f"{subject}: route")
    _known(table, ("to", "via"), f"{subject}: route")
    to, via = table.get("to"), table.get("via")
    where = f"{subject}: route to {to}"
    try:
        network = ipaddress.ip_network(str(to))
    except ValueError as error:
        raise LabError(where, str(error), "write a prefix such as 2001:db8::/64") from error
    hop = ipaddress.ip_address(_address(via, f"{where}: via"))
    if hop.version != network.version:
        raise LabError(where, f"next hop {via} is of the other family")
    return Route(str(network), str(hop))


def _link(value: object, subject: str) -> Link:
    table = _table(value, subject)
    _known(table, ("ends", "mtu"), subject)
    ends = _list(table.get("ends"), f"{subject}: ends")
    if len(ends) != 2:
        raise LabError(subject, f"has {len(ends)} ends", 'write ends = ["a:eth0", "b:eth0"]')
    first, second = (_end(item, subject) for item in ends)
    mtu = table.get("mtu", 1500)
    if type(mtu) is not int or not LEAST_MTU <= mtu <= GREATEST_MTU:
        raise LabError(
            subject, f"mtu is {mtu!r}", f"use a number from {LEAST_MTU} to {GREATEST_MTU}"
        )
    return Link((first, second), mtu)


def _end(value: object, subject: str) -> tuple[str, str]:
    node, colon, interface = str(value).partition(":")
    if not colon or not node:
        raise LabError(subject, f"end {value!r} is not NODE:INTERFACE")
    _check_interface(interface, f"{subject}: end {value}")
    return node, interface


def _check_interface(name: str, subject: str) -> None:
    if not INTERFACE_NAME.fullmatch(name) or name in RESERVED_INTERFACES:
        raise LabError(
            subject, f"{name!r} is no name for it", "use up to 15 letters, digits, '.', '_', '-'"
        )


def _check_ends(topology: Topology, source: str) -> None:
    names = {node.name for node in topology.nodes}
    owner: dict[tuple[str, str], int] = {}
    for number, link in enumerate(topology.links, start=1):
        for name, interface in link.ends:
            if name not in names:
                raise LabError(
                    f"{source}: link {number}", f"node {name} does not exist",
                    f"nodes are {', '.join(sorted(names))}",
                )  # fmt: skip
            earlier = owner.setdefault((name, interface), number)
            if earlier != number or link.ends[0] == link.ends[1]:
                raise LabError(
                    f"{source}: link {number}", f"{name}:{interface} has a cable already",
                    f"see link {earlier}",
                )  # fmt: skip
    for node in topology.nodes:
        for interface in node.interfaces:
            if (node.name, interface) not in owner:
                raise LabError(
                    f"{source}: node {node.name}: interface {interface}", "is on no link",
                    f'add a link with the end "{node.name}:{interface}"',
                )  # fmt: skip


def _addresses(value: object, subject: str) -> tuple[str, ...]:
    found = []
    for item in _list(value, subject):
        text = str(item)
        if "/" not in text:
            raise LabError(f"{subject}: address {text}", "has no prefix length", "add /LENGTH")
        try:
            found.append(str(ipaddress.ip_interface(text)))
        except ValueError as error:
            raise LabError(f"{subject}: address {text}", str(error)) from error
    return tuple(found)


def _address(value: object, subject: str) -> str:
    try:
        return str(ipaddress.ip_address(str(value)))
    except ValueError as error:
        raise LabError(subject, str(error)) from error


def _known(table: Mapping[str, object], keys: tuple[str, ...], subject: str) -> None:
    for key in table:
        if key not in keys:
            raise LabError(subject, f"{key!r} is unknown", f"known are {', '.join(keys)}")


def _table(value: object, subject: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LabError(subject, f"is {value!r}, not a table")
    return value


def _list(value: object, subject: str) -> list[Any]:
    if not isinstance(value, list):
        raise LabError(subject, f"is {value!r}, not a list")
    return value
