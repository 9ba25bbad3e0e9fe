"""Statuses over time: what a report says now, joined with what was known before. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.counters.labels import sid_detail
from srv6mgrd.counters.yang import advertised_detail
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired, Sid
from srv6mgrd.model.leaking import DEFAULT_VRF
from srv6mgrd.model.outcomes import Outcome, declared, followed
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, clipped

# Of each VRF with BGP: the SID that FRR advertises, and the reason when it advertises none. Of
# others whether FRR has it in place, None where that follows from there being no reason.
Advertised = Mapping[ObjectRef, tuple[IPv6Address | bool | None, str]]
_NOT_ASKED = "FRR was not asked yet"


def merge(
    before: Mapping[ObjectRef, ObjectStatus],
    outcomes: Iterable[tuple[ObjectRef, Outcome]],
    details: Mapping[ObjectRef, str],
    repaired: Collection[ObjectRef],
    now: int,
) -> dict[ObjectRef, ObjectStatus]:
    """Status of every declared object; ``since`` moves only when status or reason does.

    ``repaired`` are objects that were installed before and were put back; ``now`` in nanoseconds.
    """
    merged = {}
    # Thousands of SIDs have the same.
    alike: dict[ObjectStatus, ObjectStatus] = {}
    for ref, outcome in outcomes:
        old, reason = before.get(ref), clipped(outcome.reason)
        same = old is not None and old.status is outcome.status and old.reason == reason
        again = old is not None and ref in repaired
        # That of a SID changes with its declaration alone (``kept``).
        same_detail = old.detail if old is not None and ref.kind is Kind.SID else ""
        detail = details.get(ref, same_detail)
        if old is not None and same and not again and old.detail == detail:
            # The very one, so that a reader finds changes by ``is``.
            merged[ref] = old
            continue
        made = ObjectStatus(
            status=outcome.status,
            reason=reason,
            since=old.since if old is not None and same else now,
            last_repair=now if again else old.last_repair if old else 0,
            repairs=(old.repairs if old else 0) + again,
            detail=detail,
        )
        merged[ref] = alike.setdefault(made, made)
    return merged


def kept(
    known: Mapping[ObjectRef, ObjectStatus], before: Desired | None, desired: Desired
) -> tuple[Mapping[ObjectRef, ObjectStatus], Mapping[ObjectRef, str]]:
    """Those known of what goes on being declared; and what is declared otherwise now, with the
    details of SIDs."""
    if before is desired:
        return known, {}
    if before is None:
        return {}, _declared(desired, desired.sids)
    old, new = before.sids, desired.sids
    came = _declared(desired, {p: s for p, s in new.items() if old.get(p) is not s})
    went = declared(replace(before, sids={p: s for p, s in old.items() if p not in new}))
    found = dict(known)
    for ref in set(went).difference(came):
        found.pop(ref, None)
    return found, came


def _declared(desired: Desired, sids: Mapping[IPv6Network, Sid]) -> dict[ObjectRef, str]:
    """What is declared, but of SIDs only these."""
    found = dict.fromkeys(declared(replace(desired, sids={})), "")
    # Thousands of SIDs have the same.
    texts: dict[tuple[Behavior, str | None, bool], str] = {}
    for prefix, sid in sids.items():
        labels = sid.behavior, sid.vrf, sid.default_vrf
        if (detail := texts.get(labels)) is None:
            vrf = sid.vrf or (DEFAULT_VRF if sid.default_vrf else None)
            detail = texts[labels] = sid_detail(sid.behavior, vrf)
        found[ObjectRef(Kind.SID, str(prefix))] = detail
    return found


def with_frr(
    desired: Desired,
    outcomes: Mapping[ObjectRef, Outcome],
    reported: Advertised,
    known: Mapping[ObjectRef, ObjectStatus],
    repaired: Collection[ObjectRef],
) -> tuple[dict[ObjectRef, Outcome], dict[ObjectRef, str]]:
    """Outcomes with what FRR says of the exports, and details: configured is not advertised yet.

    Until FRR was asked, the ``known`` status of an object holds, unless it was ``repaired``.
    """
    found, details = dict(outcomes), {}
    for vrf in desired.vrfs.values():
        ref = ObjectRef(Kind.VRF_BGP, vrf.name)
        if vrf.bgp is None or ref in found:
            continue
        if (held := _held(ref, reported, known, repaired)) is not None:
            found[ref], details[ref] = held
            continue
        has_sid = bool(vrf.bgp.export_sids)
        sid, reason = reported.get(ref, (None, _NOT_ASKED if has_sid else ""))
        if sid is not None:
            of_each = (vrf.bgp.export_sid_ipv4, vrf.bgp.export_sid_ipv6)
            details[ref] = advertised_detail(vrf.bgp.export_sid, *of_each)
        missing = has_sid and sid is None
        status = InstallStatus.PENDING if missing else InstallStatus.INSTALLED
        found[ref] = Outcome(status, reason)
    for ref in followed(desired):
        if ref in found:
            continue
        held = _held(ref, reported, known, repaired)
        in_place, reason = reported.get(ref, (None, _NOT_ASKED))
        if held is not None:
            found[ref] = held[0]
        elif in_place or reason:
            status = InstallStatus.INSTALLED if in_place else InstallStatus.PENDING
            found[ref] = Outcome(status, reason)
    return found, details


def _held(
    ref: ObjectRef,
    reported: Advertised,
    known: Mapping[ObjectRef, ObjectStatus],
    repaired: Collection[ObjectRef],
) -> tuple[Outcome, str] | None:
    """The outcome and detail that an object had, while FRR was not asked."""
    status = known.get(ref)
    if ref in reported or ref in repaired or status is None:
        return None
    if status.status not in (InstallStatus.INSTALLED, InstallStatus.PENDING):
        return None
    return Outcome(status.status, status.reason), status.detail
