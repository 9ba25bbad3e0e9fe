"""Large texts in parts that etcd takes: it rejects requests beyond 1.5 MiB. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

PART = 1 << 20


def parts(text: str) -> Iterator[bytes]:
    packed = zlib.compress(text.encode(), 1)
    return (packed[start : start + PART] for start in range(0, len(packed), PART))


def joined(found: Iterable[bytes]) -> str:
    return zlib.decompress(b"".join(found)).decode()
