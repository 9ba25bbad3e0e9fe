"""The text that a client gets: families of the library, and what has too many samples for it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from prometheus_client import exposition
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics

from srv6mgrd.metrics import accounting, sids, state
from srv6mgrd.metrics.query import Kind, Query
from srv6mgrd.metrics.state import State

_EOF = b"# EOF\n"
# RFC 1952: with zlib's fastest level 30 MB take 0.2 s, a tenth of what the default takes.
_GZIP, _LEVEL = 31, 1


@dataclass(frozen=True, slots=True)
class Format:
    """``is_open``: OpenMetrics, else the text format of Prometheus, which names a family of
    counters as their samples."""

    content_type: str
    is_open: bool

    @classmethod
    def wanted(cls, accept: str) -> Format:
        """The one that the library chooses by the header Accept."""
        encoder, content_type = exposition.choose_encoder(accept)
        return cls(content_type, encoder is openmetrics.generate_latest)


class _Collected:
    """What the library takes for a registry."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def body(found: State, query: Query, written: Format, more: Iterable[Metric] = ()) -> list[bytes]:
    """Pieces of the text; ``more`` are further families of the node."""
    families = [*state.families(found, query), *(more if query.wants(Kind.NODE) else ())]
    generate: Any = openmetrics.generate_latest if written.is_open else exposition.generate_latest
    text = generate(_Collected(families)).removesuffix(_EOF)
    pieces = [text, *_rows(found, query, written)]
    if written.is_open:
        pieces.append(_EOF)
    return [piece for piece in pieces if piece]


def _rows(found: State, query: Query, written: Format) -> Iterator[bytes]:
    if query.wants(Kind.ACCOUNTING):
        for family in accounting.families(found.accounting, query):
            yield _head(family.name, family.unit, family.help, written)
            yield family.text.encode()
    if query.wants(Kind.SID):
        encode = sids.encoder()
        for counter in sids.COUNTERS_OF_SIDS:
            yield _head(counter.name, counter.unit, counter.help, written)
            yield from encode(found.snapshot, counter, query.vrfs)


def _head(name: str, unit: str, text: str, written: Format) -> bytes:
    """The lines before the samples of counters."""
    family = name if written.is_open else f"{name}_total"
    lines = [f"# HELP {family} {text}", f"# TYPE {family} counter"]
    if unit and written.is_open:
        lines.append(f"# UNIT {family} {unit}")
    return "".join(f"{line}\n" for line in lines).encode()


def compressed(pieces: Iterable[bytes]) -> list[bytes]:
    """The same with gzip."""
    packing = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return [piece for piece in (*map(packing.compress, pieces), packing.flush()) if piece]
