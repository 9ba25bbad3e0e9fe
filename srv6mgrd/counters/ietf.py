"""SIDs as draft-ietf-spring-srv6-yang shows them (ietf-srv6-base, ietf-srv6-types 2026-05-06), in
RFC 7951 form: the same for every northbound (docs/projections.md). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srv6mgrd.model.status import InstallStatus, ObjectStatus, SidCounters

ROUTING, SEGMENT_ROUTING, SRV6 = "ietf-routing", "ietf-segment-routing", "ietf-srv6-base"
TYPES = "ietf-srv6-types"
# What is declared is static there; all SIDs of this router are.
_OWNER = f"{TYPES}:static"
_INSTANCE = "srv6mgr"
# ietf-srv6-types:srv6-locator-name-type
_LOCATOR_NAME_LENGTH = 59

# Where flavors make another identity there, or ours has none.
_BEHAVIORS: Mapping[tuple[str, frozenset[str]], str] = {
    ("End", frozenset({"psp"})): "End_PSP",
    ("End", frozenset({"next-csid"})): "END.NEXT-CSID",
    ("End.X", frozenset({"next-csid"})): "END.X.NEXT-CSID",
    ("End.BPF", frozenset()): "",
}


@dataclass(frozen=True, slots=True)
class Declared:
    """What is declared of a SID; ``behavior`` and ``flavors`` in the words of our model."""

    behavior: str
    flavors: frozenset[str]
    locator: str
    counts: bool


def identity(behavior: str, flavors: frozenset[str]) -> str:
    """Identity of a behavior with its flavors; empty when the draft has none."""
    return _BEHAVIORS.get((behavior, flavors), behavior)


def entry(
    prefix: str, declared: Declared, status: ObjectStatus, counters: SidCounters
) -> dict[str, Any]:
    """The entry of ``srv6/sids/sid``."""
    installed = status.status is InstallStatus.INSTALLED
    found: dict[str, Any] = {"sid": prefix}
    if name := identity(declared.behavior, declared.flavors):
        found["behavior"] = f"{TYPES}:{name}"
    if 0 < len(declared.locator) <= _LOCATOR_NAME_LENGTH:
        found["locator"] = declared.locator
    found["allocation"] = {
        "alloc-type": "Explicit",
        "owner": [{"type": _OWNER, "instance": _INSTANCE, "is-winner": installed}],
    }
    found["forwarding"] = {"is-installed": installed}
    if declared.counts:
        # RFC 7951 section 6.1: 64-bit numbers are strings.
        success = {"in-pkts": str(counters.packets), "in-octets": str(counters.octets)}
        found["counters"] = {"success": success}
    return found
