"""The sequence lock of the store where memory is ordered as weakly as on arm64, and under load.

No machine shows reliably that a barrier is missing, so all orders are tried that a weak memory
permits: those of the loads and stores that writer and reader were seen to make.
"""

from __future__ import annotations

import itertools
import os
import platform
import select
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from srv6mgrd.counters.fence import LIBRARY, fence, find
from srv6mgrd.counters.store_file import GENERATION, LOCK, SAMPLE, StoreError
from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters

RED = ObjectRef(Kind.VRF, "red")


def ref(number: int) -> ObjectRef:
    return ObjectRef(Kind.SID, f"fcbb:0:1:{number:x}::/64")


# Weak memory.


class Step(NamedTuple):
    """A load or store of one datum; the barrier has no place."""

    place: str = ""


BARRIER = Step()


class Noted:
    """Part of a store's memory; notes the ``loads`` from it, or else the stores to it."""

    def __init__(
        self, memory: Any, steps: list[Step], name: Callable[[Any], str], *, loads: bool
    ) -> None:
        self._memory, self._steps, self._name, self._loads = memory, steps, name, loads

    def __getitem__(self, where: Any) -> Any:
        if self._loads and (name := self._name(where)):
            self._steps.append(Step(name))
        return self._memory[where]

    def __setitem__(self, where: Any, value: Any) -> None:
        if not self._loads and value != b"" and (name := self._name(where)):
            self._steps.append(Step(name))
        self._memory[where] = value


def noted(store: Any, work: Callable[[], object], word: int, *, loads: bool) -> list[Step]:
    """The loads or stores of some work on a store: the lock, one other word, records; barriers."""
    steps: list[Step] = []
    m = store._map
    words, content, barrier = m.words, m.bytes, store._fence
    names = {LOCK: "lock", word: "word"}
    m.words = Noted(words, steps, lambda index: names.get(index, ""), loads=loads)
    m.bytes = Noted(content, steps, lambda _: "record", loads=loads)
    store._fence = lambda: steps.append(BARRIER)
    try:
        work()
    finally:
        m.words, m.bytes, store._fence = words, content, barrier
    # A place that is read or written twice in a row is one step.
    return [step for step, _ in itertools.groupby(steps)]


def orders(steps: Sequence[Step]) -> list[tuple[Step, ...]]:
    """Every order in which others may see these: steps never move over a barrier, nor those of
    one place over each other; nothing else keeps them."""
    segments: list[list[Step]] = [[]]
    for step in steps:
        if step == BARRIER:
            segments.append([])
        else:
            segments[-1].append(step)
    of_each = [
        {
            tuple(segment[i] for i in order)
            for order in itertools.permutations(range(len(segment)))
            if all(
                order.index(a) < order.index(b)
                for a, b in itertools.combinations(range(len(segment)), 2)
                if segment[a].place == segment[b].place
            )
        }
        for segment in segments
    ]
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*of_each)]


def accepted(writer: Sequence[Step], reader: Sequence[Step]) -> Iterator[frozenset[int]]:
    """The versions of the data that each reader gets which accepts what it read: before, and
    behind, one change by the writer. One version is all that it should be."""
    length = len(writer) + len(reader)
    for when in itertools.combinations(range(length), len(writer)):
        is_writer = [i in when for i in range(length)]
        memory = {"lock": 0}
        writes, reads = iter(writer), iter(reader)
        locks, data = [], set()
        for theirs in is_writer:
            if theirs:
                step = next(writes)
                memory[step.place] = memory.get(step.place, 0) + 1
            else:
                step = next(reads)
                value = memory.get(step.place, 0)
                if step.place == "lock":
                    locks.append(value)
                else:
                    data.add(value)
        if locks[0] == locks[-1] and locks[0] % 2 == 0:
            yield frozenset(data)


def is_torn(writer: Sequence[Step], reader: Sequence[Step]) -> bool:
    """Whether any order leads to a reader that accepts a mix."""
    return any(
        len(versions) > 1
        for w in orders(writer)
        for r in orders(reader)
        for versions in accepted(w, r)
    )


def steps_of(path: Path, case: str) -> tuple[list[Step], list[Step]]:
    """What the writer does for a change, and the reader to read it."""
    writer = StoreWriter(path, capacity=8)
    writer.set_statuses({ref(1): ObjectStatus(InstallStatus.INSTALLED)})
    reader = StoreReader(path)
    reader.objects()
    if case == "sample":
        sample = {ref(1).name: SidCounters(1, 1, 1, 1)}
        written = noted(writer, lambda: writer.set_counters(sample, {}, 5), SAMPLE, loads=False)
        return written, noted(reader, reader.records, SAMPLE, loads=True)
    failed = {ref(1): ObjectStatus(InstallStatus.FAILED, "no")}
    written = noted(writer, lambda: writer.set_statuses(failed), GENERATION, loads=False)
    return written, noted(reader, reader.records, GENERATION, loads=True)


CASES = ("sample", "status")


@pytest.mark.parametrize("case", CASES)
def test_no_reader_accepts_a_mix_on_a_machine_that_reorders(tmp_path: Path, case: str) -> None:
    written, read = steps_of(tmp_path / "store", case)

    everything = {"", "lock", "word", "record"}
    assert {s.place for s in written} == {s.place for s in read} == everything
    assert not is_torn(written, read)


@pytest.mark.parametrize("case", CASES)
def test_the_barriers_around_the_data_are_needed(tmp_path: Path, case: str) -> None:
    """Else the test before would prove nothing."""
    written, read = steps_of(tmp_path / "store", case)

    def without(steps: list[Step], inner: int) -> list[Step]:
        barriers = [i for i, step in enumerate(steps) if step == BARRIER]
        return steps[: barriers[inner]] + steps[barriers[inner] + 1 :]

    # Of F lock F data F lock F those in the middle.
    for inner in (1, 2):
        assert is_torn(without(written, inner), read)
        assert is_torn(written, without(read, inner))


# The barrier itself.


def test_where_loads_and_stores_stay_in_order_it_may_be_absent(tmp_path: Path) -> None:
    find(tmp_path / "absent.so", "x86_64")()


def test_elsewhere_the_store_is_not_used_without_it(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"absent.so: absent .* on aarch64 .* reinstall the"):
        find(tmp_path / "absent.so", "aarch64")


@pytest.mark.skipif(not LIBRARY.exists(), reason="libsrv6pack.so is not installed")
def test_the_library_has_it() -> None:
    assert find(LIBRARY, "aarch64") is not None
    find(LIBRARY, platform.machine())()
    assert fence() is not None


# Load.

_READERS, _SAMPLES = 3, 100


def change_for_ever(path: Path) -> None:
    """A writer in a hurry: every record has one number, objects come and go, the store grows."""
    writer = StoreWriter(path, capacity=4)
    for number in itertools.count(1):
        status = ObjectStatus(InstallStatus.INSTALLED, str(number), since=number, repairs=number)
        some = {ref(n): status for n in range(20 + number % 40)}
        writer.set_statuses({**some, RED: status})
        sample = SidCounters(number, number, number, number)
        writer.set_counters({one.name: sample for one in some}, {}, number)


def read_until_enough(path: Path, done: int) -> None:
    """Write a byte for each sample that is new, and end at the first mix."""
    reader, last = StoreReader(path), 0
    while True:
        objects = reader.objects()
        numbers = {status.since for status in objects.values()}
        assert len(numbers) <= 1, f"statuses of {sorted(numbers)}"
        assert all(s.reason == str(s.since) and s.repairs == s.since for s in objects.values())
        assert not objects or RED in objects
        counters = reader.records().counters
        values = {n for record in struct.iter_unpack("<4Q", counters) for n in record} - {0}
        assert len(values) <= 1, f"counters of {sorted(values)}"
        generation_before = reader.generation
        assert reader.objects() is not None
        assert reader.generation >= generation_before
        if values and max(values) > last:
            last = max(values)
            os.write(done, b".")


def in_a_child(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
        except AssertionError as error:
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(status)
    return pid


def test_under_load_no_reader_sees_a_mix(tmp_path: Path) -> None:
    path = tmp_path / "store"
    StoreWriter(path, capacity=4).close()
    writer = in_a_child(lambda: change_for_ever(path))
    readers: dict[int, int] = {}
    for _ in range(_READERS):
        end, done = os.pipe()
        readers[end] = in_a_child(lambda done=done: read_until_enough(path, done))  # type: ignore[misc]
        os.close(done)
    seen = dict.fromkeys(readers, 0)
    deadline = time.monotonic() + 60
    try:
        while min(seen.values()) < _SAMPLES and time.monotonic() < deadline:
            ready, _, _ = select.select(list(readers), [], [], 1.0)
            for end in ready:
                notifications = os.read(end, 4096)
                assert notifications, "a reader saw a mix, or failed; its message is above"
                seen[end] += len(notifications)
    finally:
        for pid in (writer, *readers.values()):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for end in readers:
            os.close(end)
    assert min(seen.values()) >= _SAMPLES, f"only {seen} samples in a minute"
