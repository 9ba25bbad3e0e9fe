"""What BFD sees of neighbors: one question for all."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from srv6mgrd.frr.blocks import BFDD
from srv6mgrd.frr.json_shows import show_any_json
from srv6mgrd.frr.vty import Shows

_DEFAULT_VRF = "default"
# bfdd's words (bfd_get_status_str), and those of RFC 5880.
_STATES = {"shutdown": "admin-down", "down": "down", "init": "init", "up": "up"}

# State by VRF and address of the peer, or interface where that is link-local.
BfdStates = Mapping[tuple[str, str], str]


def bfd_states(frr: Shows) -> BfdStates:
    """Of all sessions. Raises VtyError, when bfdd does not run say."""
    shown = show_any_json(frr, BFDD, "show bfd peers json")
    found: dict[tuple[str, str], str] = {}
    for entry in shown if isinstance(shown, list) else ():
        state = _STATES.get(entry.get("status", ""))
        if state is None:
            continue
        where = entry.get("vrf") or _DEFAULT_VRF, _name(entry)
        # Single and multiple hops are sessions of their own.
        if found.get(where) != "up":
            found[where] = state
    return found


def _name(entry: Mapping[str, Any]) -> str:
    peer = str(entry.get("peer", ""))
    try:
        is_link_local = ip_address(peer).is_link_local
    except ValueError:
        is_link_local = False
    return str(entry.get("interface") or peer) if is_link_local else peer
