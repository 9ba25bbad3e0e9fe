"""Whether zebra names the table in which the outer header of a VRF's routes is looked up.

Patch 11 of frr-patches: zebra finds out at its start whether the kernel takes
SEG6_IPTUNNEL_TABLE, and then sets it in each SRv6 route whose next hop is in another VRF.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from srv6mgrd.frr.blocks import ZEBRA
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.vty import Shows, VtyError


@dataclass(frozen=True, slots=True)
class LookupTable:
    """``supported`` does not change while a zebra runs. ``in_all_routes`` is not yet so while
    there are routes that the zebra before it left."""

    supported: bool = False
    in_all_routes: bool = False


def lookup_table(frr: Shows) -> LookupTable:
    """What the running zebra says, which is nothing where it is not patched. Raises VtyError when
    it can't be asked."""
    try:
        shown = show_json(frr, ZEBRA, "show segment-routing srv6 manager json")
    except VtyError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        return LookupTable()
    found = shown.get("parameters", {}).get("encapsulation", {}).get("lookupTable", {})
    return LookupTable(found.get("supported") is True, found.get("inAllRoutes") is True)
