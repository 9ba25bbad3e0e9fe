"""``show accounting``: packets and octets between this router and each remote one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed


class _Row(NamedTuple):
    """``entry`` is one of the lists of ``accounting/statistics``."""

    direction: str
    entry: Mapping[str, Any]

    @property
    def vrf(self) -> str:
        found: str = self.entry.get("vrf", "-")
        return found

    @property
    def remote(self) -> str:
        found: str = self.entry.get("remote-sid") or self.entry.get("source") or "other"
        return found

    @property
    def segment_list(self) -> str:
        """The name of a segment list that is more than its remote SID, or the segments."""
        segments: str = self.entry.get("segments", "")
        if " " not in segments:
            return ""
        found: str = self.entry.get("segment-list", segments)
        return found

    def counted(self, leaf: str) -> int:
        return int(self.entry[leaf])


ACCOUNTING: Table[_Row] = Table(
    "accounting",
    (
        Field("DIRECTION", lambda r: r.direction),
        Field("VRF", lambda r: Cell(r.vrf, "name")),
        Field("FAMILY", lambda r: str(r.entry["address-family"])),
        Field("REMOTE", lambda r: r.remote),
        Field("SEGMENT LIST", lambda r: r.segment_list, optional=True),
        rows.number("PACKETS", lambda r: r.counted("packets")),
        rows.number("INNER OCTETS", lambda r: r.counted("inner-octets")),
        rows.number("OUTER OCTETS", lambda r: r.counted("outer-octets")),
    ),
    lambda r: {"direction": r.direction, **r.entry},
    none="no packet was accounted; srv6ctl set accounting enabled true begins it",
    name=lambda r: r.remote,
    filters={
        "direction": lambda r: r.direction,
        "vrf": lambda r: r.vrf,
        "family": lambda r: str(r.entry["address-family"]),
        "locator": lambda r: str(r.entry.get("remote-locator", "")),
    },
)


@listed(ACCOUNTING)
def accounting(session: Session) -> Iterable[_Row]:
    """Tunnelled packets by VRF and remote router: packets sent by remote SID, packets received by
    outer source."""
    found = session.state.accounting()
    counted = [
        _Row(direction, entry)
        for direction in ("sent", "received")
        for entry in found.get(direction, ())
    ]
    return counted + [_Row(entry["direction"], entry) for entry in found.get("other", ())]
