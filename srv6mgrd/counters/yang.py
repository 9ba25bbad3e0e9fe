"""Status and counters as YANG has them, in RFC 7951 form: the same for every northbound. Pure."""

from __future__ import annotations

from ipaddress import IPv6Network
from typing import Any

from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.model.times import time_text


def object_state(
    ref: ObjectRef, status: ObjectStatus, counters: SidCounters | None = None
) -> dict[str, Any]:
    """The container ``state`` of a declared object; ``counters`` are those of a SID."""
    state: dict[str, Any] = {
        "install-status": status.status.text,
        "reason": status.reason,
        "repairs": str(status.repairs),
    }
    if status.since:
        state["since"] = time_text(status.since)
    if status.last_repair:
        state["last-repair"] = time_text(status.last_repair)
    if ref.kind is Kind.SID:
        state["counters"] = sid_counters(counters or SidCounters())
    elif ref.kind is Kind.VRF_BGP and status.detail:
        state |= advertised(status.detail)
    return state


def advertised_detail(
    both: IPv6Network | None, ipv4: IPv6Network | None, ipv6: IPv6Network | None
) -> str:
    """The SIDs that a VRF advertises, for both families or for each, as ``ObjectStatus.detail``."""
    if both is not None:
        return str(both)
    return " ".join(f"{f} {sid}" for f, sid in (("ipv4", ipv4), ("ipv6", ipv6)) if sid is not None)


def advertised(detail: str) -> dict[str, str]:
    """Leaves of what ``advertised_detail`` made; none when nothing is advertised."""
    words = detail.split()
    if len(words) == 1:
        return {"advertised-sid": detail}
    pairs = zip(words[::2], words[1::2], strict=True)
    return {f"advertised-sid-{family}": sid for family, sid in pairs}


def sid_counters(c: SidCounters) -> dict[str, str]:
    """The container ``counters`` of a SID."""
    # RFC 7951 section 6.1: 64-bit numbers are strings.
    counters = {
        "in-pkts": str(c.packets),
        "in-octets": str(c.octets),
        "in-errors": str(c.errors),
    }
    if c.discontinuity:
        counters["discontinuity-time"] = time_text(c.discontinuity)
    return counters
