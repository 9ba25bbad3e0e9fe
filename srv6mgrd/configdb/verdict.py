"""What became of a row. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from srv6mgrd.configdb.change import Change


class Status(StrEnum):
    """What became of a row."""

    ACCEPTED = "accepted"
    REJECTED = "refused"
    WAITING = "waiting"
    REMOVED = "removed"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Verdict:
    status: Status
    reason: str = ""


ACCEPTED = Verdict(Status.ACCEPTED)
_ONE_MASTER = 'disable that feature, or set static_sids = "srv6mgr" in srv6-configdbd.toml'
# Of tables that the bgp container reads.
SERVED_BY_BGPCFGD = Verdict(
    Status.LEFT,
    "the bgp container makes FRR's configuration of it, as FEATURE|bgp is enabled; to have srv6mgr"
    f" serve it, {_ONE_MASTER} and keep the row from bgpcfgd",
)
# Of our own tables, which need BGP and SIDs.
WITHOUT_BGP = Verdict(
    Status.LEFT,
    "nobody serves it: BGP is the bgp container's, as FEATURE|bgp is enabled, and that does not"
    " read this table; declare the VPN in BGP_GLOBALS and BGP_GLOBALS_AF, or"
    f" {_ONE_MASTER}",
)


def not_carried_out(change: Change, reason: str) -> Verdict:
    """On a change that is not carried out."""
    return Verdict(Status.REMOVED if change.leaves is None else Status.REJECTED, reason)
