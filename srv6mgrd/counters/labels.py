"""What a SID does, for the names of its counters: ``ObjectStatus.detail`` of a SID. Pure.

Readers that have no access to the configuration learn it here.
"""

from __future__ import annotations

from typing import NamedTuple


class SidLabels(NamedTuple):
    """The behavior, and the VRF that a SID delivers to; empty where there is none."""

    behavior: str
    vrf: str


def sid_detail(behavior: str, vrf: str | None) -> str:
    """As the store has it: neither a behavior nor a VRF has a space in its name."""
    return f"{behavior} {vrf}" if vrf else behavior


def sid_labels(detail: str) -> SidLabels:
    """Those that ``sid_detail`` wrote."""
    behavior, _, vrf = detail.partition(" ")
    return SidLabels(behavior, vrf)
