"""Without room in /dev/shm, where sysrepo keeps what a commit takes, a commit is rejected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from srv6mgrd.commits.client import CommitClient
from srv6mgrd.datastore.connection import DatastoreError
from srv6mgrd.datastore.transaction import Edit, Op
from tests.contract.commits.conftest import ALICE, MODULE, Started, vrf
from tests.contract.commits.test_commits import running

SHARED = "/dev/shm"


@contextmanager
def room(octets: int) -> Iterator[None]:
    """So much of it is free meanwhile."""
    found = os.statvfs(SHARED)
    used = (found.f_blocks - found.f_bfree) * found.f_frsize

    def resize(size: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", SHARED], check=True)

    resize(used + octets)
    try:
        yield
    finally:
        resize(found.f_blocks * found.f_frsize)


def sids(count: int) -> list[Edit]:
    listed = [
        {"prefix": f"fcbb:0:1:{n:x}::/64", "locator": "main", "behavior": "End"}
        for n in range(1, count + 1)
    ]
    locators = {"locator": [{"name": "main", "prefix": "fcbb:0:1::/48"}]}
    tree = {"locators": locators, "local-sids": {"sid": listed}}
    return [Edit(Op.UPDATE, "", json.dumps({f"{MODULE}:srv6": tree}).encode())]


@pytest.mark.parametrize("free", [0, 65536, 5 << 20])
def test_a_commit_without_room_is_rejected(
    started: Started, client: CommitClient, free: int
) -> None:
    manager = started()
    client.edit(ALICE, (MODULE,), vrf("before"))
    before = running()
    with room(free), pytest.raises(DatastoreError, match=r"/dev/shm has \d+ KiB left.*enlarge it"):
        client.edit(ALICE, (MODULE,), sids(5000))
    assert manager.process.poll() is None
    assert running() == before
    client.edit(ALICE, (MODULE,), vrf("after"))
    assert "after" in running()


def test_no_process_starts_without_room(place: Path) -> None:
    for command in (
        [sys.executable, "-m", "srv6mgrd.gnmi.daemon"],
        ["/opt/netconfd/srv6-netconfd", "--socket", f"{place}/netconf.sock"],
    ):
        with room(0):
            ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert ended.returncode > 0, ended.stderr
        assert "/dev/shm has" in ended.stderr
        assert "Traceback" not in ended.stderr
