"""Rows of accounting, from srv6mgrd to its readers: a JSON file beside the store
(docs/adr/0008). ``counters.node.NodeReader`` reads it.

The one member is that of ``/srv6mgr-srv6:srv6`` as RFC 7951 writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

from srv6mgrd.counters.node import MAKE_ROOM, publish
from srv6mgrd.model.accounting import Accounted, Count, Direction, Row
from srv6mgrd.model.desired import Locator, SegmentList
from srv6mgrd.model.times import time_text
from srv6mgrd.storage import Problems

ACCOUNTING = "srv6mgr-accounting:accounting"


def beside(store: Path) -> Path:
    """Where the file is, given the store."""
    return store.with_name("accounting.json")


def statistics(
    accounted: Accounted, lists: Iterable[SegmentList], locators: Iterable[Locator]
) -> dict[str, Any]:
    """The container ``statistics``; ``lists`` and ``locators`` are those declared."""
    names = {one.segments: one.name for one in lists}
    lengths = {one.block: one.block_length + one.node_length for one in locators}
    known: dict[IPv6Address, IPv6Network | None] = {}
    sent = []
    for row, count in sorted(accounted.rows.get(Direction.SENT, {}).items()):
        segments = (*row.segments, row.remote)
        entry = {**_keys(row), "segments": " ".join(map(str, segments))}
        if (name := names.get(segments)) is not None:
            entry["segment-list"] = name
        entry["remote-sid"] = str(row.remote)
        if row.remote not in known:
            known[row.remote] = _locator(row.remote, lengths)
        if (locator := known[row.remote]) is not None:
            entry["remote-locator"] = str(locator)
        sent.append(entry | _count(count))
    received = [
        {**_keys(row), "source": str(row.remote), **_count(count)}
        for row, count in sorted(accounted.rows.get(Direction.RECEIVED, {}).items())
    ]
    other = [
        {"direction": direction.value, "address-family": family.value, **_count(count)}
        for (direction, family), count in accounted.others.items()
    ]
    found = {"sent": sent, "received": received, "other": other}
    return {
        "discontinuity-time": time_text(accounted.since),
        **{name: entries for name, entries in found.items() if entries},
    }


def _keys(row: Row) -> dict[str, Any]:
    return {"vrf": row.vrf, "address-family": row.family.value}


def _count(count: Count) -> dict[str, str]:
    # RFC 7951 section 6.1: 64-bit numbers are strings.
    return {
        "packets": str(count.packets),
        "inner-octets": str(count.inner_octets),
        "outer-octets": str(count.outer_octets),
    }


def _locator(sid: IPv6Address, lengths: Mapping[IPv6Network, int]) -> IPv6Network | None:
    """The locator of a SID of another router, whose locators are like ours of the same block."""
    for block, length in lengths.items():
        if sid in block:
            return IPv6Network((sid, length), strict=False)
    return None


class AccountingWriter:
    """Writes the file, whole and at once, when something changed. Without accounting there is
    none."""

    def __init__(self, path: Path, problems: Problems | None = None) -> None:
        self._path = path
        self._problems = problems or Problems()
        self._written: Mapping[str, Any] | None = None

    def write(self, found: Mapping[str, Any] | None) -> None:
        """The container ``statistics``; None while accounting is not enabled."""
        content = {} if found is None else {ACCOUNTING: {"statistics": found}}
        if content == self._written:
            return
        self._written = None
        with self._problems.writing(self._path, MAKE_ROOM):
            if content:
                publish(self._path, content)
            else:
                self._path.unlink(missing_ok=True)
            self._written = content
