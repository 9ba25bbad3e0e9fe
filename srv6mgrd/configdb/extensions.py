"""Rows of tables of our own: of what SONiC has no name for. Pure.

``yang/sonic/sonic-srv6mgr.yang`` has them for SONiC's tools.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from srv6mgrd.configdb.fields import DEFAULT_VRF, Row, ipv6_network
from srv6mgrd.configdb.objects import PROXY, Declared, Kind, Object, Part
from srv6mgrd.redis.schema import table

LISTS = table("CONFIG_DB", "SRV6MGR_SEGMENT_LIST")
ROUTES = table("CONFIG_DB", "SRV6MGR_STEERING")
PROXIES = table("CONFIG_DB", "SRV6MGR_PROXY")
VPNS = table("CONFIG_DB", "SRV6MGR_VPN")
ROLES = table("CONFIG_DB", "SRV6MGR_INTERFACE")
ACCOUNTS = table("CONFIG_DB", "SRV6MGR_ACCOUNTING")

_MOST_SEGMENTS = 16


def segment_list(parts: list[str], r: Row) -> Declared:
    name = r.name("segment list", parts[0], 64)
    segments = [text.strip() for text in r.need("path").split(",")]
    if len(segments) > _MOST_SEGMENTS:
        raise r.error(f"path has {len(segments)} segments", f"write {_MOST_SEGMENTS} at most")
    addresses = [r.parsed("segment", text, IPv6Address, "IPv6 address") for text in segments]
    listed = [{"index": n, "sid": str(address)} for n, address in enumerate(addresses)]
    return Declared(Object(Kind.SEGMENT_LIST, name), {"segment": listed})


def route(parts: list[str], r: Row) -> Declared | Part:
    vrf, text = parts
    prefix = str(r.parsed("prefix", text, ip_network, "prefix"))
    leaves: dict[str, Any] = {"segment-list": r.name("segment list", r.need("segment_list"), 64)}
    if "behavior" in r.fields:
        leaves["behavior"] = r.one_of("behavior")
    if source := r.fields.get("seg_src"):
        leaves["source-address"] = str(r.parsed("seg_src", source, IPv6Address, "IPv6 address"))
    if vrf == DEFAULT_VRF:
        if name := r.fields.get("interface"):
            leaves["interface"] = r.interface(name)
        return Declared(Object(Kind.ROUTE, prefix), leaves)
    name = r.vrf("VRF", vrf)
    if "interface" in r.fields:
        raise r.error("interface means nothing to a route of a VRF", "remove interface")
    return Part(Object(Kind.VRF, name), f"VRF|{name}", {"routes": {prefix: leaves}})


def vpn(parts: list[str], r: Row) -> Part:
    """As rows of BGP_GLOBALS and BGP_GLOBALS_AF for ipv4_unicast and ipv6_unicast."""
    name = r.vrf("VRF", parts[0])
    content: dict[str, Any] = {
        "families": [
            {
                "family": "ipv4-unicast",
                "rd": r.route_target("rd", r.need("rd")),
                "import-rt": r.route_targets("rt_import", r.need("rt_import")),
                "export-rt": r.route_targets("rt_export", r.need("rt_export")),
                "exports": True,
            }
        ]
    }
    if text := r.fields.get("export_sid"):
        content["export"] = str(r.parsed("export_sid", text, IPv6Address, "IPv6 address"))
    return Part(Object(Kind.VRF, name), f"VRF|{name}", content)


def proxy(parts: list[str], r: Row) -> Declared:
    locator = r.name("locator", parts[0], 64)
    prefix = str(r.parsed("SID", parts[1], ipv6_network, "IPv6 prefix"))
    r.need("behavior")
    members: dict[str, Any] = {"interface": r.interface(r.need("interface"))}
    r.need("inner_type")
    members["inner-type"] = r.one_of("inner_type")
    if name := r.fields.get("return_interface"):
        members["return-interface"] = r.interface(name)
    if text := r.fields.get("adj"):
        members["next-hop"] = str(r.parsed("adj", text, ip_address, "IP address"))
    if name := r.fields.get("segment_list"):
        members["segment-list"] = r.name("segment list", name, 64)
    if text := r.fields.get("seg_src"):
        members["source-address"] = str(r.parsed("seg_src", text, IPv6Address, "IPv6 address"))
    leaves = {"locator": locator, "behavior": r.one_of("behavior"), PROXY: members}
    return Declared(Object(Kind.SID, prefix), leaves)


def role(parts: list[str], r: Row) -> Declared:
    r.need("role")
    return Declared(Object(Kind.INTERFACE, r.interface(parts[0])), {"role": r.one_of("role")})


def accounting(parts: list[str], r: Row) -> Declared:
    if r.table.parts[0].fault(parts[0]):
        raise r.error("there is one row of this table", "write SRV6MGR_ACCOUNTING|global")
    r.need("enabled")
    return Declared(Object(Kind.ACCOUNTING), {"enabled": r.one_of("enabled") == "true"})
