"""All that FRR says of what is declared: asked in rounds, each command once in a round."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from srv6mgrd.frr.adjacencies import Adjacencies
from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.json_shows import Remembered
from srv6mgrd.frr.remote_edges import next_hops
from srv6mgrd.frr.route_counts import is_counting, route_counts
from srv6mgrd.frr.service_evidence import bgp_evidence
from srv6mgrd.frr.session_states import FAILED, SUMMARY, SessionStates
from srv6mgrd.frr.status import Reported, reported
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.desired import Desired
from srv6mgrd.service_state.evidence import BgpEvidence

# A daemon that is asked for so many seconds, and so many times as long as a round takes, hangs. The
# session with it is given up much later (``vty.Vty``).
_SILENCE, _TIMES = 1.5, 5
# A whole round is this part of the time, and due after so many seconds at the latest.
_SHARE, _LATEST = 0.005, 30.0
# Routes that are in doubt are counted in this part of the time, next hops are read in as much.
_COUNTING = 0.05
_BGP, _ISIS = "srv6mgr-bgp:bgp", "srv6mgr-isis:isis"


class FrrState:
    """``reported`` of the last round, and the state of sessions and adjacencies beside it. Used by
    one thread at a time.

    The summary of all sessions is large, and has counters that differ each time. Where a round
    takes long, one in between asks for the sessions that are down in its place, and nothing is done
    unless that or another answer differs from the whole round before.
    """

    def __init__(self, frr: Shows, clock: Callable[[], float] = time.monotonic) -> None:
        self._frr = _Watched(frr)
        self._clock = clock
        # When the round under way began, and how long the last two took: of a daemon that hung one
        # says nothing of the next.
        self._began: float | None = None
        self._seconds = 0.0, 0.0
        self._silent = BgpEvidence()
        self._round: Remembered | None = None
        # The whole round before: what was declared, the sessions that were down, the result, and
        # when the next one is due.
        self._desired: Desired | None = None
        self._failed: str | None = None
        self._found: Reported = {}
        self._whole_due = 0.0
        self._in_doubt = False
        self._count_due = 0.0
        self._wants_next_hops = False
        self._next_hops_due = 0.0
        self._sessions = SessionStates()
        self._adjacencies = Adjacencies()
        # State below ``/srv6mgr-srv6:srv6``, in RFC 7951 form.
        self.observed: dict[str, Any] = {}
        # Replaced when it differs, never changed: any thread may look into it.
        self._bgp_evidence: BgpEvidence | None = None

    @property
    def bgp_evidence(self) -> BgpEvidence | None:
        """Of the last round, unless the one under way does not end. For the event loop."""
        began = self._began
        if began is None or self._clock() - began < max(_SILENCE, _TIMES * min(self._seconds)):
            return self._bgp_evidence
        problem = (
            f"{self._frr.asked} does not answer; see why it hangs: its log, and"
            f" ps -C {self._frr.asked} -o stat,wchan"
        )
        if self._silent.problem != problem:
            self._silent = BgpEvidence(problem, is_silent=True)
        return self._silent

    def ask(self, desired: Desired) -> Reported:
        """What became of declared objects; ``observed`` and ``bgp_evidence`` are of the same
        moment."""
        self._began = began = self._clock()
        try:
            if desired is self._desired and began < self._whole_due and self._is_as_before():
                if self._in_doubt and began >= self._count_due:
                    self._count_routes()
            else:
                # Should the round fail, no later one is compared with a part of it.
                self._desired = None
                self._found = self._ask(desired)
                self._desired = desired
                took = self._clock() - began
                self._whole_due = self._clock() + min(took / _SHARE, _LATEST)
            if self._wants_next_hops and self._clock() >= self._next_hops_due:
                self._read_next_hops()
            return self._found
        finally:
            self._seconds = self._seconds[1], self._clock() - began
            self._began = None

    def doubt_routes(self) -> None:
        """Count routes again in the next round; for the event loop. That takes zebra long, so it is
        not done in each round."""
        self._in_doubt = True

    def read_next_hops(self) -> None:
        """Read those of remote SIDs in the next round, too; for the event loop."""
        self._wants_next_hops = True

    def _read_next_hops(self) -> None:
        began, evidence = self._clock(), self._bgp_evidence
        self._wants_next_hops = False
        if evidence is not None:
            with contextlib.suppress(VtyError):
                # Those of the last whole round may be of a VRF that had no routes yet.
                routes = route_counts(self._frr)
                found = next_hops(self._frr, routes)
                if (routes, found) != (evidence.routes, evidence.next_hops):
                    self._bgp_evidence = replace(evidence, routes=routes, next_hops=found)
        self._next_hops_due = self._clock() + (self._clock() - began) / _COUNTING

    def _count_routes(self) -> None:
        began, evidence = self._clock(), self._bgp_evidence
        # Before: a doubt that comes meanwhile is another one.
        self._in_doubt = False
        with contextlib.suppress(VtyError):
            routes = route_counts(self._frr)
            if evidence is not None and routes != evidence.routes:
                self._bgp_evidence = replace(evidence, routes=routes)
        self._count_due = self._clock() + (self._clock() - began) / _COUNTING

    def _ask(self, desired: Desired) -> Reported:
        self._in_doubt = False
        # Before the summary: a session that goes down in between differs in the next round.
        self._failed = self._down()
        frr = self._round = Remembered(self._frr, self._round)
        if self._failed is not None:
            frr.shown[BGPD, FAILED] = self._failed
        found = reported(desired, frr)
        self.observed = self._observe(desired, frr)
        evidence = bgp_evidence(desired, frr)
        if self._bgp_evidence is not None:
            evidence = replace(evidence, next_hops=self._bgp_evidence.next_hops)
        if evidence != self._bgp_evidence:
            self._bgp_evidence = evidence
        return found

    def _is_as_before(self) -> bool:
        if self._round is None or self._failed is None or self._failed != self._down():
            return False
        if self._round.unanswered:
            # A daemon that was away may be back.
            return False
        try:
            return all(
                self._frr.show(*asked) == text
                for asked, text in self._round.shown.items()
                if asked not in ((BGPD, SUMMARY), (BGPD, FAILED)) and not is_counting(*asked)
            )
        except VtyError:
            return False

    def _down(self) -> str | None:
        try:
            return self._frr.show(BGPD, FAILED)
        except VtyError:
            return None

    def _observe(self, desired: Desired, frr: Shows) -> dict[str, Any]:
        sessions = self._sessions.lists(desired, frr)
        of_vrfs = self._adjacencies.of_vrfs(desired, frr)
        observed: dict[str, Any] = {}
        if (speaker := sessions.pop("default", None)) is not None:
            observed[_BGP] = speaker
        if isis := self._adjacencies.of_isis(desired, frr):
            observed[_ISIS] = isis
        vrfs = [
            {"name": name, **({_BGP: sessions[name]} if name in sessions else {}), **below}
            for name in sorted({*sessions, *of_vrfs})
            for below in (of_vrfs.get(name, {}),)
        ]
        if vrfs:
            observed["vrfs"] = {"vrf": vrfs}
        return observed


class _Watched:
    """Knows which daemon was asked last."""

    def __init__(self, frr: Shows) -> None:
        self._frr = frr
        self.asked = ""

    def show(self, daemon: str, command: str) -> str:
        self.asked = daemon
        return self._frr.show(daemon, command)
