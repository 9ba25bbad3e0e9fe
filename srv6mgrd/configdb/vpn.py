"""Rows of SONiC that make a VPN of locators, SIDs and VRFs: source, BGP, interfaces. Pure.

Names are those of frrcfgd (sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py). A
router of SONiC has many more of these rows than a VPN over SRv6 needs; those are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from unicodedata import category

from srv6mgrd.configdb.fields import DEFAULT_VRF, Row, shown
from srv6mgrd.configdb.objects import Declared, Kind, Object, Part
from srv6mgrd.redis.schema import table

SOURCE = table("CONFIG_DB", "SRV6_MY_SOURCE")
GLOBALS = table("CONFIG_DB", "BGP_GLOBALS")
FAMILIES = table("CONFIG_DB", "BGP_GLOBALS_AF")
NEIGHBORS = table("CONFIG_DB", "BGP_NEIGHBOR")
NEIGHBOR_FAMILIES = table("CONFIG_DB", "BGP_NEIGHBOR_AF")
INTERFACES = table("CONFIG_DB", "INTERFACE")

# SONiC's fixtures write 255; the model, as FRR counts, has one less.
_MOST_HOPS = 254
# Of FRR (lib/vty.h, bgpd/bgp_vty.c).
_DESCRIPTION = 80
_VPN = frozenset({"ipv4_vpn", "ipv6_vpn"})
_UNICAST = {"ipv4_unicast": "ipv4-unicast", "ipv6_unicast": "ipv6-unicast"}
SPEAKER = Object(Kind.BGP)
_SPEAKER_ROW = f"{GLOBALS.prefix}{DEFAULT_VRF}"


def _vrf_part(r: Row, vrf: str, content: Mapping[str, Any], *warnings: str) -> Part:
    name = r.vrf("VRF", vrf)
    return Part(Object(Kind.VRF, name), f"VRF|{name}", content, warnings)


def source(parts: list[str], r: Row) -> Declared:
    address = r.parsed("source-address", r.need("source-address"), IPv6Address, "IPv6 address")
    return Declared(Object(Kind.ENCAPSULATION), {"source-address": str(address)})


def bgp_globals(parts: list[str], r: Row) -> Declared | Part | None:
    if parts[0] != DEFAULT_VRF:
        if (said := r.fields.get("sid_vpn_per_vrf_export_explicit")) is None:
            return None
        what = "sid_vpn_per_vrf_export_explicit"
        address = r.parsed(what, said.partition("/")[0], IPv6Address, "IPv6 address")
        return _vrf_part(r, parts[0], {"export": str(address)})
    asn = _asn(r, "local_asn", r.need("local_asn"))
    router_id = r.need("router_id").strip()
    identifier = r.parsed("router_id", router_id, IPv4Address, "IPv4 address")
    warnings: tuple[str, ...] = ()
    if "srv6_locator" in r.fields:
        warnings = (
            "srv6_locator has no effect: the locator of an exported SID is that of the SID",
        )
    return Declared(SPEAKER, {"as-number": asn, "router-id": str(identifier)}, warnings)


def bgp_family(parts: list[str], r: Row) -> Part | None:
    vrf, family = parts
    if vrf == DEFAULT_VRF or family not in _UNICAST or "rd_vpn_export" not in r.fields:
        return None
    both, imported, exported = (
        r.route_targets(name, r.fields.get(name, ""))
        for name in ("rt_vpn_both", "rt_vpn_import", "rt_vpn_export")
    )
    imported, exported = sorted({*imported, *both}), sorted({*exported, *both})
    if not imported or not exported:
        raise r.error(
            "a VPN imports and exports by route targets",
            "add rt_vpn_both, or rt_vpn_import and rt_vpn_export",
        )
    content: dict[str, Any] = {
        "family": _UNICAST[family],
        "rd": r.route_target("rd_vpn_export", r.fields["rd_vpn_export"].strip()),
        "import-rt": imported,
        "export-rt": exported,
        "exports": r.fields.get("export_vpn", "true") == "true",
    }
    if "redistribute_connected" in r.fields:
        content["connected"] = r.fields["redistribute_connected"] == "true"
    if "max_ebgp_paths" in r.fields:
        content["ebgp"] = _number(r, "max_ebgp_paths", 1, 256)
    warnings = [
        f"{name} has no effect"
        for name in ("rmap_vpn_export", "rmap_vpn_import", "redistribute_static_rmap")
        if name in r.fields
    ]
    if r.fields.get("import_vpn", "true") != "true":
        warnings.append("import_vpn false has no effect: write rt_vpn_import that nobody exports")
    return _vrf_part(r, vrf, {"families": [content]}, *warnings)


def bgp_neighbor(parts: list[str], r: Row) -> Part | None:
    vrf, text = parts
    if "asn" not in r.fields:
        return None
    address = str(r.parsed("neighbor", text, ip_address, "IP address"))
    neighbor: dict[str, Any] = {"remote-as": _asn(r, "asn", r.fields["asn"])}
    warnings: tuple[str, ...] = ()
    if name := r.fields.get("name"):
        if _is_description(name):
            neighbor["description"] = name
        else:
            warnings = (
                f"name '{shown(name)}' has no effect: a description has {_DESCRIPTION} characters"
                " at most, in words with one blank between them",
            )
    if local := r.fields.get("local_addr"):
        neighbor["update-source"] = str(r.parsed("local_addr", local, ip_address, "IP address"))
    if r.fields.get("ebgp_multihop") == "true":
        hops = _number(r, "ebgp_multihop_ttl", 1, 255) if "ebgp_multihop_ttl" in r.fields else 255
        if hops > 1:
            neighbor["ebgp-multihop"] = min(hops, _MOST_HOPS)
    if r.fields.get("admin_status", "true") not in ("true", "up"):
        neighbor["enabled"] = False
    content = {"neighbors": {address: neighbor}}
    if vrf == DEFAULT_VRF:
        return Part(SPEAKER, _SPEAKER_ROW, content, warnings)
    return _vrf_part(r, vrf, content, *warnings)


def _is_description(text: str) -> bool:
    """Whether FRR takes it for a description (srv6mgr-bgp.yang): bytes that are no UTF-8 are none
    either."""
    words = text.split(" ")
    return len(text) <= _DESCRIPTION and all(
        word and all(category(character)[0] in "LNPS" for character in word) for word in words
    )


def bgp_neighbor_family(parts: list[str], r: Row) -> Part | None:
    vrf, rest = parts
    text, _, family = rest.rpartition("|")
    if vrf != DEFAULT_VRF or family not in _VPN:
        return None
    if r.fields.get("admin_status", "true") not in ("true", "up"):
        return None
    address = str(r.parsed("neighbor", text, ip_address, "IP address"))
    return Part(SPEAKER, _SPEAKER_ROW, {"vpn": [address]})


def interface(parts: list[str], r: Row) -> Part | None:
    vrf = r.fields.get("vrf_name")
    if "|" in parts[0] or not vrf or vrf == DEFAULT_VRF:
        return None  # an address, or an interface of the underlay
    return _vrf_part(r, vrf, {"interfaces": [r.interface(parts[0])]})


def _asn(r: Row, name: str, text: str) -> int:
    return r.within(name, text, 1, (1 << 32) - 1)


def _number(r: Row, name: str, least: int, most: int) -> int:
    return r.within(name, r.fields[name], least, most)
