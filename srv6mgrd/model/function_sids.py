"""SIDs that are made for service functions behind proxies, as if they were declared. Pure.

A function has six places from its ``sid-function`` on: for each inner type one in each direction.
Another router or chain may use a SID at any time, so all that the function takes are made, whether
a chain needs them or not. Where packets enter and leave by the same interface, one SID serves both
directions: returning packets are known by their flow alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.chains import (
    Chains,
    FailureAction,
    ProxiedFunction,
    ServiceFunction,
    Way,
    members,
)
from srv6mgrd.model.desired import Desired, Locator, Proxy, Sid

PLACES = len(Family) * len(Way)


def with_functions(desired: Desired) -> Desired:
    """With the SIDs of functions among the SIDs. One whose place is taken, or that does not fit,
    stays out; ``checks.chains`` says why. Doing it twice changes nothing."""
    functions = desired.chains.functions
    if not functions:
        return desired
    made = {sid.prefix: sid for sid in function_sids(desired)}
    return replace(desired, sids={**made, **desired.sids})


def without_functions(desired: Desired) -> Desired:
    """The reverse: what is declared."""
    if not desired.chains.functions:
        return desired
    made = {sid.prefix: sid for sid in function_sids(desired)}
    sids = {prefix: sid for prefix, sid in desired.sids.items() if made.get(prefix) != sid}
    return replace(desired, sids=sids)


def function_sids(desired: Desired) -> Iterator[Sid]:
    """Of all functions."""
    for function in desired.chains.functions.values():
        for _, sid in sids_of(function, desired.locators):
            yield sid


def sids_of(
    function: ServiceFunction, locators: Mapping[str, Locator]
) -> Iterator[tuple[tuple[Family, Way], Sid]]:
    """With what each is for. None where the function has SIDs of its own."""
    proxied = function.proxied
    if proxied is None or (locator := locators.get(proxied.locator)) is None:
        return
    one_arm = proxied.interface == proxied.return_interface
    for family in proxied.families:
        for way in Way:
            if one_arm and way is Way.REVERSE:
                continue
            prefix = place(proxied, locator, family, way)
            if prefix is not None:
                yield (family, way), _sid(proxied, prefix, family, way)


def place(
    proxied: ProxiedFunction, locator: Locator, family: Family, way: Way
) -> IPv6Network | None:
    """The SID's prefix; None where the locator has no room for it."""
    function = proxied.sid_function + list(Family).index(family) * len(Way)
    function += list(Way).index(way)
    return locator.sid_with(function)


def bypassable(desired: Desired) -> Mapping[str, Sequence[Sid]]:
    """The SIDs of functions that packets may go on without while these do not work, by function:
    each hop that they are in says so, of all chains of this router. Other routers follow it."""
    actions = failure_actions(desired.chains)
    return {
        name: [sid for _, sid in sids_of(function, desired.locators)]
        for name, function in desired.chains.functions.items()
        if actions.get(name) == {FailureAction.BYPASS}
    }


def failure_actions(chains: Chains) -> Mapping[str, set[FailureAction]]:
    """What the hops that a function is in say of its failure; of those that are in any."""
    found: dict[str, set[FailureAction]] = {}
    for chain in chains.chains.values():
        for hop in chain.hops:
            for name in members(hop, chains):
                found.setdefault(name, set()).add(hop.on_failure)
    return found


def segments_of(
    function: ServiceFunction, locators: Mapping[str, Locator]
) -> Mapping[tuple[Family, Way], IPv6Address]:
    """The SID for each inner type and direction that the function takes."""
    if function.proxied is None:
        return function.segments
    found = {key: sid.prefix.network_address for key, sid in sids_of(function, locators)}
    if function.proxied.interface == function.proxied.return_interface:
        found |= {(family, Way.REVERSE): address for (family, _), address in found.items()}
    return found


def _sid(proxied: ProxiedFunction, prefix: IPv6Network, family: Family, way: Way) -> Sid:
    enters, leaves = proxied.interface, proxied.return_interface
    next_hops = proxied.next_hops
    if way is Way.REVERSE:
        enters, leaves, next_hops = leaves, enters, proxied.reverse_next_hops
    proxy = Proxy(
        inner_type=family.value,
        interface=enters,
        return_interface=leaves,
        next_hop=next_hops.get(family),
        per_flow=True,
        mtu=proxied.mtu,
    )
    return Sid(prefix, proxied.locator, Behavior.END_AD, proxy=proxy)
