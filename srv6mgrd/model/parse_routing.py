"""BGP, IS-IS and static routes of the configuration: YANG JSON (RFC 7951) to desired state."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Network, ip_address, ip_network
from typing import Any

from srv6mgrd.model.bgp import (
    NO_AS,
    AddPaths,
    Aggregate,
    Bgp,
    GracefulRestart,
    Neighbor,
    PeerKind,
    PrefixLimit,
    VpnFamily,
    VrfBgp,
)
from srv6mgrd.model.isis import (
    Authentication,
    Isis,
    IsisInterface,
    LspTimers,
    Overload,
    SpfDelay,
)
from srv6mgrd.model.ospf import DefaultInformation, Ospf, OspfInterface, OspfKey
from srv6mgrd.model.parse_policy import apply_policy
from srv6mgrd.model.prefix import Prefix
from srv6mgrd.model.static_routes import NextHop, SpecialNextHop, StaticRoute

_Entry = Mapping[str, Any]


def bgp(e: _Entry) -> Bgp:
    return Bgp(
        as_number=e["as-number"],
        router_id=IPv4Address(e["router-id"]),
        neighbors=_neighbors(e),
        graceful_restart=_graceful_restart(e),
    )


def vrf_bgp(e: _Entry) -> VrfBgp:
    redistribute = e.get("redistribute", {})
    return VrfBgp(
        rd=e["rd"],
        import_rts=tuple(sorted(e.get("import-rt", ()))),
        export_rts=tuple(sorted(e.get("export-rt", ()))),
        export_sid=_prefix(e.get("export-sid")),
        redistribute_connected=redistribute.get("connected", True),
        redistribute_static=redistribute.get("static", False),
        connected_policy=redistribute.get("connected-policy"),
        static_policy=redistribute.get("static-policy"),
        redistribute_ospf=redistribute.get("ospf", False),
        ospf_policy=redistribute.get("ospf-policy"),
        export_function=e.get("export-function"),
        # Type empty is [null] (RFC 7951 section 6.9).
        export_auto="export-auto" in e,
        locator=e.get("locator"),
        neighbors=_neighbors(e),
        export_sid_ipv4=_prefix(e.get("export-sid-ipv4")),
        export_sid_ipv6=_prefix(e.get("export-sid-ipv6")),
        apply_policy=apply_policy(e),
        ipv4=_family(e.get("ipv4-unicast", {})),
        ipv6=_family(e.get("ipv6-unicast", {})),
        maximum_paths_ebgp=e.get("maximum-paths", {}).get("ebgp"),
        maximum_paths_ibgp=e.get("maximum-paths", {}).get("ibgp"),
        aggregates=tuple(
            Aggregate(ip_network(one["prefix"], strict=False), one.get("summary-only", False))
            for one in e.get("aggregate", [])
        ),
    )


def _graceful_restart(e: _Entry) -> GracefulRestart | None:
    found = e.get("graceful-restart")
    if found is None:
        return None
    return GracefulRestart(
        found.get("restart-time", 120),
        found.get("stale-routes-time", 360),
        found.get("long-lived-stale-time"),
    )


def _family(e: _Entry) -> VpnFamily:
    return VpnFamily(
        e.get("rd"), tuple(sorted(e.get("import-rt", ()))), tuple(sorted(e.get("export-rt", ())))
    )


def _neighbors(e: _Entry) -> tuple[Neighbor, ...]:
    """Neighbors by address, those without one, and the peer groups that neighbors connect to."""
    groups: dict[str, _Entry] = {g["name"]: g for g in e.get("peer-group", ())}
    found = []
    for kind in PeerKind:
        for n in e.get(kind, ()):
            if kind is not PeerKind.DYNAMIC or n.get("dynamic-neighbor-prefix"):
                found.append(_neighbor(kind, _inherited(groups.get(n.get("peer-group"), {}), n)))
    return tuple(sorted(found, key=lambda n: n.address))


def _inherited(group: _Entry, own: _Entry) -> _Entry:
    """The values of a peer group where the neighbor has none; containers value by value."""
    found = {**{k: v for k, v in group.items() if k != "dynamic-neighbor-prefix"}, **own}
    for name, value in own.items():
        if isinstance(value, Mapping) and name in group:
            found[name] = {**group[name], **value}
    return found


def _neighbor(kind: PeerKind, n: _Entry) -> Neighbor:
    return Neighbor(
        address=n[kind.key],
        remote_as=n.get("remote-as", NO_AS),
        update_source=n.get("update-source"),
        description=n.get("description"),
        password=n.get("password"),
        keepalive=n.get("keepalive"),
        hold_time=n.get("hold-time"),
        bfd=n.get("bfd", False),
        route_reflector_client=n.get("route-reflector-client", False),
        ebgp_multihop=n.get("ebgp-multihop"),
        apply_policy=apply_policy(n),
        prefix_limit=_prefix_limit(n.get("prefix-limit", {})),
        allow_own_as=n.get("allow-own-as"),
        next_hop_self=n.get("next-hop-self", False),
        soft_reconfiguration=n.get("soft-reconfiguration", False),
        ttl_security=n.get("ttl-security"),
        enabled=n.get("enabled", True),
        shutdown_message=n.get("shutdown-message"),
        as_override=n.get("as-override", False),
        site_of_origin=n.get("site-of-origin"),
        default_originate=n.get("default-originate", False),
        kind=kind,
        prefixes=tuple(sorted(map(_network, n.get("dynamic-neighbor-prefix", ())))),
        families=tuple(sorted(int(f[3]) for f in n.get("address-family", ()))),
        add_paths=AddPaths(n["add-paths"]) if "add-paths" in n else None,
    )


def _network(text: str) -> str:
    return str(ip_network(text, strict=False))


def _prefix_limit(e: _Entry) -> PrefixLimit | None:
    if "max-prefixes" not in e:
        return None
    return PrefixLimit(
        maximum=e["max-prefixes"],
        threshold=e.get("warning-threshold-pct"),
        restart=e.get("restart-timer"),
        warning_only=e.get("warning-only", False),
    )


def isis(e: _Entry) -> Isis:
    overload = e.get("overload", {})
    interfaces = map(_isis_interface, e.get("interface", ()))
    return Isis(
        area=e["area"],
        system_id=e["system-id"],
        locator=e["locator"],
        level=e.get("level", "level-2"),
        interfaces=tuple(sorted(interfaces, key=lambda i: i.name)),
        additional_locators=tuple(sorted(e.get("additional-locator", ()))),
        timers=LspTimers(
            e.get("lsp-gen-interval", 1),
            e.get("lsp-refresh-interval", 900),
            e.get("lsp-lifetime", 1200),
        ),
        spf_delay=_spf_delay(e.get("ietf-spf-delay", {})),
        overload=Overload(overload.get("status", False), overload.get("on-startup")),
        area_authentication=_authentication(e.get("area-authentication"), "validate"),
        domain_authentication=_authentication(e.get("domain-authentication"), "validate"),
    )


def _isis_interface(e: _Entry) -> IsisInterface:
    return IsisInterface(
        name=e["name"],
        passive=e.get("passive", False),
        point_to_point=e.get("point-to-point", False),
        metric=e.get("metric"),
        hello_interval=e.get("hello-interval", 3),
        hello_multiplier=e.get("hello-multiplier", 3),
        bfd=e.get("bfd", False),
        authentication=_authentication(e.get("hello-authentication"), "none"),
    )


def _spf_delay(e: _Entry) -> SpfDelay:
    return SpfDelay(
        e.get("initial-delay", 50),
        e.get("short-delay", 200),
        e.get("long-delay", 5000),
        e.get("hold-down", 10000),
        e.get("time-to-learn", 500),
    )


def _authentication(e: _Entry | None, snp: str) -> Authentication | None:
    """``snp`` is what holds where nothing is said."""
    if e is None:
        return None
    return Authentication(e["password"], e.get("algorithm", "md5"), e.get("snp", snp))


def ospf(vrf: str, version: int, e: _Entry) -> Ospf:
    redistribute = e.get("redistribute", {})
    interfaces = (
        OspfInterface(
            name=i["name"],
            area=IPv4Address(i.get("area", "0.0.0.0")),
            cost=i.get("cost"),
            point_to_point=i.get("point-to-point", False),
            passive=i.get("passive", False),
            bfd=i.get("bfd", False),
            authentication=_ospf_key(version, i.get("authentication")),
        )
        for i in e.get("interface", ())
    )
    default = e.get("default-information")
    return Ospf(
        vrf=vrf,
        version=version,
        router_id=IPv4Address(e["router-id"]),
        interfaces=tuple(sorted(interfaces, key=lambda i: i.name)),
        redistribute=tuple(
            (source, redistribute.get(f"{source}-policy"))
            for source in ("bgp", "connected", "static")
            if redistribute.get(source, False)
        ),
        default_information=None
        if default is None
        else DefaultInformation(default.get("metric"), default.get("metric-type") == "type-1"),
    )


def _ospf_key(version: int, e: _Entry | None) -> OspfKey | None:
    if e is None:
        return None
    algorithm = "md5" if version == 2 else e.get("algorithm", "hmac-sha-256")
    return OspfKey(e["password"], e.get("key-id", 1), algorithm)


def static_route(vrf: str, e: _Entry) -> StaticRoute:
    hops = (
        NextHop(
            index=h["index"],
            address=ip_address(h["address"]) if "address" in h else None,
            interface=h.get("interface"),
            special=SpecialNextHop(h["special-next-hop"]) if "special-next-hop" in h else None,
            preference=h.get("preference", 1),
            bfd=h.get("bfd", False),
        )
        for h in e.get("next-hop", ())
    )
    return StaticRoute(
        vrf=vrf,
        prefix=ip_network(e["prefix"], strict=False),
        next_hops=tuple(sorted(hops, key=lambda h: h.index)),
        tag=e.get("tag"),
    )


def _prefix(text: str | None) -> IPv6Network | None:
    return Prefix.parse(text) if text else None
