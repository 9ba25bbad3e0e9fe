"""Routing policies: mask lengths that no route has, and an AS number that is not known."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.paths import policy_path, routing_policy_path
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.routing_policy import PrefixRange


def check(desired: Desired) -> Iterator[Rejection]:
    routing = desired.routing_policy
    for name, ranges in routing.prefix_sets.items():
        for found in ranges:
            yield from _range(name, found)
    for name, policy in routing.policies.items():
        for statement in policy.statements:
            where = f"{names.routing_policy(name)}, statement {statement.sequence}"
            path = f"{policy_path(name)}/statement[sequence='{statement.sequence}']"
            if statement.actions.prepend and not statement.actions.prepend_as and not desired.bgp:
                yield Rejection(
                    where,
                    "it prepends the AS number of the router, which has no BGP speaker",
                    "add asn to set-as-path-prepend, or add the BGP speaker",
                    "as-path-own-as",
                    f"{path}/actions/set-as-path-prepend",
                )


def _range(name: str, found: PrefixRange) -> Iterator[Rejection]:
    length, longest = found.prefix.prefixlen, found.prefix.max_prefixlen
    lower, upper = found.lower, found.upper
    remedy = f"choose mask lengths from {length} to {longest}, the lower one first"
    cause = ""
    if lower is not None and lower < length:
        cause = f"mask-length-lower {lower} is shorter than the prefix"
    elif upper is not None and upper < length:
        cause = f"mask-length-upper {upper} is shorter than the prefix"
    elif max(lower or 0, upper or 0) > longest:
        cause = f"an IPv{found.prefix.version} address has {longest} bits"
    elif lower is not None and upper is not None and lower > upper:
        cause = f"mask-length-lower {lower} is greater than mask-length-upper {upper}"
    if cause:
        sets = f"{routing_policy_path()}/defined-sets/prefix-sets"
        yield Rejection(
            f"prefix {found.prefix} of prefix set {name}",
            cause,
            remedy,
            "prefix-set-mask-length",
            f"{sets}/prefix-set[name='{name}']/prefix[ip-prefix='{found.prefix}']",
        )
