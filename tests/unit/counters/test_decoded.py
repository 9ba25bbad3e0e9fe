"""Only records that changed are decoded again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.counters import decoded
from srv6mgrd.counters.decoded import Decoded
from srv6mgrd.counters.store_file import OBJECT, packed, unpacked
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus

FREE = bytes(OBJECT.size)


def ref(n: int) -> ObjectRef:
    return ObjectRef(Kind.SID, f"fcbb:0:1:{n:x}::/64")


def record(n: int, since: int = 1) -> bytes:
    return packed(ref(n), ObjectStatus(InstallStatus.INSTALLED, since=since))


records = st.lists(
    st.one_of(st.just(FREE), st.integers(1, 200).map(record), st.just(record(7, since=9))),
    max_size=200,
)


@given(st.lists(records, max_size=4))
def test_what_is_kept_never_differs_from_what_is_decoded_anew(moments: list[list[bytes]]) -> None:
    kept = Decoded()
    for moment in moments:
        raw = b"".join(moment)
        assert kept.objects(raw) == Decoded().objects(raw)


@given(st.lists(records, min_size=1, max_size=4))
def test_the_differences_are_those_of_the_objects(moments: list[list[bytes]]) -> None:
    kept = Decoded()
    before = kept.objects(b"")
    for moment in moments:
        now = kept.objects(b"".join(moment))
        found = kept.differences(before)
        assert found is not None
        assert set(found) == {r for r in {**before, **now} if before.get(r) != now.get(r)}
        assert kept.differences({}) is None
        before = now


def test_a_commit_of_one_sid_decodes_its_neighbors_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    number, work = 10_000, []

    def counted(raw: bytes, at: int) -> object:
        work.append(at)
        return unpacked(raw, at)

    monkeypatch.setattr(decoded, "unpacked", counted)
    kept = Decoded()
    before = kept.objects(b"".join(record(n) for n in range(number)))
    work.clear()
    after = kept.objects(b"".join(record(n, since=1 + (n == 77)) for n in range(number)))
    assert len(work) == 64
    assert {r for r in after if after[r] is not before[r]} == {ref(77)}
