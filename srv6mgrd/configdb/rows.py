"""Rows of CONFIG_DB to what they declare. Pure.

The model judges what it can; only values that it can't express are rejected here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network
from typing import Any

from srv6mgrd.configdb import chains, extensions, vpn
from srv6mgrd.configdb.fields import DEFAULT_VRF, Row, RowError, ipv6_network, printable, shown
from srv6mgrd.configdb.objects import Content, Declared, Kind, Object, Part
from srv6mgrd.configdb.verdict import SERVED_BY_BGPCFGD, WITHOUT_BGP, Verdict
from srv6mgrd.redis.schema import Table, table

LOCATORS = table("CONFIG_DB", "SRV6_MY_LOCATORS")
SIDS = table("CONFIG_DB", "SRV6_MY_SIDS")
VRFS = table("CONFIG_DB", "VRF")

_NEXT_CSID = ["next-csid"]
_DECAPSULATE = {"uDT4": "End.DT4", "uDT6": "End.DT6", "uDT46": "End.DT46"}


def order(row: str) -> tuple[int, str]:
    """Rows in the order in which they depend on one another."""
    return next((n for n, t in enumerate(TABLES) if row.startswith(t.prefix)), len(TABLES)), row


def is_known(row: str) -> bool:
    """Whether it is of a table that is read."""
    return row.startswith(_PREFIXES)


def declare(row: str, content: Content) -> Declared | Part | None:
    """What a row declares; None when that is nothing. Raises RowError."""
    found = next(t for t in TABLES if row.startswith(t.prefix))
    if isinstance(content, str):
        raise RowError(
            f"{shown(row)}: it is a {content}, not a hash; remove it and write it with HSET"
        )
    read = _READERS[found]
    parts = row.removeprefix(found.prefix).split("|", len(found.parts) - 1)
    if found is vpn.NEIGHBORS and len(parts) == 1:
        return None  # bgpcfgd's, which have no VRF in their key (managers_bgp.py)
    if len(parts) != len(found.parts) or not all(parts):
        shape = found.prefix + "|".join(f"<{p.name}>" for p in found.parts)
        raise RowError(f"{shown(row)}: the key is not {shape}; remove it and write that key")
    known = {n: v for n, v in content.items() if (n, v) != ("NULL", "NULL")}
    declared = read(parts, Row(row, found, known))
    unknown = sorted(known.keys() - found.fields.keys())
    if declared is None or not unknown or found in _OF_SONIC:
        return declared
    # SONiC's daemons pass over what they do not know.
    warning = f"field {shown(', '.join(map(printable, unknown)))} is unknown and has no effect"
    return replace(declared, warnings=(*declared.warnings, warning))


def _locator(parts: list[str], r: Row) -> Declared:
    r.name("locator", parts[0], 64)
    r.only("vrf", DEFAULT_VRF, "can't be: a locator belongs to the underlay")
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
    length = lengths["block-length"] + lengths["node-length"]
    # Fixtures of sonic-mgmt write the length, too, which YANG has not.
    text = r.need("prefix").removesuffix(f"/{length}")
    address = r.parsed("prefix", text, IPv6Address, "IPv6 address, without a length")
    prefix = str(IPv6Network((int(address), length), strict=False))
    # bgpcfgd makes every locator one of micro-segments (managers_srv6.py: behavior usid).
    leaves = {"prefix": prefix, **lengths, "micro-segment": True}
    return Declared(Object(Kind.LOCATOR, parts[0]), leaves)


def _sid(parts: list[str], r: Row) -> Declared:
    locator, text = r.name("locator", parts[0], 64), parts[1]
    prefix = str(r.parsed("SID", text, ipv6_network, "IPv6 prefix"))
    action = r.need("action")
    if r.table.fields["action"].fault(action):
        known = ", ".join(r.table.fields["action"].values)
        raise r.error(f"action '{shown(action)}' is unknown", f"write one of {known}")
    leaves: dict[str, Any] = {"locator": locator}
    if action in _DECAPSULATE:
        leaves["behavior"] = _DECAPSULATE[action]
        vrf = r.fields.get("decap_vrf", DEFAULT_VRF)
        if vrf != DEFAULT_VRF:
            leaves["vrf"] = r.vrf("decap_vrf", vrf)
        elif action != "uDT6":
            leaves["default-vrf"] = True
    else:
        r.only("decap_vrf", DEFAULT_VRF, f"means nothing to {action}")
        leaves |= {"behavior": "End", "flavor": _NEXT_CSID}
    if action == "uA":
        leaves["behavior"] = "End.X"
        if "adj" in r.fields:
            leaves["next-hop"] = str(r.parsed("adj", r.fields["adj"], IPv6Address, "IPv6 address"))
        leaves["interface"] = r.interface(r.need("interface"))
    elif unused := [n for n in ("interface", "adj") if n in r.fields]:
        raise r.error(f"{unused[0]} means nothing to {action}", f"remove {unused[0]}")
    return Declared(Object(Kind.SID, prefix), leaves, _dscp_warnings(r))


def _dscp_warnings(r: Row) -> tuple[str, ...]:
    mode = r.fields.get("decap_dscp_mode", "pipe")
    if fault := r.table.fields["decap_dscp_mode"].fault(mode):
        raise r.error(shown(fault), "write uniform or pipe")
    if mode == "pipe":
        return ()
    return ("decap_dscp_mode uniform has no effect in the kernel, which keeps the inner DSCP",)


def _vrf(parts: list[str], r: Row) -> Declared | None:
    r.only("fallback", "false", "is not offered: what a VRF doesn't know it drops")
    r.only("vni", "0", "is not offered: VRFs are carried over SRv6, not VXLAN")
    if parts[0] == DEFAULT_VRF:
        return None
    return Declared(Object(Kind.VRF, r.vrf("VRF", parts[0])))


_READERS: dict[Table, Callable[[list[str], Row], Declared | Part | None]] = {
    LOCATORS: _locator,
    VRFS: _vrf,
    vpn.SOURCE: vpn.source,
    extensions.ACCOUNTS: extensions.accounting,
    extensions.LISTS: extensions.segment_list,
    extensions.ROLES: extensions.role,
    SIDS: _sid,
    extensions.PROXIES: extensions.proxy,
    extensions.ROUTES: extensions.route,
    extensions.VPNS: extensions.vpn,
    vpn.GLOBALS: vpn.bgp_globals,
    vpn.FAMILIES: vpn.bgp_family,
    vpn.NEIGHBORS: vpn.bgp_neighbor,
    vpn.NEIGHBOR_FAMILIES: vpn.bgp_neighbor_family,
    vpn.INTERFACES: vpn.interface,
    chains.FUNCTIONS: chains.function,
    chains.FUNCTION_SIDS: chains.function_sid,
    chains.GROUPS: chains.group,
    chains.CHAINS: chains.chain,
    chains.HOPS: chains.hop,
    chains.CLASSIFIERS: chains.classifier,
    chains.RULES: chains.rule,
}
# What others refer to comes first.
TABLES = tuple(_READERS)
_PREFIXES = tuple(t.prefix for t in TABLES)
# Tables of which SONiC's own daemons know more fields, and more rows, than a VPN needs.
_OF_SONIC = frozenset(
    {vpn.GLOBALS, vpn.FAMILIES, vpn.NEIGHBORS, vpn.NEIGHBOR_FAMILIES, vpn.INTERFACES}
)
# Tables that bgpcfgd or frrcfgd make FRR's configuration of, and our own one that needs theirs.
_OF_BGPCFGD = tuple(
    t.prefix
    for t in (
        LOCATORS,
        SIDS,
        vpn.SOURCE,
        extensions.VPNS,
        vpn.GLOBALS,
        vpn.FAMILIES,
        vpn.NEIGHBORS,
        vpn.NEIGHBOR_FAMILIES,
    )
)


def is_of_bgpcfgd(row: str) -> bool:
    """Whether a row is left to SONiC's bgp container where that runs."""
    return row.startswith(_OF_BGPCFGD)


def left_to_bgpcfgd(row: str) -> Verdict:
    """On such a row."""
    return WITHOUT_BGP if row.startswith(extensions.VPNS.prefix) else SERVED_BY_BGPCFGD


def is_passed_over(row: str) -> bool:
    """Whether a row that declares nothing is another daemon's matter alone."""
    return any(row.startswith(t.prefix) for t in _OF_SONIC)
