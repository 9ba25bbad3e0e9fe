"""What users of the node find in sysrepo's files."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from srv6mgrd.datastore.running import MODULE, TREE
from srv6mgrd.datastore.transaction import Edit, Op, commit
from tests.contract.conftest import MARKER

# In a process of its own: the filter stays for the life of a process.
SUBSCRIBER = """
import asyncio, sys
from srv6mgrd.datastore.file_modes import deny_others
from tests.contract.datastore.coordinator_world import World

async def main() -> None:
    import sysrepo
    connection = sysrepo.SysrepoConnection()
    if "--stock" not in sys.argv:
        deny_others()
    world = World()
    change = world.manager.change
    def held(tree, *, rollback=False):
        # In the middle of a commit.
        print("held", flush=True)
        sys.stdin.readline()
        return change(tree)
    world.manager.change = held
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
NEIGHBOR = {"address": "2001:db8::2", "remote-as": 65000, "password": MARKER}
BGP = {"as-number": 65000, "router-id": "192.0.2.1", "neighbor": [NEIGHBOR]}
CONFIG = json.dumps({"srv6mgr-srv6:srv6": {"srv6mgr-bgp:bgp": BGP}}).encode()

NOBODY = pwd.getpwnam("nobody").pw_uid


def as_nobody(*argv: str) -> str:
    return subprocess.run(
        argv, user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, text=True,
        timeout=30, check=False,
    ).stdout  # fmt: skip


class Subscriber:
    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SUBSCRIBER, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            umask=0,
        )  # fmt: skip
        self.wait_for("ready")

    def wait_for(self, word: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == word

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=10)


@contextmanager
def commit_held(*options: str) -> Iterator[None]:
    """A commit of a password, stopped while its subscriber reads it."""
    from srv6mgrd.datastore.connection import Connection

    subscriber = Subscriber(*options)
    connection = Connection(originator="test")

    def write(edit: Edit) -> None:
        with connection.session_of("test") as session:
            commit(session, (MODULE,), [edit])

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write, Edit(Op.UPDATE, TREE, CONFIG))
        subscriber.wait_for("held")
        try:
            yield
        finally:
            subscriber.go_on()
            writing.result(30)
            undone = pool.submit(write, Edit(Op.DELETE, TREE))
            subscriber.wait_for("held")
            subscriber.go_on()
            undone.result(30)
            subscriber.end()
            connection.close()


def found_by_nobody(place: Path) -> list[str]:
    """Files with the password that any user may read."""
    return as_nobody("grep", "-arls", MARKER, "/dev/shm", str(place)).splitlines()


@pytest.fixture
def open_place(place: Path) -> Iterator[Path]:
    before = place.stat().st_mode & 0o777
    place.chmod(0o755)
    yield place
    place.chmod(before)


def test_stock_sysrepo_shows_what_is_committed(open_place: Path) -> None:
    with commit_held("--stock"):
        assert [name for name in found_by_nobody(open_place) if "sub_data" in name]


def test_no_file_shows_it(open_place: Path) -> None:
    with commit_held():
        prefix = os.environ["SYSREPO_SHM_PREFIX"]
        subscriptions = list(Path("/dev/shm").glob(f"{prefix}sub_*"))
        assert MARKER in "".join(p.read_text(errors="replace") for p in subscriptions)
        assert not [p for p in subscriptions if p.stat().st_mode & 0o007]
        assert not found_by_nobody(open_place)


def test_nobody_may_lock_its_files(open_place: Path) -> None:
    """A reader may lock (fcntl(2)), and sr_connect() waits for such a lock."""
    lock = Path(os.environ["SYSREPO_REPOSITORY_PATH"]) / "sr_main_lock"
    with commit_held():
        assert as_nobody("sh", "-c", f"test -r {lock} || echo closed") == "closed\n"


def test_what_an_earlier_version_left_is_closed(open_place: Path) -> None:
    left = Path(f"/dev/shm/{os.environ['SYSREPO_SHM_PREFIX']}sub_left.running")
    left.write_text(MARKER)
    left.chmod(0o664)
    with commit_held():
        assert left.stat().st_mode & 0o777 == 0o660
    left.unlink()
