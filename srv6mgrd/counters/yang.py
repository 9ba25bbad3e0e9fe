"""Status and counters as YANG has them, in RFC 7951 form: the same for every door. Pure."""

from __future__ import annotations

from typing import Any

from srv6mgrd.counters.node import time_text
from srv6mgrd.counters.status import Kind, ObjectRef, ObjectStatus, SidCounters


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
        state["advertised-sid"] = status.detail
    return state


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
