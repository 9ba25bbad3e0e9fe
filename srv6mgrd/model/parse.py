"""Configuration as YANG JSON (RFC 7951) to desired state.

The input has passed libyang: types, keys, mandatory nodes and leafrefs hold. What is checked
here is only that the shape is what this version knows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from srv6mgrd.model import (
    names,
    parse_chains,
    parse_interfaces,
    parse_measurement,
    parse_policy,
    parse_routing,
)
from srv6mgrd.model.accounting import Accounting, Watch
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.desired import (
    Desired,
    Locator,
    Proxy,
    Role,
    SegmentList,
    Sid,
    SteeredRoute,
    Vrf,
)
from srv6mgrd.model.entries import entries
from srv6mgrd.model.leaking import DEFAULT_VRF, Leak
from srv6mgrd.model.prefix import Prefix
from srv6mgrd.model.rejection import Rejection

SRV6 = "srv6mgr-srv6:srv6"
BGP = "srv6mgr-bgp:bgp"
ISIS = "srv6mgr-isis:isis"
STATIC_ROUTES = "srv6mgr-routing:static-routes"
OSPF, OSPFV3 = "srv6mgr-ospf:ospf", "srv6mgr-ospf:ospfv3"
LEAKING = "srv6mgr-routing:route-leaking"
DEFAULT = "srv6mgr-routing:default-vrf"
STEERING = "srv6mgr-steering:steering"
ROUTING_POLICY = "srv6mgr-routing-policy:routing-policy"
PROXY = "srv6mgr-proxy:proxy"
PATH_MEASUREMENT = "srv6mgr-path-measurement:path-measurement"
ACCOUNTING = "srv6mgr-accounting:accounting"
CHAINING = "srv6mgr-chain:service-chaining"

_Entry = Mapping[str, Any]
_NOTHING = Desired()
# What most SIDs have.
_NO_FLAVORS: frozenset[Flavor] = frozenset()
_PLAIN = frozenset(
    {
        "prefix", "locator", "behavior", "vrf", "next-hop", "interface", "segment-list",
        "bpf-program", "counters",
    }
)  # fmt: skip
_BEHAVIORS: Mapping[str, Behavior] = {behavior.value: behavior for behavior in Behavior}


def parse(config: _Entry, known: Desired = _NOTHING) -> Desired:
    """Desired state of a configuration tree; defaults of the YANG model filled in.

    SIDs and locators that ``known`` has alike are those of ``known``, so that a
    reader of many finds changes by ``is``.
    """
    srv6: _Entry = config.get(SRV6, {})
    encapsulation: _Entry = srv6.get("encapsulation", {})
    vrfs = list(entries(srv6, "vrfs", "vrf"))
    interfaces = list(entries(srv6, "interfaces", "interface"))
    routes = [_route(None, e) for e in entries(srv6, STEERING, "route")]
    for vrf in vrfs:
        routes += [_route(vrf["name"], e) for e in entries(vrf, STEERING, "route")]
    static = [
        parse_routing.static_route(vrf["name"], e)
        for vrf in vrfs
        for e in entries(vrf, STATIC_ROUTES, "route")
    ]
    main: _Entry = srv6.get(DEFAULT, {})
    leaks = [Leak(DEFAULT_VRF, e["vrf"], e["policy"]) for e in main.get("import-from", ())]
    leaks += [
        Leak(vrf["name"], e["vrf"], e.get("policy"))
        for vrf in vrfs
        for e in entries(vrf, LEAKING, "import-from")
    ]
    # The identities that group behaviors are derived from the base too.
    sids: list[_Entry] = []
    strange: list[_Entry] = []
    for e in entries(srv6, "local-sids", "sid"):
        (sids if _behavior(e) in _BEHAVIORS else strange).append(e)
    return Desired(
        encapsulation_source=_ipv6(encapsulation.get("source-address")),
        locators=_kept(
            {e["name"]: _locator(e) for e in entries(srv6, "locators", "locator")}, known.locators
        ),
        vrfs={e["name"]: _vrf(e) for e in vrfs},
        roles={e["name"]: Role(e["role"]) for e in interfaces if "role" in e},
        interfaces=parse_interfaces.interfaces(interfaces),
        sids=_sids(sids, known.sids),
        malformed={Prefix.parse(e["prefix"]): _malformed(e) for e in strange},
        bgp=parse_routing.bgp(srv6[BGP]) if BGP in srv6 else None,
        isis=parse_routing.isis(srv6[ISIS]) if ISIS in srv6 else None,
        hop_limit=encapsulation.get("hop-limit"),
        flow_label=encapsulation.get("flow-label", "copy"),
        segment_lists={
            e["name"]: _segment_list(e) for e in entries(srv6, "segment-lists", "segment-list")
        },
        routes={route.name: route for route in routes},
        static_routes={route.name: route for route in static},
        leaks={leak.name: leak for leak in leaks},
        ospf={e["name"]: parse_routing.ospf(e["name"], 2, e[OSPF]) for e in vrfs if OSPF in e},
        ospfv3={
            e["name"]: parse_routing.ospf(e["name"], 3, e[OSPFV3]) for e in vrfs if OSPFV3 in e
        },
        main_redistribute=tuple(sorted(main.get("redistribute", ()))),
        default_role=Role(srv6.get("boundary", {}).get("default-role", Role.CUSTOMER)),
        routing_policy=parse_policy.routing_policy(srv6.get(ROUTING_POLICY, {})),
        chains=parse_chains.chains(srv6.get(CHAINING, {})),
        path_measurement=parse_measurement.path_measurement(srv6.get(PATH_MEASUREMENT, {})),
        accounting=_accounting(srv6.get(ACCOUNTING, {})),
        accept_unsupported=srv6.get("unsupported", "refuse") == "accept",
    )


def _accounting(tree: Mapping[str, Any]) -> Accounting:
    watch = Watch(tree.get("drops", {}).get("watch", Watch.ON_ERRORS))
    return Accounting(tree.get("enabled", False), watch)


def _kept(made: dict[str, Locator], known: Mapping[str, Locator]) -> dict[str, Locator]:
    return {name: known[name] if known.get(name) == m else m for name, m in made.items()}


def _sids(entries: Iterable[_Entry], known: Mapping[IPv6Network, Sid]) -> dict[IPv6Network, Sid]:
    """By prefix. Few SIDs change at a time: to find one alike is cheaper than to make it again."""
    by_text = {str(prefix): sid for prefix, sid in known.items()}
    found = {}
    for e in entries:
        sid = by_text.get(e["prefix"])
        if sid is None or not _is_like(sid, e):
            sid = _sid(e)
        found[sid.prefix] = sid
    return found


def _is_like(sid: Sid, e: _Entry) -> bool:
    """Whether ``_sid`` would make this SID of the entry. Those with rarer arguments are made."""
    return (
        e.keys() <= _PLAIN
        and e["behavior"].rpartition(":")[2] == sid.behavior
        and e["locator"] == sid.locator
        and e.get("vrf") == sid.vrf
        and e.get("interface") == sid.interface
        and e.get("segment-list") == sid.segment_list
        and e.get("bpf-program") == sid.bpf_program
        and e.get("counters", True) == sid.counters
        and _ip(e.get("next-hop")) == sid.next_hop
        and not sid.flavors
        and sid.proxy is None
        and not sid.default_vrf
    )


def entry(sid: Sid) -> dict[str, Any] | None:
    """The entry that this SID was made of, defaults left out; None for one with rarer
    arguments."""
    if sid.flavors or sid.proxy is not None:
        return None
    found = {
        "prefix": str(sid.prefix),
        "locator": sid.locator,
        "behavior": sid.behavior.value,
        "vrf": sid.vrf,
        "next-hop": None if sid.next_hop is None else str(sid.next_hop),
        "interface": sid.interface,
        "segment-list": sid.segment_list,
        "bpf-program": sid.bpf_program,
        "counters": None if sid.counters else False,
        "default-vrf": sid.default_vrf or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def sid(e: _Entry) -> Sid | None:
    """The SID of an entry; None when its behavior is none."""
    return _sid(e) if _behavior(e) in _BEHAVIORS else None


def _ipv6(text: str | None) -> IPv6Address | None:
    return IPv6Address(text) if text else None


# Next hops are few beside the SIDs that name them.
@lru_cache(maxsize=1024)
def _ip(text: str | None) -> IPv4Address | IPv6Address | None:
    return ip_address(text) if text else None


def _locator(e: _Entry) -> Locator:
    return Locator(
        name=e["name"],
        prefix=Prefix.parse(e["prefix"]),
        block_length=e.get("block-length", 32),
        node_length=e.get("node-length", 16),
        function_length=e.get("function-length", 16),
        argument_length=e.get("argument-length", 0),
        micro_segment=e.get("micro-segment", False),
    )


def _vrf(e: _Entry) -> Vrf:
    return Vrf(
        name=e["name"],
        table=e["table-id"],
        interfaces=tuple(sorted(e.get("interface", ()))),
        bgp=parse_routing.vrf_bgp(e[BGP]) if BGP in e else None,
    )


def _segment_list(e: _Entry) -> SegmentList:
    segments = sorted(e.get("segment", ()), key=lambda s: s["index"])
    return SegmentList(e["name"], tuple(IPv6Address(s["sid"]) for s in segments))


def _route(vrf: str | None, e: _Entry) -> SteeredRoute:
    return SteeredRoute(
        vrf=vrf,
        prefix=ip_network(e["prefix"], strict=False),
        segment_list=e["segment-list"],
        behavior=Headend(e.get("behavior", Headend.H_ENCAPS)),
        source=_ipv6(e.get("source-address")),
        interface=e.get("interface"),
        metric=e.get("metric", 1024),
    )


def _sid(e: _Entry) -> Sid:
    return Sid(
        prefix=Prefix.parse(e["prefix"]),
        # Thousands of SIDs share a name.
        locator=sys.intern(e["locator"]),
        behavior=_BEHAVIORS[_behavior(e)],
        vrf=e.get("vrf"),
        next_hop=_ip(e.get("next-hop")),
        interface=e.get("interface"),
        segment_list=e.get("segment-list"),
        bpf_program=e.get("bpf-program"),
        flavors=frozenset(map(Flavor, e["flavor"])) if "flavor" in e else _NO_FLAVORS,
        counters=e.get("counters", True),
        proxy=_proxy(e[PROXY]) if PROXY in e else None,
        default_vrf=e.get("default-vrf", False),
    )


def _behavior(e: _Entry) -> str:
    # RFC 7951 section 6.8: the module name may be before the identity.
    name: str = e["behavior"].rpartition(":")[2]
    return name


def _malformed(e: _Entry) -> Rejection:
    prefix = e["prefix"]
    return Rejection(
        names.sid(prefix),
        f"{_behavior(e)} is not a behavior of its own",
        f"choose {', '.join(Behavior)}",
        "sid-behavior",
        f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{prefix}']",
    )


def _proxy(e: _Entry) -> Proxy:
    return Proxy(
        inner_type=e["inner-type"],
        interface=e["interface"],
        return_interface=e.get("return-interface", e["interface"]),
        next_hop=_ip(e.get("next-hop")),
        segment_list=e.get("segment-list"),
        source=_ipv6(e.get("source-address")),
        age=e.get("age"),
        per_flow=e.get("per-flow", False),
        decrement_hop_limit=e.get("decrement-hop-limit", True),
        passes=tuple(sorted(map(_pass, e.get("pass", ())))),
        mtu=e.get("mtu"),
    )


def _pass(text: str) -> str:
    return str(ip_network(text, strict=False)) if "/" in text else text
