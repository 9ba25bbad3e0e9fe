"""``service-chaining`` of a configuration as YANG JSON (RFC 7951) to desired state."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Any

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import (
    Chain,
    Chains,
    Classifier,
    ClassifierRule,
    Egress,
    FailureAction,
    FunctionGroup,
    HealthCheck,
    Hop,
    ProxiedFunction,
    ServiceFunction,
    Way,
)

_Entry = Mapping[str, Any]

_PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "icmpv6": 58, "sctp": 132}


def chains(e: _Entry) -> Chains:
    return Chains(
        functions={one["name"]: _function(one) for one in e.get("service-function", ())},
        groups={
            one["name"]: FunctionGroup(one["name"], tuple(sorted(one["service-function"])))
            for one in e.get("service-function-group", ())
        },
        chains={one["name"]: _chain(one) for one in e.get("service-function-chain", ())},
        classifiers={one["name"]: _classifier(one) for one in e.get("classifier", ())},
    )


def _function(e: _Entry) -> ServiceFunction:
    check: _Entry = e.get("health-check", {})
    return ServiceFunction(
        name=e["name"],
        proxied=_proxied(e["proxy"]) if "proxy" in e else None,
        segments={
            (Family(family), Way(way)): IPv6Address(one["address"])
            for one in e.get("function-sid", ())
            for family in one["inner-type"]
            for way in one["direction"]
        },
        health_check=HealthCheck(
            check.get("enabled", True),
            check.get("interval", 100),
            check.get("failures", 2),
            check.get("successes", 10),
        ),
        weight=e.get("weight", 1),
        drain=e.get("drain", False),
    )


def _proxied(e: _Entry) -> ProxiedFunction:
    return ProxiedFunction(
        locator=e["locator"],
        sid_function=e["sid-function"],
        families=tuple(family for family in Family if family in e["inner-type"]),
        interface=e["interface"],
        return_interface=e.get("return-interface", e["interface"]),
        next_hops=_next_hops(e, ""),
        reverse_next_hops=_next_hops(e, "return-"),
        mtu=e.get("mtu"),
    )


def _next_hops(e: _Entry, side: str) -> dict[Family, IPv4Address | IPv6Address]:
    found: dict[Family, IPv4Address | IPv6Address] = {}
    if (text := e.get(f"{side}ipv4-next-hop")) is not None:
        found[Family.IPV4] = IPv4Address(text)
    if (text := e.get(f"{side}ipv6-next-hop")) is not None:
        found[Family.IPV6] = IPv6Address(text)
    return found


def _chain(e: _Entry) -> Chain:
    egresses = {Way.FORWARD: _egress(e.get("forward", {}))}
    if "reverse" in e:
        egresses[Way.REVERSE] = _egress(e["reverse"])
    return Chain(
        name=e["name"],
        hops=tuple(sorted(map(_hop, e.get("hop", ())), key=lambda hop: hop.index)),
        egresses=egresses,
        fallback=e.get("fallback-chain"),
    )


def _hop(e: _Entry) -> Hop:
    return Hop(
        e["index"],
        e.get("service-function"),
        e.get("service-function-group"),
        FailureAction(e.get("on-failure", FailureAction.BYPASS)),
    )


def _egress(e: _Entry) -> Egress:
    return Egress(e.get("vrf"), tuple(map(IPv6Address, e.get("segment", ()))))


def _classifier(e: _Entry) -> Classifier:
    return Classifier(
        name=e["name"],
        interfaces=tuple(sorted(e.get("interface", ()))),
        vrf=e.get("vrf"),
        rules=tuple(sorted(map(_rule, e.get("rule", ())), key=lambda rule: rule.priority)),
    )


def _rule(e: _Entry) -> ClassifierRule:
    protocol = e.get("protocol")
    return ClassifierRule(
        priority=e["priority"],
        chain=e.get("service-function-chain"),
        way=Way(e.get("direction", Way.FORWARD)),
        family=Family(e["inner-type"]) if "inner-type" in e else None,
        source=_network(e.get("source-prefix")),
        destination=_network(e.get("destination-prefix")),
        protocol=_PROTOCOLS.get(protocol, protocol) if protocol is not None else None,
        source_ports=_ports(e.get("source-port")),
        destination_ports=_ports(e.get("destination-port")),
        dscp=e.get("dscp"),
        mark=e.get("mark"),
    )


def _network(text: str | None) -> IPv4Network | IPv6Network | None:
    return ip_network(text, strict=False) if text is not None else None


def _ports(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    return int(first), int(last or first)
