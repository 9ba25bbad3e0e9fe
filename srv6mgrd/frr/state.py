"""All that FRR says of what is declared: asked in rounds, each command once in a round."""

from __future__ import annotations

from typing import Any

from srv6mgrd.frr.adjacencies import Adjacencies
from srv6mgrd.frr.json_shows import Remembered
from srv6mgrd.frr.service_evidence import bgp_evidence
from srv6mgrd.frr.session_states import SessionStates
from srv6mgrd.frr.status import Reported, reported
from srv6mgrd.frr.vty import Shows
from srv6mgrd.model.desired import Desired
from srv6mgrd.service_state.evidence import BgpEvidence

_BGP, _ISIS = "srv6mgr-bgp:bgp", "srv6mgr-isis:isis"


class FrrState:
    """``reported`` of the last round, and the state of sessions and adjacencies beside it. Used by
    one thread at a time."""

    def __init__(self, frr: Shows) -> None:
        self._frr = frr
        self._sessions = SessionStates()
        self._adjacencies = Adjacencies()
        # State below ``/srv6mgr-srv6:srv6``, in RFC 7951 form.
        self.observed: dict[str, Any] = {}
        # Replaced when it differs, never changed: any thread may look into it.
        self.bgp_evidence: BgpEvidence | None = None

    def ask(self, desired: Desired) -> Reported:
        """What became of declared objects; ``observed`` and ``bgp_evidence`` are of the same
        moment."""
        frr = Remembered(self._frr)
        found = reported(desired, frr)
        self.observed = self._observe(desired, frr)
        evidence = bgp_evidence(desired, frr)
        if evidence != self.bgp_evidence:
            self.bgp_evidence = evidence
        return found

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
