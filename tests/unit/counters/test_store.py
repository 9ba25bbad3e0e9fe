"""One writer, any readers, no locks, and no torn word after any death."""

import itertools
import os
import shutil
import signal
import struct
import sys
import time

import pytest

from srv6mgrd.counters import store_reader, store_writer
from srv6mgrd.counters.store_file import StoreError
from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters

RED = ObjectRef(Kind.VRF, "red")
OK = ObjectStatus(InstallStatus.INSTALLED, since=1)


def ref(number):
    return ObjectRef(Kind.SID, f"fcbb:0:1:{number:x}::/64")


def statuses(*numbers):
    return {ref(n): OK for n in numbers}


def counters(*numbers):
    return {ref(n).name: SidCounters(n, n * 100, 0, 1) for n in numbers}


def bases(*numbers):
    return {ref(n).name: (n, n * 10, 0) for n in numbers}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "store"


@pytest.fixture
def writer(path):
    return StoreWriter(path, capacity=4)


@pytest.fixture
def reader(writer, path):
    return StoreReader(path)


# Reader and writer.


def test_a_new_store_is_empty(reader):
    assert reader.objects() == {}
    assert reader.counters() == {}
    assert reader.records().slots == {}
    assert reader.sample == (0, 0)


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("status", list(InstallStatus))
def test_a_reader_sees_what_the_writer_wrote(writer, reader, kind, status):
    written = {
        ObjectRef(kind, "n" * 64): ObjectStatus(
            status, "because é", 1 << 63, 1 << 62, 1 << 61, "fcbb:0:1:64::/64"
        )
    }

    writer.set_statuses(written)

    assert reader.objects() == written
    assert writer.statuses() == written


def test_one_status_changes_alone(writer, reader):
    writer.set_statuses(statuses(1, 2))
    failed = ObjectStatus(InstallStatus.FAILED, "no memory", since=2)

    writer.set_statuses({**writer.statuses(), ref(2): failed})

    assert reader.objects() == {ref(1): OK, ref(2): failed}


def test_a_reader_sees_the_counters_of_sids(writer, reader):
    writer.set_statuses({**statuses(1, 2), RED: OK})

    writer.set_counters(counters(1, 2, 3), bases(1, 3), sampled_at=77)

    assert reader.counters() == counters(1, 2)
    assert reader.sample == (1, 77)
    assert writer.counters() == counters(1, 2)
    assert writer.bases() == {ref(1).name: (1, 10, 0), ref(2).name: (0, 0, 0)}


def test_raw_counters_lie_in_the_order_of_slots(writer, reader):
    writer.set_statuses({RED: OK, **statuses(1, 2)})
    writer.set_counters(counters(1, 2), {}, sampled_at=1)

    records = list(struct.iter_unpack("<QQQQ", reader.records().counters))

    assert {name: records[slot] for name, slot in reader.records().slots.items()} == {
        ref(1).name: (1, 100, 0, 1),
        ref(2).name: (2, 200, 0, 1),
    }


def test_the_generation_moves_with_statuses_and_not_with_counters(writer, reader):
    seen = [reader.generation]
    writer.set_statuses(statuses(1))
    seen.append(reader.generation)
    writer.set_statuses({**writer.statuses(), ref(1): OK})
    seen.append(reader.generation)
    writer.set_counters(counters(1), {}, sampled_at=1)

    assert len(set(seen)) == 3
    assert reader.generation == seen[-1]


def test_the_sample_moves_with_counters_and_not_with_statuses(writer, reader):
    writer.set_statuses(statuses(1))
    assert reader.sample == (0, 0)

    writer.set_counters(counters(1), {}, sampled_at=5)
    writer.set_counters(counters(1), {}, sampled_at=6)

    assert reader.sample == (2, 6)


REASONS = {"fits": "x" * 216, "is longer": "x" * 217, "is cut in a letter": "x" * 212 + "éé" * 9}


@pytest.mark.parametrize("case", REASONS)
def test_a_reason_that_is_too_long_is_cut_and_says_so(writer, reader, case):
    reason = REASONS[case]

    writer.set_statuses({RED: ObjectStatus(InstallStatus.FAILED, reason)})

    found = reader.objects()[RED].reason
    assert len(found.encode()) <= 216
    assert found == reason or (found.endswith("...") and reason.startswith(found[:-3]))


# Slots.


def test_what_is_gone_is_gone_with_its_counters(writer, reader):
    writer.set_statuses(statuses(1, 2))
    writer.set_counters(counters(1, 2), bases(1, 2), sampled_at=1)

    writer.set_statuses(statuses(2))

    assert reader.objects() == statuses(2)
    assert reader.counters() == counters(2)


def test_slots_are_reused_and_start_at_zero(writer, reader):
    writer.set_statuses(statuses(1, 2))
    writer.set_counters(counters(1, 2), bases(1, 2), sampled_at=1)
    writer.set_statuses(statuses(2))

    writer.set_statuses(statuses(2, 3))

    assert sorted(reader.records().slots.values()) == [0, 1]
    assert reader.counters() == {**counters(2), ref(3).name: SidCounters()}
    assert writer.bases()[ref(3).name] == (0, 0, 0)


def test_slots_stay_where_they_are_while_others_come_and_go(writer, reader):
    writer.set_statuses(statuses(1, 2, 3))
    slot = reader.records().slots[ref(2).name]

    for others in ([4], [4, 5, 6], [], [7]):
        writer.set_statuses(statuses(2, *others))
        assert reader.records().slots[ref(2).name] == slot


# Growth.


def test_it_grows_and_keeps_all(writer, path):
    writer.set_statuses(statuses(1, 2, 3))
    writer.set_counters(counters(1, 2, 3), bases(1, 2), sampled_at=5)

    writer.set_statuses(statuses(*range(1, 100)))

    reader = StoreReader(path)
    assert reader.objects() == statuses(*range(1, 100))
    assert {n: c for n, c in reader.counters().items() if c.packets} == counters(1, 2, 3)
    assert writer.bases()[ref(2).name] == (2, 20, 0)
    assert reader.sample[1] == 5


def test_a_live_reader_follows_growth(writer, reader):
    writer.set_statuses(statuses(1))
    reader.objects()
    generation = reader.generation

    writer.set_statuses(statuses(*range(1, 10)))
    writer.set_counters(counters(9), {}, sampled_at=9)

    assert reader.objects() == statuses(*range(1, 10))
    assert reader.counters()[ref(9).name] == counters(9)[ref(9).name]
    assert reader.generation != generation


def test_it_has_as_many_slots_as_it_says(path):
    writer = StoreWriter(path, capacity=2)

    writer.set_statuses(statuses(1, 2))
    inode = path.stat().st_ino
    writer.set_statuses(statuses(2, 3))
    assert path.stat().st_ino == inode

    writer.set_statuses(statuses(2, 3, 4))
    assert path.stat().st_ino != inode


# Restart and death of the writer.


def test_a_restarted_writer_takes_over_all(writer, reader, path):
    writer.set_statuses({**statuses(1, 2), RED: OK})
    writer.set_counters(counters(1, 2), bases(1), sampled_at=1)
    writer.set_statuses({**statuses(2), RED: OK})
    writer.close()

    again = StoreWriter(path)

    assert again.statuses() == {**statuses(2), RED: OK}
    assert again.counters() == counters(2)
    again.set_statuses({**statuses(2, 3), RED: OK})
    assert reader.objects() == {**statuses(2, 3), RED: OK}
    assert sorted(reader.records().slots.values()) == [0, 1]


def test_while_there_is_no_store_a_reader_says_so(tmp_path):
    reader = StoreReader(tmp_path / "store")

    with pytest.raises(StoreError, match="absent; is srv6mgrd running"):
        reader.objects()


def test_a_reader_finds_a_store_that_comes_later(tmp_path):
    reader = StoreReader(tmp_path / "store")
    with pytest.raises(StoreError):
        reader.objects()

    StoreWriter(tmp_path / "store")

    assert reader.objects() == {}


def header_cut(content):
    return content[:40]


def cut(content):
    return content[:5000]


def foreign(content):
    return b"\x7fELF" + content[4:]


def other_layout(content):
    return content[:8] + struct.pack("<I", 99) + content[12:]


def empty(_):
    return b""


@pytest.mark.parametrize("damage", [empty, header_cut, cut, foreign, other_layout])
def test_a_file_that_is_no_store_is_rejected_by_readers_and_replaced_by_the_writer(path, damage):
    StoreWriter(path, capacity=50).set_statuses(statuses(*range(1, 40)))
    path.write_bytes(damage(path.read_bytes()))

    with pytest.raises(StoreError, match="restart srv6mgrd"):
        StoreReader(path).objects()
    writer = StoreWriter(path)
    writer.set_statuses(statuses(7))

    assert StoreReader(path).objects() == statuses(7)


def test_a_reader_does_not_wait_for_a_dead_writer_for_ever(writer, reader, monkeypatch):
    writer._write_lock(writer._map.lock + 1)
    clock = itertools.count(0.0, 0.3)
    monkeypatch.setattr(store_reader.time, "monotonic", lambda: next(clock))

    with pytest.raises(StoreError, match="its writer died inside; restart srv6mgrd"):
        reader.objects()


def at_every_line(work, visit):
    """Run ``work`` once, and ``visit`` before each line that it runs in the store."""

    def trace(frame, event, _):
        if frame.f_code.co_filename not in (store_reader.__file__, store_writer.__file__):
            return None
        if event == "line":
            sys.settrace(None)
            visit()
            sys.settrace(trace)
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)


STEPS = {
    "counters": lambda w: w.set_counters(counters(1, 2, 3), bases(1, 2, 3), 9),
    "a status": lambda w: w.set_statuses(
        {**w.statuses(), ref(1): ObjectStatus(InstallStatus.FAILED, "no")}
    ),
    "others": lambda w: w.set_statuses(statuses(2, 3, 4)),
    "more": lambda w: w.set_statuses(statuses(*range(1, 12))),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_may_die_at_any_line_and_the_next_one_takes_over(writer, path, tmp_path, step):
    writer.set_statuses(statuses(1, 2, 3))
    writer.set_counters(counters(1, 2, 3), bases(1, 2), sampled_at=5)
    left = tmp_path / "left"
    deaths = 0

    def die():
        nonlocal deaths
        deaths += 1
        shutil.copyfile(path, left)
        heir = StoreWriter(left)
        for stays in (2, 3):
            assert heir.statuses()[ref(stays)] == OK
            assert heir.counters()[ref(stays).name] == counters(stays)[ref(stays).name]
        after = {**statuses(2, 3, 20, 21), RED: OK}
        heir.set_statuses(after)
        assert StoreReader(left).objects() == after

    at_every_line(lambda: STEPS[step](writer), die)

    assert deaths > 10


def test_a_reader_that_comes_while_the_store_grows_sees_all(writer, path):
    writer.set_statuses(statuses(1, 2, 3))
    allowed = [statuses(1, 2, 3), statuses(*range(1, 12))]

    def look():
        reader = StoreReader(path)
        if reader._open().lock % 2 == 0:
            assert reader.objects() in allowed
        reader.close()

    at_every_line(lambda: writer.set_statuses(statuses(*range(1, 12))), look)


def test_a_record_torn_by_a_death_is_dropped(writer, path):
    writer.set_statuses(statuses(1, 2, 3))
    writer.close()
    content = bytearray(path.read_bytes())
    content[4096 + 416 + 1] = 99  # no such status
    content[4096 + 2 * 416 + 32] = 0xFF  # no UTF-8
    path.write_bytes(content)

    again = StoreWriter(path)
    again.set_statuses(statuses(1, 5, 6))

    assert StoreReader(path).objects() == statuses(1, 5, 6)


def test_readers_never_see_a_half_written_sample(path):
    """A writer process in a hurry; each sample is one number all over."""
    names = [ref(n).name for n in range(60)]
    writer = StoreWriter(path)
    writer.set_statuses(statuses(*range(60)))
    child = os.fork()
    if child == 0:
        for value in itertools.count(1):
            sample = {name: SidCounters(value, value, value, value) for name in names * 5}
            writer.set_counters(sample, {}, value)
    try:
        reader = StoreReader(path)
        seen = set()
        deadline = time.monotonic() + 10
        while len(seen) < 200 and time.monotonic() < deadline:
            values = {
                v for record in struct.iter_unpack("<4Q", reader.records().counters) for v in record
            }
            assert len(values) == 1
            seen |= values
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert len(seen) > 1


def test_readers_need_not_wait_for_a_sample_that_is_made(writer, reader):
    writer.set_statuses(statuses(1, 2))
    seen = []

    class Watched(dict):
        def items(self):
            for name, value in super().items():
                seen.append(reader.counters()[name].packets)
                yield name, value

    writer.set_counters(Watched(counters(1, 2)), Watched(), 1)

    assert seen == [0, 0]
    assert reader.counters() == counters(1, 2)


# Speed.


def test_ten_thousand_sids(path, capsys):
    numbers = range(10_000)
    writer, reader = StoreWriter(path), StoreReader(path)
    sample = counters(*numbers)
    table = statuses(*numbers)
    took = {}

    def timed(what, work):
        start = time.process_time()
        work()
        took[what] = 1000 * (time.process_time() - start)

    timed("set statuses", lambda: writer.set_statuses(table))
    timed("set counters", lambda: writer.set_counters(sample, {}, 1))
    timed("read objects", reader.objects)
    timed("read counters", reader.counters)
    timed("read records", reader.records)
    timed("take over", lambda: StoreWriter(path))

    with capsys.disabled():
        print("\n10000 SIDs:", ", ".join(f"{what} {ms:.1f} ms" for what, ms in took.items()))
    assert reader.counters() == sample
    assert took["read records"] < 100


def test_cleared_counters_begin_at_0_for_readers_alone(writer, reader):
    ref = ObjectRef(Kind.SID, "fc00::/64")
    writer.set_statuses({ref: ObjectStatus(InstallStatus.INSTALLED)})
    writer.set_counters({ref.name: SidCounters(10, 1000, 2, 5)}, {}, 6)
    sample = reader.sample[0]
    writer.clear_counters([ref.name], 7)
    assert reader.counters() == {ref.name: SidCounters(0, 0, 0, 7)}
    assert reader.sample[0] > sample
    writer.set_counters({ref.name: SidCounters(13, 1300, 2, 5)}, {}, 8)
    assert reader.counters() == {ref.name: SidCounters(3, 300, 0, 7)}
    assert writer.counters() == {ref.name: SidCounters(13, 1300, 2, 5)}
    # A SID of this name that comes later has nothing to do with it.
    writer.set_statuses({})
    writer.set_statuses({ref: ObjectStatus(InstallStatus.INSTALLED)})
    writer.set_counters({ref.name: SidCounters(1, 100, 0, 9)}, {}, 9)
    assert reader.counters() == {ref.name: SidCounters(1, 100, 0, 9)}
