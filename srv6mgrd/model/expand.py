"""SIDs that are made for a VRF (``export-function``, ``export-auto``) as if they were declared,
and those of service functions (``function_sids``).

The rule of ``export-auto``. A SID that remote routers have learned must not move, so its function
follows from the VRF and its locator alone, never from what else is declared:

    first + table-id modulo (2**function-length - first)

where ``first`` is 0x100, or half of the functions where there are fewer than twice as many. A
table belongs to one VRF, so two VRFs of a locator meet only where their table-ids differ by a
multiple of the modulus. Then, and where a declared SID has the function, nothing gives way: the
configuration is rejected (``checks.bgp``), and the operator decides by an ``export-function``.
Probing for the next free function would move a SID when the VRF or SID before it went.
"""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Network

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.bgp import VrfBgp
from srv6mgrd.model.desired import Desired, Locator, Sid, Vrf
from srv6mgrd.model.function_sids import with_functions

_FIRST = 0x100


def expand(desired: Desired) -> Desired:
    """With the End.DT46 that each such VRF exports among the SIDs and as its ``export_sid``, and
    with the SIDs of service functions.

    ``export_function`` and ``export_auto`` stay: they mark a SID as made, not declared. A VRF
    whose SID can't be made stays as it is; ``check`` says why. Expanding twice changes nothing.
    """
    desired = with_functions(desired)
    makers = [vrf for vrf in desired.vrfs.values() if vrf.bgp is not None and is_made(vrf.bgp)]
    if not makers:
        return desired
    vrfs, sids, owners = dict(desired.vrfs), dict(desired.sids), functions(desired)
    for vrf in sorted(makers, key=lambda v: (v.table, v.name)):
        prefix = made_prefix(desired, vrf)
        if prefix is None or vrf.bgp is None or vrf.bgp.locator is None:
            continue
        made = Sid(prefix, vrf.bgp.locator, Behavior.END_DT46, vrf.name)
        function = desired.locators[made.locator].function_of(prefix)
        owner = owners.setdefault((made.locator, function), made)
        if owner.prefix == prefix and exports(owner, vrf):
            sids[prefix] = owner
            vrfs[vrf.name] = replace(vrf, bgp=replace(vrf.bgp, export_sid=prefix))
    return replace(desired, vrfs=vrfs, sids=sids)


def functions(desired: Desired) -> dict[tuple[str, int], Sid]:
    """SIDs by locator and function; several may share one, as longer prefixes. Those beside the
    locator's prefix, in its block, have none of its functions."""
    return {
        (sid.locator, desired.locators[sid.locator].function_of(sid.prefix)): sid
        for sid in desired.sids.values()
        if not sid.flavors or desired.locators[sid.locator].covers(sid.prefix)
    }


def is_made(bgp: VrfBgp) -> bool:
    """Whether the SID that the VRF exports is made for it rather than declared."""
    return bgp.export_function is not None or bgp.export_auto


def exports(sid: Sid, vrf: Vrf, behavior: Behavior = Behavior.END_DT46) -> bool:
    """Whether the VRF can export this SID where one of ``behavior`` is asked for."""
    return sid.behavior is behavior and sid.vrf == vrf.name


def made_prefix(desired: Desired, vrf: Vrf) -> IPv6Network | None:
    """The SID that is made for the VRF; None when none is, or its function does not fit."""
    if vrf.bgp is None or not is_made(vrf.bgp) or vrf.bgp.locator is None:
        return None
    locator = desired.locators[vrf.bgp.locator]
    function = vrf.bgp.export_function
    if function is None:
        function = auto_function(locator, vrf.table)
    return locator.sid_with(function)


def auto_function(locator: Locator, table: int) -> int:
    """Function of the SID that ``export-auto`` makes for the VRF on this table."""
    all_functions = 1 << locator.function_length
    first = min(_FIRST, all_functions // 2)
    return first + table % (all_functions - first)
