"""Rows of accounting as text of OpenMetrics. Pure.

There may be a hundred thousand: the library would take 10 us for each of their samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from srv6mgrd.counters.accounting import ACCOUNTING
from srv6mgrd.metrics.query import Query

Members = Mapping[str, Any]

_LEAVES = {
    "packets": ("packets", "", "Packets as they are on the wire"),
    "inner-octets": ("inner_bytes", "bytes", "Bytes of the packets inside, with their headers"),
    "outer-octets": ("outer_bytes", "bytes", "Bytes of the outer packets, without their frames"),
}
_WHAT = {
    "sent": "encapsulated to a remote SID",
    "received": "that a local SID decapsulated",
    "other": "that have no row of their own",
}
# Labels, and the leaves that they show.
_LABELS = {
    "sent": (
        ("vrf", "vrf"),
        ("family", "address-family"),
        ("remote_sid", "remote-sid"),
        ("remote_locator", "remote-locator"),
        ("segments", "segments"),
        ("segment_list", "segment-list"),
    ),
    "received": (("vrf", "vrf"), ("family", "address-family"), ("source", "source")),
    "other": (("direction", "direction"), ("family", "address-family")),
}


class RowFamily(NamedTuple):
    """A metric without ``_total``, and its samples."""

    name: str
    unit: str
    help: str
    text: str


def families(members: Members, query: Query) -> Iterator[RowFamily]:
    """All that the query wants; nothing while accounting is not enabled."""
    statistics = members.get(ACCOUNTING, {}).get("statistics", {})
    for kind, labels in _LABELS.items():
        rows = statistics.get(kind, ())
        if query.vrfs:
            # Packets in ``other`` are of no VRF.
            rows = [row for row in rows if "vrf" in row and query.wants_vrf(row["vrf"])]
        heads = [_labels(row, labels) for row in rows]
        for leaf, (suffix, unit, text) in _LEAVES.items():
            name = f"srv6_accounting_{kind}_{suffix}"
            yield RowFamily(
                name, unit, f"{text}, {_WHAT[kind]}.", _samples(name, heads, rows, leaf)
            )


def _samples(name: str, heads: Sequence[str], rows: Sequence[Members], leaf: str) -> str:
    return "".join(
        f"{name}_total{{{head}}} {row[leaf]}\n" for head, row in zip(heads, rows, strict=True)
    )


def _labels(row: Members, labels: Sequence[tuple[str, str]]) -> str:
    return ",".join(f'{label}="{_escaped(row.get(leaf, ""))}"' for label, leaf in labels)


def _escaped(text: str) -> str:
    """As the format has it in the value of a label."""
    if '"' in text or "\\" in text or "\n" in text:
        return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return text
