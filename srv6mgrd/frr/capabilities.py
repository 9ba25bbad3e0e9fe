"""What the running FRR offers, asked of its daemons rather than guessed from its version.

``find`` lists the commands that a daemon knows, each with the node that it belongs to
(cmd_find_cmds in lib/command.c): a daemon without a feature, or built without it, lists none.
"""

from __future__ import annotations

import errno
import re

from srv6mgrd.frr.blocks import BGPD, ZEBRA
from srv6mgrd.frr.lookup_table import lookup_table
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.capabilities import FRR_LOOKUP_TABLE, FrrCapabilities

# What ``render`` writes: the facility, the daemon, the command, its node.
_FACILITIES = (
    ("frr-locator", ZEBRA, "func-bits", "srv6-locator"),
    ("frr-encapsulation-source", ZEBRA, "source-address", "srv6-encap"),
    ("frr-export-sid", BGPD, "sid vpn per-vrf export", "bgp"),
    ("frr-vpn-ipv6-session", BGPD, "capability extended-nexthop", "bgp"),
)
_VERSION = re.compile(r"^FRRouting (\S+)", re.MULTILINE)


def capabilities(frr: Shows) -> FrrCapabilities:
    """Ask zebra and bgpd. Raises VtyError when one is there but silent: that says nothing."""
    try:
        shown = _VERSION.search(frr.show(ZEBRA, "show version"))
        missing = {
            name: f"{daemon} knows no command '{command}'"
            for name, daemon, command, node in _FACILITIES
            if f"({node})" not in frr.show(daemon, f"find {command}")
        }
        found = {name for name, *_ in _FACILITIES if name not in missing}
        if lookup_table(frr).supported:
            found.add(FRR_LOOKUP_TABLE)
    except VtyError as error:
        if error.errno == errno.ETIMEDOUT:
            raise
        return FrrCapabilities(missing={"frr": str(error)})
    return FrrCapabilities(
        version=shown[1] if shown else "unknown",
        facilities=frozenset(found),
        missing=missing,
    )
