"""Checks that XPath can't express, or only in quadratic time. Pure: state in, rejections out."""

from __future__ import annotations

from srv6mgrd.model.checks import (
    addresses,
    bgp,
    chains,
    communities,
    interfaces,
    isis,
    leaking,
    locators,
    ospf,
    path_measurement,
    policies,
    proxies,
    sids,
    static_routes,
    steering,
    vrfs,
)
from srv6mgrd.model.checks.vrfs import table_in_use
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.function_sids import without_functions
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.reserved import SID_DEVICE, SID_TABLE

__all__ = [
    "SID_DEVICE",
    "SID_TABLE",
    "check",
    "table_in_use",
]


def check(desired: Desired, passed: Desired | None = None) -> None:
    """Raise RejectedError with every reason why this state can't be. SIDs that are made for a VRF
    or a function may be in it (``expand``) or not. What is the same in ``passed``, a state that
    passed, is not looked at again where nothing beside it matters."""
    if desired.malformed:
        # The others may name them.
        raise RejectedError(list(desired.malformed.values()))
    desired = without_functions(desired)
    rejections = [
        *locators.check(desired),
        *sids.check(desired, passed),
        *vrfs.check(desired),
        *interfaces.check(desired),
        *addresses.check(desired),
        *proxies.check(desired),
        *steering.check(desired),
        *static_routes.check(desired),
        *leaking.check(desired),
        *ospf.check(desired),
        *communities.check(desired),
        *bgp.check(desired),
        *isis.check(desired),
        *policies.check(desired),
        *path_measurement.check(desired),
        *chains.check(desired),
    ]
    if rejections:
        raise RejectedError(rejections)
