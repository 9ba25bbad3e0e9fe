"""``show paths``: the sessions of path measurement, with the results of each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.cli.units import ago, ns_of
from srv6mgrd.model import path_measurement

_MEMBER = "srv6mgr-path-measurement:path-measurement"
_STYLES = {"up": "good", "degraded": "warn", "down": "bad", "unknown": "warn"}
_UNKNOWN: Mapping[str, Any] = {
    "path-state": "unknown",
    "reason": "srv6mgrd has not reported it yet",
}


class _Row(NamedTuple):
    session: path_measurement.Session
    state: Mapping[str, Any]

    @property
    def changed(self) -> int:
        """When it came to its state; 0 where that is not known."""
        return ns_of(self.state["last-change"]) if "last-change" in self.state else 0

    @property
    def loss(self) -> str | None:
        found: str | None = self.state.get("last-measurement", {}).get("loss-ratio")
        return found

    def measured(self, container: str, leaf: str) -> int | None:
        found: int | None = self.state.get("last-measurement", {}).get(container, {}).get(leaf)
        return found


def _json(row: _Row) -> dict[str, Any]:
    return {
        "name": row.session.name,
        "destination-address": str(row.session.destination),
        "vrf": row.session.vrf,
        "segment-list": row.session.segment_list,
        "return-segment-list": row.session.return_segment_list,
        **row.state,
    }


def _times(title: str, container: str, leaf: str) -> Field[_Row]:
    return Field(
        title,
        lambda r: _time(r.measured(container, leaf)),
        right=True,
        key=lambda r: r.measured(container, leaf) or 0,
    )


def _loss(row: _Row) -> str:
    """Of the round trip, and where something is lost of each direction, if it is known."""
    if row.loss is None:
        return "-"
    measured = row.state["last-measurement"]
    there, back = (measured.get(f"{way}-loss-ratio") for way in ("forward", "backward"))
    known = there is not None and back is not None and float(there) + float(back) > 0
    return f"{row.loss}% (there {there}%, back {back}%)" if known else f"{row.loss}%"


def _time(us: int | None) -> str:
    if us is None:
        return "-"
    return f"{us} us" if us < 10_000 else f"{us / 1000:.1f} ms"


PATHS: Table[_Row] = Table(
    "paths",
    (
        Field("PATH", lambda r: Cell(r.session.name, "name")),
        Field("DESTINATION", lambda r: str(r.session.destination)),
        Field("VRF", lambda r: r.session.vrf or "", optional=True),
        Field("SEGMENT LIST", lambda r: r.session.segment_list or "-"),
        Field("BACK", lambda r: r.session.return_segment_list or "", optional=True),
        Field("STATE", lambda r: Cell(r.state["path-state"], _STYLES[r.state["path-state"]])),
        Field("SINCE", lambda r: Cell(ago(r.changed, time.time_ns()) if r.changed else "-", "dim"),
              right=True, key=lambda r: -r.changed),
        Field("LOSS", _loss, right=True, key=lambda r: float(r.loss or 0)),
        _times("DELAY", "round-trip-delay", "median"),
        _times("DELAY 99%", "round-trip-delay", "percentile-99"),
        _times("JITTER", "jitter", "median"),
        _times("JITTER 99%", "jitter", "percentile-99"),
        Field("REASON", lambda r: r.state.get("reason", ""), optional=True),
    ),
    _json,
    none="no path is measured",
    name=lambda r: r.session.name,
    filters={"status": lambda r: r.state["path-state"], "vrf": lambda r: r.session.vrf or ""},
)  # fmt: skip


@listed(PATHS)
def paths(session: Session) -> Iterable[_Row]:
    """Measured paths: state, loss, round-trip delay and jitter (median and 99%)."""
    declared = session.desired().path_measurement.sessions
    observed = session.state.observed().get(_MEMBER, {})
    states = {one["name"]: one["state"] for one in observed.get("session", ())}
    return [_Row(one, states.get(name, _UNKNOWN)) for name, one in sorted(declared.items())]
