"""Rows of tables of our own that declare service function chains. Pure.

Names are those of srv6mgr-chain.yang. Lists are as SONiC's ConfigDBConnector writes them: the name
of the field ends with '@', commas separate the values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Any

from srv6mgrd.configdb.fields import Row, shown
from srv6mgrd.configdb.objects import Declared, Kind, Object, Part
from srv6mgrd.redis.schema import Table, table

FUNCTIONS = table("CONFIG_DB", "SRV6MGR_SERVICE_FUNCTION")
FUNCTION_SIDS = table("CONFIG_DB", "SRV6MGR_FUNCTION_SID")
GROUPS = table("CONFIG_DB", "SRV6MGR_SERVICE_FUNCTION_GROUP")
CHAINS = table("CONFIG_DB", "SRV6MGR_SERVICE_FUNCTION_CHAIN")
HOPS = table("CONFIG_DB", "SRV6MGR_CHAIN_HOP")
CLASSIFIERS = table("CONFIG_DB", "SRV6MGR_CLASSIFIER")
RULES = table("CONFIG_DB", "SRV6MGR_CLASSIFIER_RULE")

_NAME = 32
_UINT32 = (1 << 32) - 1
_SEGMENTS = 8
_INNER_TYPES = ("ipv4", "ipv6", "ethernet")
_DIRECTIONS = ("forward", "reverse")
_PROTOCOLS = ("icmp", "tcp", "udp", "icmpv6", "sctp")
_PORTS = re.compile(r"[0-9]{1,5}(-[0-9]{1,5})?")
_OF_PROXY = frozenset(
    {
        "locator",
        "sid_function",
        "inner_type@",
        "interface",
        "return_interface",
        "ipv4_next_hop",
        "ipv6_next_hop",
        "return_ipv4_next_hop",
        "return_ipv6_next_hop",
        "mtu",
    }
)
_HEALTH = {
    "health_interval": ("interval", 20, 60000),
    "health_failures": ("failures", 1, 255),
    "health_successes": ("successes", 1, 255),
}


def function(parts: list[str], r: Row) -> Declared:
    leaves: dict[str, Any] = {}
    if not _OF_PROXY.isdisjoint(r.fields):
        leaves["proxy"] = _proxy(r)
    if health := _health(r):
        leaves["health-check"] = health
    if "weight" in r.fields:
        leaves["weight"] = r.within("weight", r.fields["weight"], 1, 100)
    if "drain" in r.fields:
        leaves["drain"] = r.one_of("drain") == "true"
    return Declared(_function(r, parts[0]), leaves)


def _proxy(r: Row) -> dict[str, Any]:
    proxy: dict[str, Any] = {
        "locator": r.name("locator", r.need("locator"), 64),
        "sid-function": r.within("sid_function", r.need("sid_function"), 1, _UINT32),
        "inner-type": _choices(r, "inner_type@", _INNER_TYPES),
        "interface": r.interface(r.need("interface")),
    }
    if "return_interface" in r.fields:
        proxy["return-interface"] = r.interface(r.fields["return_interface"])
    for side in ("", "return_"):
        for name, parse, wanted in (
            (f"{side}ipv4_next_hop", IPv4Address, "IPv4 address"),
            (f"{side}ipv6_next_hop", IPv6Address, "IPv6 address"),
        ):
            if name in r.fields:
                address = r.parsed(name, r.fields[name], parse, wanted)
                proxy[name.replace("_", "-")] = str(address)
    if "mtu" in r.fields:
        proxy["mtu"] = r.within("mtu", r.fields["mtu"], 1280, 65535)
    return proxy


def _health(r: Row) -> dict[str, Any]:
    health: dict[str, Any] = {}
    # True is the default, which the running configuration leaves out.
    if "health_check" in r.fields and r.one_of("health_check") == "false":
        health["enabled"] = False
    for name, (leaf, least, most) in _HEALTH.items():
        if name in r.fields:
            health[leaf] = r.within(name, r.fields[name], least, most)
    return health


def function_sid(parts: list[str], r: Row) -> Part:
    address = str(r.parsed("SID", parts[1], IPv6Address, "IPv6 address, without a length"))
    leaves = {
        "inner-type": _choices(r, "inner_type@", _INNER_TYPES),
        "direction": _choices(r, "direction@", _DIRECTIONS),
    }
    return _part(_function(r, parts[0]), FUNCTIONS, {"function-sid": {address: leaves}})


def group(parts: list[str], r: Row) -> Declared:
    obj = Object(Kind.FUNCTION_GROUP, r.name("service function group", parts[0], _NAME))
    names = {r.name("service function", name, _NAME) for name in r.needed_list("functions@")}
    return Declared(obj, {"service-function": sorted(names)})


def chain(parts: list[str], r: Row) -> Declared:
    leaves: dict[str, Any] = {}
    for way in _DIRECTIONS:
        if egress := _egress(r, f"{way}_vrf", f"{way}_segments@"):
            leaves[way] = egress
    if name := r.fields.get("fallback_chain"):
        leaves["fallback-chain"] = r.name("service function chain", name, _NAME)
    return Declared(_chain(r, parts[0]), leaves)


def _egress(r: Row, vrf: str, segments: str) -> dict[str, Any]:
    r.exclude(vrf, segments)
    if vrf in r.fields:
        return {"vrf": r.vrf(vrf, r.fields[vrf])}
    if segments not in r.fields:
        return {}
    found = [
        str(r.parsed("segment", text, IPv6Address, "IPv6 address"))
        for text in r.needed_list(segments)
    ]
    if len(found) > _SEGMENTS:
        raise r.error(f"{segments} has {len(found)} segments", f"write {_SEGMENTS} at most")
    if twice := next((s for s in found if found.count(s) > 1), None):
        raise r.error(f"{segments} has {twice} twice", "remove one of both")
    return {"segment": found}


def hop(parts: list[str], r: Row) -> Part:
    index = _key(r, "index", parts[1], 255)
    one, several = "service_function", "service_function_group"
    r.exclude(one, several)
    leaves: dict[str, Any] = {}
    if several in r.fields:
        name = r.name("service function group", r.fields[several], _NAME)
        leaves["service-function-group"] = name
    elif one in r.fields:
        leaves["service-function"] = r.name("service function", r.fields[one], _NAME)
    else:
        raise r.error("packets have to go through something", f"add {one} or {several}")
    if "on_failure" in r.fields:
        leaves["on-failure"] = r.one_of("on_failure")
    return _part(_chain(r, parts[0]), CHAINS, {"hop": {index: leaves}})


def classifier(parts: list[str], r: Row) -> Declared:
    obj = _classifier(r, parts[0])
    r.exclude("vrf", "interfaces@")
    if "vrf" in r.fields:
        return Declared(obj, {"vrf": r.vrf("vrf", r.fields["vrf"])})
    if "interfaces@" in r.fields:
        names = {r.interface(name) for name in r.needed_list("interfaces@")}
        return Declared(obj, {"interface": sorted(names)})
    return Declared(obj)


def rule(parts: list[str], r: Row) -> Part:
    priority = _key(r, "priority", parts[1], _UINT32)
    leaves = {
        name.replace("_", "-"): read(r, name) for name, read in _OF_RULE.items() if name in r.fields
    }
    return _part(_classifier(r, parts[0]), CLASSIFIERS, {"rule": {priority: leaves}})


def _protocol(r: Row, name: str) -> str | int:
    text = r.fields[name]
    if text in _PROTOCOLS:
        return text
    if text.isascii() and text.isdecimal() and len(text) <= 3 and int(text) <= 255:
        return int(text)
    known = ", ".join(_PROTOCOLS)
    raise r.error(f"{name} '{shown(text)}' is unknown", f"write 0 to 255, or one of {known}")


def _ports(r: Row, name: str) -> str:
    text = r.fields[name]
    if _PORTS.fullmatch(text) is None:
        raise r.error(
            f"{name} '{shown(text)}' is no number and no range", "write it like 443 or 8000-8999"
        )
    return text


def _prefix(r: Row, name: str) -> str:
    return str(r.parsed(name, r.fields[name], _network, "prefix"))


def _network(text: str) -> object:
    if "/" not in text:
        raise ValueError(text)
    return ip_network(text, strict=False)


_OF_RULE: Mapping[str, Callable[[Row, str], Any]] = {
    "inner_type": Row.one_of,
    "source_prefix": _prefix,
    "destination_prefix": _prefix,
    "protocol": _protocol,
    "source_port": _ports,
    "destination_port": _ports,
    "dscp": lambda r, name: r.within(name, r.fields[name], 0, 63),
    "mark": lambda r, name: r.within(name, r.fields[name], 0, _UINT32),
    "service_function_chain": lambda r, name: r.name(
        "service function chain", r.fields[name], _NAME
    ),
    "direction": Row.one_of,
}


_WHOLES = {
    FUNCTION_SIDS: Kind.SERVICE_FUNCTION,
    HOPS: Kind.FUNCTION_CHAIN,
    RULES: Kind.CLASSIFIER,
}
_BASES = {
    Kind.SERVICE_FUNCTION: FUNCTIONS,
    Kind.FUNCTION_CHAIN: CHAINS,
    Kind.CLASSIFIER: CLASSIFIERS,
}


def whole_of(row: str) -> tuple[Object, str] | None:
    """The object that a row is to be a part of, and the row that declares it; by its key alone."""
    for of, kind in _WHOLES.items():
        if row.startswith(of.prefix):
            name = row.removeprefix(of.prefix).partition("|")[0]
            return Object(kind, name), f"{_BASES[kind].prefix}{name}"
    return None


def _function(r: Row, name: str) -> Object:
    return Object(Kind.SERVICE_FUNCTION, r.name("service function", name, _NAME))


def _chain(r: Row, name: str) -> Object:
    return Object(Kind.FUNCTION_CHAIN, r.name("service function chain", name, _NAME))


def _classifier(r: Row, name: str) -> Object:
    return Object(Kind.CLASSIFIER, r.name("classifier", name, _NAME))


def _part(obj: Object, of: Table, content: Mapping[str, Any]) -> Part:
    return Part(obj, f"{of.prefix}{obj.name}", content)


def _choices(r: Row, name: str, known: Iterable[str]) -> list[str]:
    found = set(r.needed_list(name))
    if unknown := found.difference(known):
        said = ", ".join(known)
        raise r.error(f"{name} '{shown(min(unknown))}' is unknown", f"write any of {said}")
    return sorted(found)


def _key(r: Row, name: str, text: str, most: int) -> int:
    """Two texts of one number would be two rows of one entry."""
    number = r.within(name, text, 0, most)
    if str(number) != text:
        raise r.error(f"{name} '{shown(text)}' is not how {number} is written", f"write {number}")
    return number
