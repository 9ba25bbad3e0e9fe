"""Keeping step with zebra when VRF devices come and go.

zebra 10.3 crashes on routes of a VRF that it does not know (yet, or any more): a route notification
that overtakes that of the device puts the route into a table of the default VRF, whose memory the
VRF shares and frees; a result of the dataplane thread for a VRF that has gone is looked up in a
table that is freed already (seen: SIGSEGV in route_node_get below rib_process_dplane_results and
work_queue_run). So nothing is put into a new VRF before zebra knows it, and no device goes before
zebra is done with its routes. A VRF that was deleted comes back under its ifindex: it is not made
before zebra has noticed that the one before has gone, since it would seem to know it already.
"""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Callable, Sequence

from srv6mgrd.frr.blocks import ZEBRA
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.frr.waiting import comes_true
from srv6mgrd.model import names

_LOG = logging.getLogger(__name__)

# zebra takes devices one after the other, beside other work.
_DEADLINE = 2.0
_FOR_EACH = 0.05
# So many are named in the log.
_NAMED = 5
_IP = ("ip", "ipv6")
_NONE = ("", "{}")
_QUEUE = re.compile(r"(?:\bq|Zebra): (\d+)")
_KNOWN = re.compile(r"^vrf (\S+) id ", re.MULTILINE)
_PROVIDER = re.compile(r"in: (\d+),.*out: (\d+),")


def meet(frr: Shows, vrfs: Sequence[str]) -> None:
    """Return once zebra knows these VRFs; in any case after 2 s, and 50 ms for each."""

    def known() -> bool:
        return _known(frr).issuperset(vrfs)

    if not _comes_true(known, vrfs):
        _LOG.warning("zebra does not know VRFs %s yet", names.some(vrfs, _NAMED))


def see_off(frr: Shows, vrfs: Sequence[str]) -> None:
    """Return once zebra no longer has these VRFs, whose devices are gone; in any case as
    ``meet``."""

    def unknown() -> bool:
        return _known(frr).isdisjoint(vrfs)

    if not _comes_true(unknown, vrfs):
        _LOG.warning("zebra has not noticed that VRFs %s have gone", names.some(vrfs, _NAMED))


def let_go(frr: Shows, vrfs: Sequence[str]) -> None:
    """Return once zebra holds no route of these VRFs and its dataplane is idle; in any case as
    ``meet``, since an operator's routes may stay and what is asked for must go on."""
    left = list(vrfs)

    def done() -> bool:
        while left and not _has_routes(frr, left[-1]):
            left.pop()
        return not left and _idle(frr.show(ZEBRA, "show zebra dplane providers"))

    if not _comes_true(done, vrfs):
        _LOG.warning("zebra is still busy with routes of VRFs %s", names.some(vrfs, _NAMED))


def _known(frr: Shows) -> set[str]:
    return set(_KNOWN.findall(frr.show(ZEBRA, "show vrf")))


def _comes_true(holds: Callable[[], bool], vrfs: Sequence[str]) -> bool:
    """True, too, where zebra can't be asked: then there is nothing to keep step with. Where it is
    us who can't ask, the time passes that zebra needs at most."""

    def seen() -> bool:
        try:
            return holds()
        except VtyError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                return False
            raise

    try:
        return comes_true(seen, _DEADLINE + _FOR_EACH * len(vrfs))
    except VtyError as error:
        _LOG.debug("not waited for: %s", error)
        return True


def _has_routes(frr: Shows, vrf: str) -> bool:
    return any(
        frr.show(ZEBRA, f"show {ip} route vrf {vrf} json").strip() not in _NONE for ip in _IP
    )


def _idle(shown: str) -> bool:
    """Whether the queues to, in and from the dataplane are empty, and each provider has given out
    all that it took in."""
    empty = all(int(depth) == 0 for depth in _QUEUE.findall(shown))
    return empty and all(taken == given for taken, given in _PROVIDER.findall(shown))
