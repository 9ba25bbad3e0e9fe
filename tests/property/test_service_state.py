"""More harm never makes a service better."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.model.service import ServiceState
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.service_state.evidence import (
    Evidence,
    PathEvidence,
    Reachability,
    UnresolvedNextHop,
)
from tests.unit.service_state.samples import ACTIVE, BGP, HEALTHY, KERNEL, RED, UP, judged

_FAILED = ObjectStatus(InstallStatus.FAILED, "why")


def _cut(evidence: Evidence, name: str) -> Evidence:
    """One more thing that is broken."""
    bgp, kernel = evidence.bgp, evidence.kernel
    assert bgp is not None
    assert kernel is not None
    kind, _, what = name.partition(" ")
    match kind:
        case "session":
            key = next(key for key in bgp.sessions if "/".join(key) == what)
            return replace(evidence, bgp=replace(bgp, sessions={**bgp.sessions, key: ACTIVE}))
        case "export":
            return replace(evidence, bgp=replace(bgp, exports={**bgp.exports, what: "why"}))
        case "unresolved":
            hop = UnresolvedNextHop(what, {"red": 2})
            found = (*bgp.unresolved, hop) if hop not in bgp.unresolved else bgp.unresolved
            return replace(evidence, bgp=replace(bgp, unresolved=found))
        case "link":
            links = {**kernel.links, what: replace(UP, is_up=False)}
            return replace(evidence, kernel=replace(kernel, links=links))
        case "route":
            sid = next(sid for sid in kernel.reachability if str(sid) == what)
            found = {**kernel.reachability, sid: Reachability("no route")}
            return replace(evidence, kernel=replace(kernel, reachability=found))
        case "addresses":
            return replace(evidence, kernel=replace(kernel, addresses=frozenset()))
        case "path":
            return replace(evidence, paths={what: PathEvidence("down", "no answer")})
        case _:
            ref = ObjectRef(Kind.SID, str(RED))
            return replace(evidence, not_installed={ref: _FAILED})


_HARMS = [
    *(f"session {'/'.join(key)}" for key in BGP.sessions),
    *(f"export {name}" for name in BGP.exports),
    *(f"unresolved {hop}" for hop in ("2001:db8::2", "fcbb:0:2:64::")),
    *(f"link {name}" for name in KERNEL.links),
    *(f"route {sid}" for sid in KERNEL.reachability),
    "addresses",
    "path to-pe2",
    "object",
]


def _states(evidence: Evidence) -> dict[str, ServiceState]:
    found = judged(evidence)
    return {
        **{name: verdict.state for name, verdict in found.vrfs.items()},
        **{str(prefix): verdict.state for prefix, verdict in found.sids.items()},
    }


@given(st.lists(st.sampled_from(_HARMS), unique=True))
def test_more_harm_never_improves_a_state(harms: list[str]) -> None:
    evidence = HEALTHY
    before = _states(evidence)
    for harm in harms:
        evidence = _cut(evidence, harm)
        after = _states(evidence)
        assert all(after.get(name, ServiceState.UP) >= state for name, state in before.items())
        before = after


@given(st.sampled_from(_HARMS))
def test_each_harm_is_reported(harm: str) -> None:
    conditions = judged(_cut(HEALTHY, harm)).conditions
    assert conditions or harm == "link lo"
