"""SAI's words for tunnels, next hops, groups and routes of SRv6. Pure.

From SAI inc/saitunnel.h, sainexthop.h, sainexthopgroup.h, sairoute.h, and sonic-swss orchagent
(srv6orch.cpp, nhgorch.cpp, routeorch.cpp, neighorch.cpp, intfsorch.cpp).
"""

from __future__ import annotations

from ipaddress import ip_address

from orchagent.sai import Attributes, Reference

# SAI_NULL_OBJECT_ID
_NULL = "oid:0x0"
_TO_VPN_SID = "SAI_TUNNEL_MAP_TYPE_PREFIX_AGG_ID_TO_SRV6_VPN_SID"
# intfsorch.h: OVERLAY_RIF_DEFAULT_MTU
_OVERLAY_MTU = "9100"
_DSCP_MODES = {"uniform": "UNIFORM_MODEL", "pipe": "PIPE_MODEL"}

ROUTE_NEXT_HOP = "SAI_ROUTE_ENTRY_ATTR_NEXT_HOP_ID"
ROUTE_AGG = "SAI_ROUTE_ENTRY_ATTR_PREFIX_AGG_ID"


def router_interface(name: str, router: Reference) -> Attributes:
    """The interface of next hops. A hardware backend adds its port."""
    kind = "VLAN" if name.startswith("Vlan") else "SUB_PORT" if "." in name else "PORT"
    return {
        "SAI_ROUTER_INTERFACE_ATTR_TYPE": f"SAI_ROUTER_INTERFACE_TYPE_{kind}",
        "SAI_ROUTER_INTERFACE_ATTR_VIRTUAL_ROUTER_ID": router,
    }


def loopback(router: Reference, *, overlay: bool) -> Attributes:
    """The interface of one side of a tunnel."""
    attributes: dict[str, str | Reference] = {
        "SAI_ROUTER_INTERFACE_ATTR_TYPE": "SAI_ROUTER_INTERFACE_TYPE_LOOPBACK",
        "SAI_ROUTER_INTERFACE_ATTR_VIRTUAL_ROUTER_ID": router,
    }
    if overlay:
        attributes["SAI_ROUTER_INTERFACE_ATTR_MTU"] = _OVERLAY_MTU
    return attributes


def neighbor_entry(mac: str, address: str) -> Attributes:
    attributes = {"SAI_NEIGHBOR_ENTRY_ATTR_DST_MAC_ADDRESS": mac.upper()} if mac else {}
    if ip_address(address).is_link_local:
        attributes["SAI_NEIGHBOR_ENTRY_ATTR_NO_HOST_ROUTE"] = "true"
    return attributes or {"NULL": "NULL"}


def decap_tunnel(mode: str, overlay: Reference, underlay: Reference) -> Attributes:
    """Of SIDs with a DSCP mode (initIpInIpTunnel)."""
    return {
        "SAI_TUNNEL_ATTR_TYPE": "SAI_TUNNEL_TYPE_IPINIP",
        "SAI_TUNNEL_ATTR_OVERLAY_INTERFACE": overlay,
        "SAI_TUNNEL_ATTR_UNDERLAY_INTERFACE": underlay,
        "SAI_TUNNEL_ATTR_PEER_MODE": "SAI_TUNNEL_PEER_MODE_P2MP",
        "SAI_TUNNEL_ATTR_DECAP_DSCP_MODE": f"SAI_TUNNEL_DSCP_MODE_{_DSCP_MODES[mode]}",
        "SAI_TUNNEL_ATTR_DECAP_TTL_MODE": "SAI_TUNNEL_TTL_MODE_PIPE_MODEL",
    }


def tunnel_term(address: str, tunnel: Reference, router: Reference) -> Attributes:
    """Where such a tunnel ends (createMySidIpInIpTunnelTermEntry)."""
    return {
        "SAI_TUNNEL_TERM_TABLE_ENTRY_ATTR_VR_ID": router,
        "SAI_TUNNEL_TERM_TABLE_ENTRY_ATTR_TYPE": "SAI_TUNNEL_TERM_TABLE_ENTRY_TYPE_P2MP",
        "SAI_TUNNEL_TERM_TABLE_ENTRY_ATTR_TUNNEL_TYPE": "SAI_TUNNEL_TYPE_IPINIP",
        "SAI_TUNNEL_TERM_TABLE_ENTRY_ATTR_ACTION_TUNNEL_ID": tunnel,
        "SAI_TUNNEL_TERM_TABLE_ENTRY_ATTR_DST_IP": address,
    }


def source_tunnel(source: str, underlay: Reference) -> Attributes:
    """Of routes into segment lists (createSrv6Tunnel)."""
    return {
        "SAI_TUNNEL_ATTR_TYPE": "SAI_TUNNEL_TYPE_SRV6",
        "SAI_TUNNEL_ATTR_UNDERLAY_INTERFACE": underlay,
        "SAI_TUNNEL_ATTR_ENCAP_SRC_IP": source,
    }


def peer_tunnel(
    source: str, endpoint: str, tunnel_map: Reference, underlay: Reference
) -> Attributes:
    """Of routes to VPN SIDs (createSrv6P2pTunnel)."""
    return {
        **source_tunnel(source, underlay),
        "SAI_TUNNEL_ATTR_ENCAP_MAPPERS": tunnel_map,
        "SAI_TUNNEL_ATTR_PEER_MODE": "SAI_TUNNEL_PEER_MODE_P2P",
        "SAI_TUNNEL_ATTR_ENCAP_DST_IP": endpoint,
    }


TUNNEL_MAP: Attributes = {"SAI_TUNNEL_MAP_ATTR_TYPE": _TO_VPN_SID}


def tunnel_map_entry(tunnel_map: Reference, agg: Reference, vpn_sid: str) -> Attributes:
    """The SID that routes of an aggregate go to (createSrv6Vpn)."""
    return {
        "SAI_TUNNEL_MAP_ENTRY_ATTR_TUNNEL_MAP_TYPE": _TO_VPN_SID,
        "SAI_TUNNEL_MAP_ENTRY_ATTR_TUNNEL_MAP": tunnel_map,
        "SAI_TUNNEL_MAP_ENTRY_ATTR_PREFIX_AGG_ID_KEY": agg,
        "SAI_TUNNEL_MAP_ENTRY_ATTR_SRV6_VPN_SID_VALUE": vpn_sid,
    }


def srv6_next_hop(segments: Reference | None, tunnel: Reference) -> Attributes:
    return {
        "SAI_NEXT_HOP_ATTR_TYPE": "SAI_NEXT_HOP_TYPE_SRV6_SIDLIST",
        "SAI_NEXT_HOP_ATTR_SRV6_SIDLIST_ID": _NULL if segments is None else segments,
        "SAI_NEXT_HOP_ATTR_TUNNEL_ID": tunnel,
    }


GROUP: Attributes = {
    "SAI_NEXT_HOP_GROUP_ATTR_TYPE": "SAI_NEXT_HOP_GROUP_TYPE_DYNAMIC_UNORDERED_ECMP"
}


def group_member(group: Reference, next_hop: Reference, weight: str) -> Attributes:
    attributes: dict[str, str | Reference] = {
        "SAI_NEXT_HOP_GROUP_MEMBER_ATTR_NEXT_HOP_GROUP_ID": group,
        "SAI_NEXT_HOP_GROUP_MEMBER_ATTR_NEXT_HOP_ID": next_hop,
    }
    if weight != "0":
        attributes["SAI_NEXT_HOP_GROUP_MEMBER_ATTR_WEIGHT"] = weight
    return attributes


def neighbor_key(address: str, interface: str, switch: str) -> str:
    """Keys as sairedis writes them (meta/SaiSerialize.cpp): sorted, all text."""
    return f'{{"ip":"{address}","rif":"{interface}","switch_id":"{switch}"}}'


def route_key(destination: str, switch: str, router: str) -> str:
    return f'{{"dest":"{destination}","switch_id":"{switch}","vr":"{router}"}}'
