"""The order that spares bgpd of FRR 10.3 work that grows with the cube of the number of VRFs.

At each SID that zebra gives out, bgpd exports and imports all routes of all VRFs anew, and asks
once more for every SID that is still to come, which is answered each time
(bgp_zebra_srv6_sid_notify): eight at a time cost 140 requests each. Every other line of a VRF that
has to wait for its SID asks too. So SIDs are asked for while their VRFs do not export yet, one at a
time, and nothing is written meanwhile.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.script import Step
from srv6mgrd.frr.status import Shows, has_sid
from srv6mgrd.frr.vty import VtyError

_LOG = logging.getLogger(__name__)
_SID = "sid vpn per-vrf export "
# A SID comes in milliseconds. One that does not waits for a device or a locator, and is not
# waited for here.
_DEADLINE = 1.0


def stages(steps: Sequence[Step]) -> list[list[Step]]:
    """The steps in stages; after each of them but the last its SIDs are waited for."""
    asking = {s.context[0]: s for s in steps if len(s.context) == 1 and s.line.startswith(_SID)}
    if not asking:
        return [list(steps)]
    before = [s for s in steps if not s.context or s.context[0] not in asking]
    first = [s for s in steps if s.context and s.context[0] in asking and len(s.context) == 1]
    last = [s for s in steps if s.context and s.context[0] in asking and len(s.context) > 1]
    staged: dict[str, list[Step]] = {}
    for step in first:
        staged.setdefault(step.context[0], []).append(step)
    return [before, *staged.values(), last]


def asked(steps: Sequence[Step]) -> frozenset[str]:
    """VRFs whose SID these steps ask for."""
    return frozenset(s.context[0].rpartition(" vrf ")[2] for s in steps if s.line.startswith(_SID))


def arrived(frr: Shows, vrfs: frozenset[str]) -> bool:
    """Return when bgpd has a SID for each of these VRFs, or False after a while."""
    until = time.monotonic() + _DEADLINE
    while True:
        try:
            given = all(has_sid(frr, vrf) for vrf in vrfs)
        except VtyError as error:
            _LOG.debug("SIDs of %s are not waited for: %s", BGPD, error)
            return False
        if given:
            return True
        if time.monotonic() > until:
            return False
