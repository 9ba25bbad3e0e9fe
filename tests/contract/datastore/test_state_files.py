"""Every file of state, damaged in every way: srv6mgrd starts, says what happened, and goes on.

The daemon itself, as a process of its own, on a sysrepo of its own.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.waiting import wait_until
from srv6mgrd.counters.node import TRANSACTIONS
from srv6mgrd.datastore.connection import DatastoreError
from srv6mgrd.datastore.running import MODULE
from srv6mgrd.model.rejection import RejectedError
from tests.contract.datastore.daemon import CALLER, DECLARED, MORE, Manager, document


@pytest.fixture(scope="module")
def sound(place: Path) -> Path:
    """What srv6mgrd leaves that has declared something, with a commit that awaits confirmation."""
    folder = place / "sound"
    folder.mkdir()
    manager = Manager(folder)
    with manager.running():
        manager.declare(DECLARED)
        manager.client.rpc(CALLER, "/srv6mgr-operations:commit", {"id": "secret", "timeout": 86400})
    assert {f.name for f in manager.state.iterdir()} >= {"journal.sqlite", "history.sqlite"}
    return folder


@dataclass(frozen=True)
class World:
    manager: Manager
    folder: Path


@pytest.fixture
def world(sound: Path, tmp_path: Path) -> World:
    for name in ("state", "run"):
        shutil.copytree(sound / name, tmp_path / name, ignore=shutil.ignore_patterns("*.sock"))
    return World(Manager(tmp_path), tmp_path)


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "missing": lambda _: None,
    "empty": lambda _: b"",
    "truncated": lambda content: content[: len(content) // 2 + 7],
    "random": lambda content: os.urandom(len(content)),
}
# The version of each format, where it has one.
VERSIONS: dict[str, Callable[[bytes], bytes]] = {
    "state/journal.sqlite": lambda content: content[:60] + b"\0\0\0\x63" + content[64:],
    "state/history.sqlite": lambda content: content[:60] + b"\0\0\0\x63" + content[64:],
    "state/pending.json": lambda content: content.replace(b'"version": 1', b'"version": 99'),
    "run/store": lambda content: content[:8] + b"\x63\0\0\0" + content[12:],
}
FILES = (*VERSIONS, "run/node.json", "run/srv6mgrd.lock")
CASES = [
    *((file, name) for file in FILES for name in DAMAGES),
    *((file, "of a newer version") for file in VERSIONS),
]
# What stays unsaid: nothing was lost.
SILENT = {"missing", "empty"}


@pytest.mark.parametrize(("file", "damage"), CASES)
def test_a_damaged_file_stops_nothing(world: World, file: str, damage: str) -> None:
    path, manager = world.folder / file, world.manager
    change = DAMAGES.get(damage) or VERSIONS[file]
    content = change(path.read_bytes())
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    aside = path.with_suffix(".damaged")
    with manager.running():
        if file.startswith("state/") and damage not in SILENT:
            assert "was set aside" in manager.problems[aside.name]
            assert aside.exists()
            assert f"{aside.name}: {path.name} can't be used" in manager.log
        elif not (file == "state/pending.json" and damage == "empty"):
            assert manager.problems == {}
        if "pending" in manager.node[TRANSACTIONS]:
            assert file != "state/pending.json"
            with pytest.raises(DatastoreError, match="awaits confirmation"):
                manager.declare(MORE)
            manager.client.rpc(CALLER, "/srv6mgr-operations:cancel", {"id": "secret"})
        manager.declare(MORE)
        manager.declare(DECLARED)
    if not file.startswith("state/"):
        return
    with manager.running():
        assert {name: text for name, text in manager.problems.items() if "aside" in text} == {}


@pytest.mark.parametrize("file", FILES)
def test_a_folder_in_the_place_of_a_file_stops_nothing(world: World, file: str) -> None:
    path, manager = world.folder / file, world.manager
    path.unlink()
    path.mkdir()
    with manager.running():
        # Problems are read from node.json, and without its lock srv6mgrd lacks nothing.
        assert file.startswith("run/") or path.name in manager.problems
        assert path.name in manager.log
        path.rmdir()
        if file != "state/pending.json":
            manager.client.rpc(CALLER, "/srv6mgr-operations:cancel", {"id": "secret"})
        manager.declare(MORE)
        manager.declare(DECLARED)
        wait_until(lambda: manager.problems == {}, timeout=30)


@pytest.mark.parametrize("file", [f for f in FILES if f.startswith("state/")] + ["state/revision"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_stops_nothing(
    world: World, file: str, make: Callable[[Path], None]
) -> None:
    """A FIFO is waited for, a device never ends."""
    path, manager = world.folder / file, world.manager
    path.unlink(missing_ok=True)
    make(path)
    with manager.running():
        # What of the others is there without being read is removed, or taken for the present one.
        if path.suffix == ".sqlite":
            assert "it is no regular file; remove it" in manager.problems[path.name]
        path.unlink(missing_ok=True)
        if file != "state/pending.json":
            manager.client.rpc(CALLER, "/srv6mgr-operations:cancel", {"id": "secret"})
        manager.declare(MORE)
        manager.declare(DECLARED)


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """``folder`` with what it holds on a file system of its own."""
    copy = folder.with_name("copy")
    folder.rename(copy)
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "t", folder], check=True)
    try:
        shutil.copytree(copy, folder, dirs_exist_ok=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()
        copy.rename(folder)


def fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass


def take_inodes(folder: Path) -> None:
    with suppress(OSError):
        for n in itertools.count():
            (folder / f"filler{n}").touch()


def read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


COMMIT, TWO = "/srv6mgr-operations:commit", {"id": "two", "timeout": 600}


def rejection(call: Callable[[], object]) -> str:
    """Why it was rejected; empty when it was not."""
    try:
        call()
    except (RejectedError, DatastoreError) as rejected:
        return str(rejected)
    return ""


@pytest.mark.parametrize("state", ["as it was", "empty"])
@pytest.mark.parametrize("spoil", [fill, read_only])
def test_a_state_directory_that_can_t_be_written_stops_nothing(
    world: World, spoil: Callable[[Path], None], state: str
) -> None:
    manager = world.manager
    if state == "empty":
        for file in manager.state.iterdir():
            file.unlink()
    with mounted(manager.state, "1m"):
        spoil(manager.state)
        with manager.running():
            assert "can't be written" in manager.log
            if "pending" in manager.node[TRANSACTIONS]:
                # It is rolled back, whatever becomes of the record.
                manager.client.rpc(CALLER, "/srv6mgr-operations:cancel", {"id": "secret"})
            said = [
                rejection(lambda: manager.declare(MORE)),
                rejection(lambda: manager.declare(DECLARED)),
                rejection(lambda: manager.client.rpc(CALLER, COMMIT, TWO)),
            ]
            assert all("writable, with room" in text for text in said if text)
            # What could not be rolled back after a restart is not begun.
            assert said[-1]
            assert "can't be" in str(manager.problems)


@pytest.mark.parametrize("at", ["the start", "work"])
def test_a_full_runtime_directory_ends_nothing(world: World, at: str) -> None:
    manager = world.manager
    if at == "the start":
        (manager.runtime / "store").unlink()
    with mounted(manager.runtime, "2m"):
        if at == "the start":
            fill(manager.runtime)
        with manager.running():
            fill(manager.runtime)
            manager.client.rpc(CALLER, "/srv6mgr-operations:cancel", {"id": "secret"})
            manager.declare(MORE)
            manager.declare(DECLARED)
            assert "node.json: No space left on device; readers see what it was" in manager.log
            assert ("store: it can't be written" in manager.log) is (at == "the start")
            (manager.runtime / "filler").unlink()
            wait_until((manager.runtime / "store").exists, timeout=30)
            wait_until(lambda: "node.json: written again" in manager.log, timeout=30)
            wait_until(lambda: manager.problems == {}, timeout=30)


@pytest.mark.parametrize("lacking", ["blocks", "inodes"])
def test_a_full_disk_of_the_startup_configuration_ends_nothing(world: World, lacking: str) -> None:
    """libsysrepo frees a change twice whose store fails, and keeps a file that was cut short."""
    manager, folder = world.manager, Path(os.environ["SYSREPO_REPOSITORY_PATH"]) / "data"
    many = document(
        **{f"L{n}": {"name": f"L{n}", "prefix": f"fcbb:1:{n:x}::/48"} for n in range(1000)}
    )
    with mounted(folder, "16m,nr_inodes=400"), manager.running():
        manager.client.rpc(CALLER, "/srv6mgr-operations:cancel", {"id": "secret"})
        before = (folder / f"{MODULE}.startup").read_bytes()
        fill(folder) if lacking == "blocks" else take_inodes(folder)
        manager.declare(many)
        wait_until(lambda: "startup configuration" in manager.problems, timeout=30)
        assert "No space left on device" in manager.problems["startup configuration"]
        assert (folder / f"{MODULE}.startup").read_bytes() == before
        for filler in folder.glob("filler*"):
            filler.unlink()
        wait_until(lambda: manager.problems == {}, timeout=30)
        assert b"L999" in (folder / f"{MODULE}.startup").read_bytes()
        manager.declare(DECLARED)
