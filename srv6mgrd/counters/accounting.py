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
from srv6mgrd.model.accounting import Accounted, Count, Direction, Family, Row
from srv6mgrd.model.behavior import Headend
from srv6mgrd.model.desired import Locator, SegmentList, SteeredRoute
from srv6mgrd.model.leaking import DEFAULT_VRF
from srv6mgrd.model.times import time_text
from srv6mgrd.storage import Problems

ACCOUNTING = "srv6mgr-accounting:accounting"
_OF_FRAMES = frozenset({Headend.H_ENCAPS_L2, Headend.H_ENCAPS_L2_RED})


def beside(store: Path) -> Path:
    """Where the file is, given the store."""
    return store.with_name("accounting.json")


def statistics(
    accounted: Accounted,
    lists: Iterable[SegmentList],
    locators: Iterable[Locator],
    routes: Iterable[SteeredRoute],
) -> dict[str, Any]:
    """The container ``statistics``; ``lists``, ``locators`` and ``routes`` are those declared."""
    by_name = {one.name: one.segments for one in lists}
    names = {segments: name for name, segments in by_name.items()}
    steered = _steered(routes, by_name)
    remotes = _Remotes(locators)
    sent = []
    for row, count in _ordered(accounted.rows.get(Direction.SENT, {})):
        segments = (*row.segments, row.remote)
        text = remotes.text(row.remote)
        shown = [*map(remotes.text, row.segments), text] if row.segments else [text]
        entry = {**_keys(row), "segments": " ".join(shown)}
        if (name := names.get(segments)) is not None:
            entry["segment-list"] = name
        if prefixes := steered.get((row.vrf, row.family, segments)):
            entry["steering-route"] = prefixes
        entry["remote-sid"] = text
        if (locator := remotes.locator(row.remote)) is not None:
            entry["remote-locator"] = locator
        sent.append(entry | _count(count))
    received = [
        {**_keys(row), "source": remotes.text(row.remote), **_count(count)}
        for row, count in _ordered(accounted.rows.get(Direction.RECEIVED, {}))
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


def joined(*found: Mapping[str, Any]) -> dict[str, Any]:
    """Members of files of which each has a part of the container ``accounting``."""
    parts: dict[str, Any] = {}
    for members in found:
        parts |= members.get(ACCOUNTING, {})
    return {ACCOUNTING: parts} if parts else {}


def _ordered(rows: Mapping[Row, Count]) -> list[tuple[Row, Count]]:
    """There may be a hundred thousand: compared by plain values."""
    return sorted(rows.items(), key=lambda item: (item[0].vrf, item[0].family, int(item[0].remote)))


def _steered(
    routes: Iterable[SteeredRoute], segments: Mapping[str, tuple[IPv6Address, ...]]
) -> dict[tuple[str, Family, tuple[IPv6Address, ...]], list[str]]:
    """Prefixes of the steered routes of a VRF, by the packets that they encapsulate."""
    found: dict[tuple[str, Family, tuple[IPv6Address, ...]], list[str]] = {}
    for route in routes:
        if route.behavior is Headend.H_INSERT:
            continue
        family = Family.IPV4 if route.prefix.version == 4 else Family.IPV6
        if route.behavior in _OF_FRAMES:
            family = Family.ETHERNET
        key = route.vrf or DEFAULT_VRF, family, segments.get(route.segment_list, ())
        found.setdefault(key, []).append(str(route.prefix))
    return found


class _Remotes:
    """Texts of remote addresses, and the locators of remote SIDs: other routers have locators like
    ours of the same block."""

    def __init__(self, locators: Iterable[Locator]) -> None:
        self._lengths = [
            (128 - one.block_length, int(one.block.network_address) >> 128 - one.block_length,
             one.block_length + one.node_length)
            for one in locators
        ]  # fmt: skip
        self._texts: dict[IPv6Address, str] = {}
        self._locators: dict[tuple[int, int], str] = {}

    def text(self, address: IPv6Address) -> str:
        if (known := self._texts.get(address)) is None:
            known = self._texts[address] = str(address)
        return known

    def locator(self, sid: IPv6Address) -> str | None:
        number = int(sid)
        for shift, block, length in self._lengths:
            if number >> shift == block:
                key = number >> 128 - length, length
                if (known := self._locators.get(key)) is None:
                    prefix = IPv6Network((key[0] << 128 - length, length))
                    known = self._locators[key] = str(prefix)
                return known
        return None


def _keys(row: Row) -> dict[str, Any]:
    return {"vrf": row.vrf, "address-family": row.family.value}


def _count(count: Count) -> dict[str, str]:
    # RFC 7951 section 6.1: 64-bit numbers are strings.
    return {
        "packets": str(count.packets),
        "inner-octets": str(count.inner_octets),
        "outer-octets": str(count.outer_octets),
    }


class AccountingWriter:
    """Writes the file of one part of the container, whole and at once, when something changed.
    With nothing to say there is none."""

    def __init__(
        self, path: Path, problems: Problems | None = None, part: str = "statistics"
    ) -> None:
        self._path, self._part = path, part
        self._problems = problems or Problems()
        self._written: Mapping[str, Any] | None = None

    def write(self, found: Mapping[str, Any] | None) -> None:
        """None where there is nothing, as while accounting is not enabled."""
        content = {} if found is None else {ACCOUNTING: {self._part: found}}
        if content == self._written:
            return
        self._written = None
        with self._problems.writing(self._path, MAKE_ROOM):
            if content:
                publish(self._path, content)
            else:
                self._path.unlink(missing_ok=True)
            self._written = content
