"""The order that spares bgpd of FRR 10.3 work that grows with the cube of the number of VRFs.

At each SID that zebra gives out, bgpd exports and imports all routes of all VRFs again, and asks
once more for every SID that is still to come, which is answered each time
(bgp_zebra_srv6_sid_notify): eight at a time cost 140 requests each. Every other line of a VRF that
has to wait for its SID asks too. So SIDs are asked for while their VRFs do not export yet, one at a
time, and nothing is written meanwhile.

bgpd shows its SIDs only all at once, which for each of many VRFs is quadratic work of its own. But
it hands each SID that it was given to zebra as a route, which zebra finds by its address. A SID is
asked for twice, once for each family; the second answer must be through as well, or it makes bgpd
ask twice more for the SID of the next VRF, and so on: twice as often for each. An instance that has
just been made hears from zebra that its device is up, upon which bgpd goes through all routes as
well (bgp_ifp_up), and asks twice more if the SID has been asked for already: so that is waited for
before.
"""

from __future__ import annotations

import errno
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address

from srv6mgrd.frr.blocks import BGPD, ZEBRA
from srv6mgrd.frr.script import Step
from srv6mgrd.frr.status import sid_layout
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.frr.waiting import comes_true, ticks

_LOG = logging.getLogger(__name__)
_SIDS = ("sid vpn per-vrf export ", "sid vpn export ")
# A SID comes in milliseconds; with many routes, or where others need the CPU, in seconds. Going on
# without it is what costs bgpd minutes.
_DEADLINE = 15.0
# One that has not come by then may be that of a VRF without a device, which never does.
_DOUBT = 0.25
_QUEUED = re.compile(r"put Fifo: (\d+):")


@dataclass(frozen=True, slots=True)
class Asked:
    """A VRF asks for the SID of this index."""

    vrf: str
    index: int


def stages(steps: Sequence[Step]) -> list[list[Step]]:
    """The steps in stages; after each of them but the last ``Arrivals.wait`` is due. Of each VRF
    they are its instance, and then what asks for SIDs."""
    asking = {s.context[0] for s in steps if s.context and s.line.startswith(_SIDS)}
    if not asking:
        return [list(steps)]
    before: list[Step] = []
    last: list[Step] = []
    staged: dict[str, tuple[list[Step], list[Step]]] = {}
    for step in steps:
        if not step.context or step.context[0] not in asking:
            before.append(step)
            continue
        made, sids = staged.setdefault(step.context[0], ([], []))
        if step.line.removeprefix("no ").startswith(_SIDS):
            sids.append(step)
        elif len(step.context) == 1:
            made.append(step)
        else:
            last.append(step)
    return [before, *(stage for both in staged.values() for stage in both if stage), last]


def asked(steps: Sequence[Step]) -> list[Asked]:
    """The SIDs that these steps ask for."""
    return [
        Asked(s.context[0].rpartition(" vrf ")[2], int(s.line.rpartition(" ")[2]))
        for s in steps
        if s.line.startswith(_SIDS)
    ]


class Arrivals:
    """Waits for SIDs, one after the other, until one does not come that could."""

    def __init__(self, frr: Shows) -> None:
        self._frr = frr
        self._layout: tuple[IPv6Address, int] | None = None
        self._waiting = True

    def wait(self, steps: Sequence[Step]) -> None:
        """Return when bgpd has the SIDs that these steps asked for, or there is no point; and in
        any case when it has read what zebra had to say to them."""
        if not self._waiting or not steps:
            return
        try:
            self._waiting = all(map(self._arrives, asked(steps))) and self._is_quiet()
        except VtyError as error:
            _LOG.debug("SIDs of %s are not waited for: %s", BGPD, error)
            self._waiting = False

    def _is_quiet(self) -> bool:
        return comes_true(self._answered, _DEADLINE)

    def _arrives(self, one: Asked) -> bool:
        """False when it makes no sense to wait for others either."""
        for since in ticks(_DEADLINE):
            if self._layout is None:
                self._layout = sid_layout(self._frr)
            if self._layout is not None and self._held(one, *self._layout):
                return True
            if since > _DOUBT:
                if self._layout is None:
                    return False  # without its locator bgpd asks for no SID
                if not self._has_device(one.vrf):
                    return True
        _LOG.warning("SID %d of VRF %s is not there after %g s", one.index, one.vrf, _DEADLINE)
        return False

    def _held(self, one: Asked, locator: IPv6Address, shift: int) -> bool:
        sid = IPv6Address(int(locator) | one.index << shift)
        try:
            shown = self._frr.show(ZEBRA, f"show ipv6 route {sid}/128 json")
        except VtyError as error:
            if error.errno == errno.EOPNOTSUPP:
                return False  # so zebra says that it has no such route
            raise
        return "seg6local" in shown

    def _answered(self) -> bool:
        """Whether bgpd has read all that zebra had to say to its questions."""
        clients = self._frr.show(ZEBRA, "show zebra client")
        if any(int(length) for length in _QUEUED.findall(clients)):
            return False
        # What lies in its socket is read in the round in which this is.
        self._frr.show(BGPD, "show version")
        return True

    def _has_device(self, vrf: str) -> bool:
        shown = json.loads(self._frr.show(BGPD, "show bgp vrfs json") or "{}")
        return int(shown.get("vrfs", {}).get(vrf, {}).get("vrfId", -1)) >= 0
