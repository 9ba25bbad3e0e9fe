"""Counters of all SIDs: C and Python give the bytes of the protobuf library."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pytest
from gnmi_pb import gnmi_pb2 as pb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from srv6mgrd.counters.store_reader import Records
from srv6mgrd.gnmi import pack, wire
from srv6mgrd.gnmi.pack import InC, Reported, Request, Sample, Table, in_python
from srv6mgrd.gnmi.path import Path, text
from tests.unit.gnmi.models import schema

TOP = schema()
_FOUND = pack.counters_of(TOP)
assert _FOUND is not None
COUNTERS = _FOUND
LEAVES = tuple(COUNTERS.children.values())
U64 = st.integers(0, (1 << 64) - 1)
# A date of four digits; what is written before 2262 fits anyway.
NS = st.integers(0, (1 << 63) - 1)
RECORDS = st.lists(st.tuples(U64, U64, U64, NS), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def in_c() -> InC:
    packer = pack.packer()
    assert isinstance(packer, InC), "libsrv6pack.so is not installed"
    return packer


def prefix(n: int) -> str:
    return f"fcbb:0:1:{n:x}::/64"


def records(
    totals: list[Any], cleared: Sequence[Any] = (), at: int = 7, number: int = 0
) -> Records:
    cleared = [*cleared, *[(0, 0, 0, 0)] * len(totals)][: len(totals)]
    slots = {prefix(n): n for n in range(len(totals))}
    return Records(
        number,
        number,
        at,
        slots,
        b"".join(struct.pack("<4Q", *t) for t in totals),
        b"".join(struct.pack("<4Q", *c) for c in cleared),
    )


def table(found: Records) -> Table:
    return Table(COUNTERS, {(p,): {} for p in reversed(found.slots)}, found.slots)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    totals=RECORDS,
    cleared=st.lists(st.tuples(U64, U64, U64, NS), max_size=5),
    encoding=st.sampled_from(wire.ENCODINGS),
    asked=st.sampled_from([Path(), Path(target="pe1"), Path(origin="srv6mgr", target="x" * 200)]),
    duplicates=st.sampled_from([0, 1, 300]),
    at=st.integers(1, (1 << 62)),
    leaves=st.sets(st.sampled_from(range(4)), min_size=1),
    whole=st.booleans(),
    origin=st.sampled_from(["", "srv6mgr", "x" * 200]),
)
def test_c_and_python_agree(
    in_c: InC, *, totals: Any, cleared: Any, encoding: int, asked: Path, duplicates: int, at: int,
    leaves: set[int], whole: bool, origin: str,
) -> None:  # fmt: skip
    # Cleared counters are never above the total (counters/store_reader.py).
    cleared = [
        (*(min(a, b) for a, b in zip(c[:3], t[:3], strict=True)), c[3])
        for c, t in zip(cleared, totals, strict=False)
    ]
    found = records(totals, cleared, at)
    chosen = tuple(LEAVES[n] for n in sorted(leaves))
    request = Request(chosen, encoding, asked, duplicates, origin=origin)
    if whole and encoding in (wire.JSON, wire.JSON_IETF):
        request = request._replace(whole=COUNTERS, duplicates=0)
    ours, theirs = (
        list(Sample(table(found), found, packer).messages(request)) for packer in (in_c, in_python)
    )
    assert ours == theirs
    for message in ours:
        assert pb.SubscribeResponse.FromString(message).SerializeToString() == message
    one, other = (Sample(table(found), found, p).response(request) for p in (in_c, in_python))
    assert one == other
    assert pb.GetResponse.FromString(one).SerializeToString() == one


def reported(messages: Any) -> dict[str, int]:
    return {
        text(wire.read_path(u.path).elems): u.val.uint_val
        for m in messages
        for u in pb.SubscribeResponse.FromString(m).update.update
    }


@pytest.mark.parametrize("kind", ["C", "Python"])
def test_what_was_reported_is_not_reported_again(in_c: InC, kind: str) -> None:
    packer = in_c if kind == "C" else in_python
    request = Request(LEAVES[:1], wire.PROTO, Path())
    first = records([(1, 0, 0, 0), (2, 0, 0, 0)])
    known, held = Reported(), table(first)
    where = "/srv6/local-sids/sid[prefix={}]/state/counters/in-pkts"
    assert reported(Sample(held, first, packer).messages(request, known)) == {
        where.format(prefix(0)): 1,
        where.format(prefix(1)): 2,
    }
    assert not list(Sample(held, first, packer).messages(request, known))
    second = records([(1, 0, 0, 0), (5, 0, 0, 0)], number=1)
    now = Sample(Table(COUNTERS, {(p,): {} for p in held.slots}, held.slots), second, packer)
    assert reported(now.messages(request, known)) == {where.format(prefix(1)): 5}
    # Another SID in the same record is sent whatever it counts.
    slots = {prefix(9): 0, prefix(1): 1}
    other = Table(COUNTERS, {(p,): {} for p in slots}, slots)
    assert reported(Sample(other, second, packer).messages(request, known)) == {
        where.format(prefix(9)): 1
    }


def test_messages_are_made_once_for_all(in_c: InC) -> None:
    found = records([(n, n, n, n) for n in range(2500)])
    sample = Sample(table(found), found, in_c)
    request = Request(LEAVES, wire.PROTO, Path(target="pe1"))
    one, two = list(sample.messages(request)), list(sample.messages(request))
    assert len(one) == 3
    assert all(a is b for a, b in zip(one, two, strict=True))
    assert one == list(Sample(table(found), found, in_python).messages(request))
