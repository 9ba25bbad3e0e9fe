"""``show drops``: why packets to local SIDs were dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from srv6mgrd.cli.completion import sids as complete_sids
from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed

_Row = Mapping[str, Any]
_STYLES = {"certain": "bad", "likely": "warn"}

DROPS: Table[_Row] = Table(
    "drops",
    (
        Field("SID", lambda r: Cell(r["sid"], "name"), key=lambda r: rows.prefix_key(r["sid"])),
        Field("VRF", lambda r: r.get("vrf", "-")),
        Field("REASON", lambda r: r["reason"]),
        Field("CERTAINTY", lambda r: Cell(r["certainty"], _STYLES[r["certainty"]])),
        rows.number("PACKETS", lambda r: int(r["packets"])),
        Field("LAST SEEN", lambda r: Cell(r["last-seen"][:19], "dim")),
    ),
    dict,
    none="no packet to a SID was seen to be dropped",
    name=lambda r: r["sid"],
    complete=complete_sids,
    filters={
        "vrf": lambda r: str(r.get("vrf", "-")),
        "reason": lambda r: str(r["reason"]),
        "certainty": lambda r: str(r["certainty"]),
    },
)


@listed(DROPS)
def drops(session: Session) -> Iterable[_Row]:
    """Why packets to local SIDs were dropped, by SID and reason."""
    return session.state.drops()
