"""Accounting and reasons of drops to rows: in tables of our own, and by the names of SAI. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from srv6mgrd.counters import sonic
from srv6mgrd.model.drops import DropReason
from srv6mgrd.redis.rows import COUNTERS, OWNER
from srv6mgrd.redis.schema import Fields, Row, RowKey, table

ACCOUNTING = table("STATE_DB", "SRV6MGR_ACCOUNTING")
DROPS = table("STATE_DB", "SRV6MGR_DROPS")
SIDLIST = table("COUNTERS_DB", "SRV6MGR_SIDLIST_COUNTERS")
DROP_NAMES = table("COUNTERS_DB", "COUNTERS_DEBUG_NAME_SWITCH_STAT_MAP")

_COUNTED = ("packets", "inner_octets", "outer_octets")


def accounting_rows(found: Mapping[str, Any], *, alone: bool = True) -> dict[RowKey, Fields]:
    """Rows of accounting and of drops; ``found`` is the container ``accounting/statistics``, and
    beside it ``drops``. ``alone`` False: beside SONiC, whose counters of the switch are the
    ASIC's."""
    rows = []
    for direction, remote in (("sent", "segments"), ("received", "source")):
        for e in found.get(direction, ()):
            key = (direction, e["vrf"], e["address-family"], e[remote].replace(" ", ","))
            rows.append(ACCOUNTING.row(*key, **_accounted(e)))
    for e in found.get("other", ()):
        rows.append(ACCOUNTING.row(e["direction"], "-", e["address-family"], "-", **_accounted(e)))
    rows += _lists(found.get("sent", ()))
    drops = found.get("drops", {}).get("drop", ())
    rows += map(_dropped, drops)
    if alone and drops:
        rows += _of_switch(drops)
    return dict(rows)


def _lists(sent: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """One for each declared segment list, whatever VRF and family its packets are of."""
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for e in sent:
        if (name := e.get("segment-list")) is None:
            continue
        count = counts[name]
        count[0] += int(e["packets"])
        count[1] += int(e["outer-octets"])
    for name, count in counts.items():
        yield SIDLIST.row(name, **dict(zip(sonic.OF_LIST, count, strict=True)), owner=OWNER)


def _of_switch(drops: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """By the reasons that SAI has names for."""
    counts: Counter[str] = Counter()
    for e in drops:
        if (reason := sonic.DROP_REASONS.get(DropReason(e["reason"]))) is not None:
            counts[reason] += int(e["packets"])
    yield DROP_NAMES.key(), sonic.DROP_FIELDS
    fields = {field: str(counts[reason]) for reason, field in sonic.DROP_FIELDS.items()}
    yield COUNTERS.row(sonic.SWITCH, **fields)


def _dropped(e: Mapping[str, Any]) -> Row:
    fields = {
        "certainty": e["certainty"],
        "packets": e["packets"],
        "last_seen": e["last-seen"],
        "owner": OWNER,
    }
    if "vrf" in e:
        fields["vrf"] = e["vrf"]
    return DROPS.row(e["sid"], e["reason"], **fields)


def _accounted(e: Mapping[str, Any]) -> dict[str, str]:
    counted = {name: e[name.replace("_", "-")] for name in _COUNTED}
    return {**counted, "owner": OWNER}
