"""A SID as users write it: its prefix, or an address within it."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.model import names


def chosen(wanted: str, declared: Collection[str]) -> str:
    """The prefix of the declared SID that is meant: of several that cover it the longest. Raises
    Problem."""
    try:
        network = IPv6Network(wanted) if "/" in wanted else IPv6Network(IPv6Address(wanted))
    except ValueError:
        cause = "it is no IPv6 prefix or address"
        raise Problem.of(names.sid(wanted), cause, "see srv6ctl show sids", Exit.USAGE) from None
    # There may be many SIDs, but few lengths.
    lengths = {int(prefix.rpartition("/")[2]) for prefix in declared}
    for length in sorted(lengths, reverse=True):
        if length <= network.prefixlen:
            covering = str(network.supernet(new_prefix=length))
            if covering in declared:
                return covering
    raise Problem.of(names.sid(wanted), "it is not declared", "see srv6ctl show sids")
