"""Renders ``redis-schema/README.md`` from the schema files.

``python -m srv6mgrd.redis.schemadoc`` writes it; with ``--check`` it fails when it is not current.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from srv6mgrd.redis.schema import TYPES, Kind, Table, Value, tables

README = Path(__file__).resolve().parents[2] / "redis-schema" / "README.md"

INTRODUCTION = """\
# Redis tables

*Rendered by `python -m srv6mgrd.redis.schemadoc` from the files here; change those.*

One TOML file for each table that srv6mgrd writes, named `<database>.<table>.toml`. The code takes
names, separators, keys and fields from these files (`srv6mgrd/redis/schema.py`) and from nowhere
else; an installed package holds a copy of them in `srv6mgrd/redis/tables/`. The Lua scripts are
what Redis runs for us.

## Rules

- **Rows** are what SONiC's `Table` class makes (sonic-swss-common `common/table.cpp`): one hash per
  row, `HSET` and `DEL`, keys `<table><separator><key>`. A table marked *consumed* is written by
  the protocol of `ProducerStateTable` (`producer.lua`) while somebody subscribes to its channel
  `<table>_CHANNEL@<id>`; `pop.lua` is the consumer's side. A row for a consumer that is gone
  becomes a plain row with the next write.
- **Ownership.** Each key that srv6mgrd writes is in `SRV6MGR_OWNED` of its database, and only
  those are ever changed or removed. A row that another writer made first is left alone and
  reported. Of `COUNTERS_SRV6_NAME_MAP`, which is shared, only fields that lead to our own objects
  are ours.
- **Differences only.** A row that is right already is not written again.
- **Loss.** After a restart of Redis, `FLUSHALL`, `FLUSHDB` or a lost connection everything is
  compared and put back. A change by somebody else to a row of ours is noticed through
  `CLIENT TRACKING` (Redis 6) and put right at once; rows of `COUNTERS` at the next sample or the
  next full compare.
- **Object identifiers** of counters are `oid:0x54...`, the index taken from `VIDCOUNTER` as
  libsairedis does, so that they never meet one of its own. A SID keeps its identifier while it is
  declared: `SRV6MGR_SID_OID` remembers it through a restart of srv6mgrd, srv6mgrd through a
  restart of Redis. An identifier is not given out twice. Only when both forget at once (Redis
  emptied while srv6mgrd is down) do SIDs get new ones.
- **Order.** Tables are written in the order of their number below and removed in reverse, so that
  a reader who follows a reference finds its end.
"""


def render() -> str:
    lines = [INTRODUCTION, "## Tables", ""]
    lines += ["| database | id | table | order | meaning |", "|---|---|---|---|---|"]
    lines += [
        f"| {t.database} | {t.id} | [{t.name}](#{_anchor(t)}) | {t.order or '-'} | {t.meaning} |"
        for t in tables()
    ]
    for t in tables():
        lines += ["", *_table(t)]
    lines += ["", "## Types", "", "| type | text |", "|---|---|"]
    lines += [f"| {name} | {text} |" for name, text in TYPES.items()]
    return "\n".join(lines) + "\n"


def _table(t: Table) -> Iterator[str]:
    yield f"## {t.database} {t.name}"
    yield ""
    yield t.meaning
    yield ""
    key = t.prefix + t.separator.join(f"<{p.name}>" for p in t.parts)
    yield f"- key: `{key}` in database {t.id}, {_kind(t)}"
    if t.consumed:
        yield "- consumed: by ConsumerStateTable, where somebody subscribes"
    yield f"- written by: {t.writer}"
    yield f"- read by: {t.reader}"
    yield f"- source: {'; '.join(t.source)}"
    for deviation in t.deviations:
        yield f"- deviation: {deviation}"
    yield ""
    yield "| | name | type | meaning |"
    yield "|---|---|---|---|"
    for part in t.parts:
        yield _row("key", part)
    for field in t.fields.values():
        yield _row("field" if field.required else "field, optional", field)
    if t.kind is Kind.HASH:
        for side, value in zip(("field name", "field value"), t.map, strict=False):
            yield _row(side, value)
    else:
        for value in t.map:
            yield _row("member", value)


def _kind(t: Table) -> str:
    if t.kind is not Kind.HASH:
        return f"a {t.kind}"
    return "a hash shared with other writers" if t.shared else "a hash"


def _row(what: str, v: Value) -> str:
    kind = f"{v.type}: {', '.join(f'`{x}`' for x in v.values)}" if v.values else v.type
    return f"| {what} | `{v.name}` | {kind} | {v.meaning} |"


def _anchor(t: Table) -> str:
    return f"{t.database}-{t.name}".lower()


def main() -> int:
    text = render()
    if "--check" not in sys.argv[1:]:
        README.write_text(text, encoding="utf-8")
        return 0
    if README.exists() and README.read_text(encoding="utf-8") == text:
        return 0
    print(f"{README.name} is not current; run python -m srv6mgrd.redis.schemadoc", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
