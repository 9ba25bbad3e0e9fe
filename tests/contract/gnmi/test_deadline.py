"""A Set whose client has stopped waiting is not begun; one that has begun goes on, and says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from lab.waiting import wait_until
from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.locks import Caller
from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.datastore.transaction import Edit, Op
from tests.contract.gnmi.client import Client, Core, failing, ietf, path

LENGTH = "/srv6/locators/locator[name=main]/function-length"


@contextmanager
def busy(core: Core, change: Callable[[], object]) -> Iterator[None]:
    """A change is carried out meanwhile."""
    began, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        began.set()
        go_on.wait(20)

    core.hold = hold
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(change)
        try:
            assert began.wait(10)
            yield
        finally:
            go_on.set()
            first.result(20)


def late(router: Client) -> str:
    """What a Set is notified that can't begin in time."""
    request = pb.SetRequest(update=[pb.Update(path=path(LENGTH), val=ietf(21))])
    status, words = failing(router.stub.Set, request, timeout=2)
    assert status is grpc.StatusCode.DEADLINE_EXCEEDED
    return words


def test_behind_other_sets(router: Client, core: Core) -> None:
    with busy(core, lambda: router.set(update={LENGTH: 20})):
        assert "waited behind others until its deadline and nothing was changed" in late(router)
    assert router.value(LENGTH) == 20


def test_behind_another_northbound(router: Client, core: Core, place: Path) -> None:
    vrf = {"srv6mgr-srv6:srv6": {"vrfs": {"vrf": [{"name": "other", "table-id": 900}]}}}
    edit = Edit(Op.UPDATE, "", json.dumps(vrf).encode())

    def change() -> Any:
        client = CommitClient(commit_socket(place))
        return client.edit(Caller("srv6ctl"), ("srv6mgr-srv6",), [edit])

    with busy(core, change):
        words = late(router)
    assert "behind that of srv6ctl until its deadline and nothing was changed" in words
    assert router.value(LENGTH) == 16


@pytest.mark.parametrize("seconds", [0.8, 2])
def test_that_has_begun(router: Client, core: Core, seconds: float) -> None:
    before = len(core.changes)
    began, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        began.set()
        go_on.wait(20)

    core.hold = hold
    request = pb.SetRequest(update=[pb.Update(path=path(LENGTH), val=ietf(22))])
    try:
        status, words = failing(router.stub.Set, request, timeout=seconds)
        assert began.is_set()
        assert status is grpc.StatusCode.DEADLINE_EXCEEDED
        # Of srv6mgrd, not of gRPC: which one it is, and that it goes on.
        assert "not done before the deadline, and it goes on" in words
        assert f"carried out as transaction {before + 1} for" in words
        # The next one waits for it.
        assert "waited behind that of srv6-gnmid of root until its deadline" in late(router)
    finally:
        go_on.set()
    wait_until(lambda: router.value(LENGTH) == 22, "the change")
    assert len(core.changes) == before + 1
