"""SAI's words for what APPL_DB declares. Pure.

From SAI inc/saisrv6.h and sonic-swss orchagent/srv6orch.cpp. Names only: nothing here
talks to a SAI.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

# Values are text as ASIC_DB has it, or references to other objects.
Attributes = Mapping[str, "str | Reference"]


class Reference(NamedTuple):
    """Another object, by the number of its kind and its name; the default VRF is the router."""

    kind: int
    name: str


# So much of a text is in messages: Redis takes rows of any size.
_SHOWN = 80


def shown(text: str) -> str:
    """A text of a row, as messages have it."""
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}...")


class SaiError(Exception):
    """A row that SAI has no object for; the message says why, and what to do."""


class UnsupportedError(SaiError):
    """A behavior that SAI does not have; the kernel serves it alone."""


_SID = "SAI_MY_SID_ENTRY_ATTR"
_BEHAVIOR, _FLAVOR = f"{_SID}_ENDPOINT_BEHAVIOR", f"{_SID}_ENDPOINT_BEHAVIOR_FLAVOR"
VRF, NEXT_HOP_ID, COUNTER_ID = f"{_SID}_VRF", f"{_SID}_NEXT_HOP_ID", f"{_SID}_COUNTER_ID"
TUNNEL_ID = f"{_SID}_TUNNEL_ID"
# Attributes that are changed in place, as orchagent does; others need a new object.
_CHANGEABLE = frozenset(
    {
        VRF,
        NEXT_HOP_ID,
        COUNTER_ID,
        "SAI_ROUTE_ENTRY_ATTR_NEXT_HOP_ID",
        "SAI_ROUTE_ENTRY_ATTR_PREFIX_AGG_ID",
        "SAI_NEIGHBOR_ENTRY_ATTR_DST_MAC_ADDRESS",
    }
)

# srv6orch.cpp, end_behavior_map and end_flavor_map.
_BEHAVIORS = {
    "end": "E",
    "end.x": "X",
    "end.t": "T",
    "end.dx6": "DX6",
    "end.dx4": "DX4",
    "end.dt4": "DT4",
    "end.dt6": "DT6",
    "end.dt46": "DT46",
    "end.b6.encaps": "B6_ENCAPS",
    "end.b6.encaps.red": "B6_ENCAPS_RED",
    "end.b6.insert": "B6_INSERT",
    "end.b6.insert.red": "B6_INSERT_RED",
    "udx6": "UDX6",
    "udx4": "UDX4",
    "udt6": "UDT6",
    "udt4": "UDT4",
    "udt46": "UDT46",
    "un": "UN",
    "ua": "UA",
}
_FLAVORS = dict.fromkeys(("end", "end.x", "end.t", "ua"), "PSP_AND_USD")
_WITH_VRF = frozenset({"end.t", "end.dt4", "end.dt6", "end.dt46", "udt4", "udt6", "udt46"})
_WITH_NEXT_HOP = frozenset(a for a in _BEHAVIORS if a in ("end.x", "ua") or "dx" in a or "b6" in a)
# SAI inc/saisrv6.h, sai_my_sid_entry_endpoint_behavior_t has none of these.
_LACKING = frozenset({"end.dx2", "udx2", "end.as", "end.ad", "end.am", "end.bpf", "end.dt2u"})

_LIST_TYPES = {
    "insert": "INSERT",
    "insert.red": "INSERT_RED",
    "encaps": "ENCAPS",
    "encaps.red": "ENCAPS_RED",
}
_SEGMENTS = "SAI_SRV6_SIDLIST_ATTR_SEGMENT_LIST"

# An object without attributes (sonic-sairedis).
VIRTUAL_ROUTER: Attributes = {"NULL": "NULL"}
COUNTER: Attributes = {"SAI_COUNTER_ATTR_TYPE": "SAI_COUNTER_TYPE_REGULAR"}


@dataclass(frozen=True, slots=True)
class MySid:
    """A row of SRV6_MY_SID_TABLE: attributes, and what it refers to."""

    attributes: Mapping[str, str]
    vrf: str | None = None
    next_hop: str | None = None


def my_sid(key: str, fields: Mapping[str, str]) -> MySid:
    """The MY_SID_ENTRY of a row. Raises SaiError."""
    lengths(key)
    action = fields.get("action", "")
    if action in _LACKING:
        raise UnsupportedError(
            f"SAI has no {action}: no ASIC serves it, the kernel does; nothing is to be done"
        )
    if action not in _BEHAVIORS:
        raise SaiError(f"action {shown(action)} is unknown; write one that Srv6Orch knows")
    attributes = {_BEHAVIOR: f"SAI_MY_SID_ENTRY_ENDPOINT_BEHAVIOR_{_BEHAVIORS[action]}"}
    if flavor := _FLAVORS.get(action):
        attributes[_FLAVOR] = f"SAI_MY_SID_ENTRY_ENDPOINT_BEHAVIOR_FLAVOR_{flavor}"
    vrf = next_hop = None
    if action in _WITH_VRF:
        vrf = fields.get("vrf")
        if not vrf:
            raise SaiError(f"{action} has no vrf; add vrf")
    if action in _WITH_NEXT_HOP:
        next_hop = fields.get("adj", "")
        _check_next_hop(action, next_hop)
    return MySid(attributes, vrf, next_hop)


def can_be_changed(before: Attributes, after: Attributes) -> bool:
    """Whether an object can take these attributes in place."""
    names = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
    return before.keys() == after.keys() and names <= (_CHANGEABLE | {_SEGMENTS})


def decapsulating(tunnel: Reference) -> Attributes:
    """Of a SID whose DSCP mode is configured (createUpdateMysidEntry)."""
    return {TUNNEL_ID: tunnel, _FLAVOR: "SAI_MY_SID_ENTRY_ENDPOINT_BEHAVIOR_FLAVOR_USD"}


def next_hop(address: str, router_interface: Reference) -> Attributes:
    """A neighbor as a next hop."""
    return {
        "SAI_NEXT_HOP_ATTR_TYPE": "SAI_NEXT_HOP_TYPE_IP",
        "SAI_NEXT_HOP_ATTR_IP": address,
        "SAI_NEXT_HOP_ATTR_ROUTER_INTERFACE_ID": router_interface,
    }


def sid_list(fields: Mapping[str, str]) -> Attributes:
    """The SRV6_SIDLIST of a row of SRV6_SID_LIST_TABLE. Raises SaiError."""
    # Srv6Orch reads each as an address and passes over a length.
    texts = (s.strip().partition("/")[0] for s in fields.get("path", "").split(","))
    path = [s for s in texts if s]
    if not path:
        raise SaiError("path is empty; write its segments, separated by commas")
    for segment in path:
        try:
            IPv6Address(segment)
        except ValueError:
            raise SaiError(f"segment {shown(segment)} is no IPv6 address; correct it") from None
    # Any other text means this one, as in Srv6Orch.
    kind = _LIST_TYPES.get(fields.get("type", ""), "ENCAPS_RED")
    return {
        "SAI_SRV6_SIDLIST_ATTR_TYPE": f"SAI_SRV6_SIDLIST_TYPE_{kind}",
        _SEGMENTS: f"{len(path)}:{','.join(path)}",
    }


# Asked several times for each of a batch.
@lru_cache(maxsize=4096)
def lengths(key: str) -> tuple[str, str, str, str, str]:
    """Block, node, function and argument length and address of a key. Raises SaiError."""
    parts = key.split(":", 4)
    try:
        block, node, function, argument = (int(p) for p in parts[:4])
        address = socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, parts[4]))
    except (ValueError, IndexError, OSError):
        raise SaiError(
            f"key {shown(key)} is not <block>:<node>:<function>:<argument>:<sid>; remove the row"
        ) from None
    if min(block, node, function, argument) < 0 or block + node + function + argument > 128:
        raise SaiError(f"lengths of key {shown(key)} sum to more than 128 bits; remove the row")
    return str(block), str(node), str(function), str(argument), address


def counter_name(key: str) -> str:
    """Name of a SID in COUNTERS_SRV6_NAME_MAP (srv6orch.cpp, getMySidPrefix)."""
    block, node, function, _, address = lengths(key)
    return f"{address}/{int(block) + int(node) + int(function)}"


def entry_key(key: str, switch: str, router: str) -> str:
    """Key of a MY_SID_ENTRY as sairedis writes it (meta/SaiSerialize.cpp): sorted, all text."""
    block, node, function, argument, address = lengths(key)
    # Nothing in it has to be escaped.
    return (
        f'{{"args_len":"{argument}","function_len":"{function}","locator_block_len":"{block}",'
        f'"locator_node_len":"{node}","sid":"{address}","switch_id":"{switch}","vr_id":"{router}"}}'
    )


def plain_address(text: str) -> str:
    """An address as it is written shortest, without a zone: any text may be in one. Raises
    ValueError."""
    if "%" in text:
        raise ValueError(text)
    return str(ip_address(text))


def _check_next_hop(action: str, text: str) -> None:
    if not text:
        raise SaiError(f"{action} has no adj; add adj")
    try:
        plain_address(text.partition("@")[0])
    except ValueError:
        raise SaiError(
            f"adj {shown(text)} is neither an address nor address@interface; correct it"
        ) from None
