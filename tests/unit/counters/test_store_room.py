"""The store on a file system without room: no page of it is touched that may not be there."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.counters.store_file import StoreError
from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.storage import Problems


def sids(count):
    return {
        ObjectRef(Kind.SID, f"fcbb:0:1:{n:x}::/64"): ObjectStatus(InstallStatus.INSTALLED)
        for n in range(count)
    }


SID = "fcbb:0:1:1::/64"
COUNTED = {SID: SidCounters(7, 700, 1, 5)}


async def retried(problems):
    run = asyncio.create_task(problems.run())
    await wait_until_async(lambda: not problems.listed())
    run.cancel()


@pytest.fixture
def full(monkeypatch):
    """Sets whether the file system is full."""
    real = os.posix_fallocate

    def fallocate(file, offset, length):
        if set_.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, offset, length)

    def set_(value):
        set_.full = value

    set_.full = False
    monkeypatch.setattr(os, "posix_fallocate", fallocate)
    monkeypatch.setattr("srv6mgrd.storage.RETRY", 0.001)
    return set_


def test_every_page_is_reserved(tmp_path):
    path = tmp_path / "store"
    StoreWriter(path).close()
    assert path.stat().st_blocks * 512 >= path.stat().st_size


def test_a_store_with_holes_is_filled(tmp_path):
    path = tmp_path / "store"
    writer = StoreWriter(path)
    writer.set_statuses(sids(3))
    writer.close()
    content = path.read_bytes().rstrip(b"\0")
    size = path.stat().st_size
    path.write_bytes(content)
    os.truncate(path, size)
    writer = StoreWriter(path)
    assert path.stat().st_blocks * 512 >= size
    assert len(writer.statuses()) == 3
    writer.close()


def test_without_room_it_goes_on_unseen_and_is_there_once_there_is(tmp_path, full):
    full(True)
    problems = Problems()
    writer = StoreWriter(tmp_path / "store", problems=problems)
    writer.set_statuses(sids(3))
    reader = StoreReader(tmp_path / "store")
    with pytest.raises(StoreError, match="absent"):
        reader.objects()
    assert "No space left" in problems.listed()["store"][0]
    assert [*tmp_path.iterdir()] == []
    full(False)
    writer.set_counters(COUNTED, {}, 9)
    asyncio.run(retried(problems))
    assert len(reader.objects()) == 3
    assert reader.counters()[SID] == COUNTED[SID]
    assert problems.listed() == {}
    reader.close()
    writer.close()


def test_one_that_can_t_grow_is_gone_for_readers(tmp_path, full):
    """Better no status than one that nobody writes any more."""
    writer = StoreWriter(tmp_path / "store", capacity=2)
    writer.set_statuses(sids(2))
    writer.set_counters(COUNTED, {}, 9)
    reader = StoreReader(tmp_path / "store")
    assert len(reader.objects()) == 2
    full(True)
    writer.set_statuses(sids(5))
    with pytest.raises(StoreError, match="absent"):
        reader.objects()
    writer.renew_lease(5)
    writer.publish()
    full(False)
    writer.set_statuses(sids(6))
    writer.publish()
    assert len(reader.objects()) == 6
    assert reader.counters()[SID] == COUNTED[SID]
    reader.close()
    writer.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:3000],
        lambda content: content[: len(content) // 2],
        lambda content: os.urandom(len(content)),
        lambda content: content[:8] + b"\x63\0\0\0" + content[12:],
        lambda content: content[:48] + b"\xff\xff\xff\x7f" + content[52:],
        lambda content: content[:4096] + os.urandom(len(content) - 4096),
    ],
    ids=["empty", "a header alone", "half", "random", "another layout", "overfull", "torn"],
)
def test_a_damaged_store_is_begun_anew(tmp_path: Path, damage):
    path = tmp_path / "store"
    writer = StoreWriter(path)
    writer.set_statuses(sids(3))
    writer.close()
    path.write_bytes(damage(path.read_bytes()))
    writer = StoreWriter(path)
    writer.set_statuses(sids(4))
    reader = StoreReader(path)
    assert set(reader.objects()) == set(sids(4))
    reader.close()
    writer.close()
