"""Places of compressed SIDs (NEXT-C-SID) that other SIDs don't have."""

from __future__ import annotations

from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.desired import Locator, Sid
from srv6mgrd.model.prefix import number


def is_locator_itself(sid: Sid, locator: Locator) -> bool:
    """A NEXT-C-SID ``End`` (uN) takes its whole locator: it shifts in the C-SID that follows, and
    longer prefixes, the locator's other SIDs, go before it (RFC 9800 section 4.1.1). An ``End.X``
    can be there instead (srv6_end_x_next_csid_l3vpn_test.sh)."""
    return (
        sid.behavior in (Behavior.END, Behavior.END_X)
        and Flavor.NEXT_CSID in sid.flavors
        and sid.prefix == locator.prefix
    )


def is_of_local_block(sid: Sid, locator: Locator) -> bool:
    """A uA as ``block:function``: where a carrier goes on when the uN before it has shifted its
    own C-SID out. Its function is of the local block (LIB, RFC 9800 section 4.1): each node has
    its own."""
    return (
        sid.behavior is Behavior.END_X
        and Flavor.NEXT_CSID in sid.flavors
        and not locator.covers(sid.prefix)
        and sid.prefix.prefixlen >= locator.block_length
        and not (number(sid.prefix) ^ number(locator.prefix)) >> 128 - locator.block_length
    )
