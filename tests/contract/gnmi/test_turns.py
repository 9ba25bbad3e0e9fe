"""Sets are carried out one after the other; one that is cancelled is done whole, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from lab.waiting import wait_until
from tests.contract.gnmi.client import Client, Core, failing, path, subscription, updates
from tests.contract.gnmi.data import TABLE


class Gate:
    """Holds a change up in srv6mgrd, in the middle of its commit."""

    def __init__(self, core: Core) -> None:
        self._entered, self._open = threading.Event(), threading.Event()
        self._core = core
        core.hold = self._hold

    def _hold(self) -> None:
        self._entered.set()
        self._open.wait(20)

    def wait(self) -> None:
        assert self._entered.wait(10)

    def open(self) -> None:
        self._core.hold = None
        self._open.set()


@pytest.fixture
def gate(router: Client, core: Core) -> Iterator[Gate]:
    made = Gate(core)
    yield made
    made.open()


def begin(client: Client, value: int) -> Any:
    update = pb.Update(path=path(TABLE), val=pb.TypedValue(uint_val=value))
    return client.stub.Set.future(pb.SetRequest(update=[update]), timeout=30)


def test_a_set_that_is_cancelled_in_mid_commit_is_done_whole(
    router: Client, core: Core, gate: Gate
) -> None:
    core.changes.clear()
    call = begin(router, 101)
    gate.wait()
    call.cancel()
    assert call.code() is grpc.StatusCode.CANCELLED
    # Until it is decided nothing of it is to be seen.
    assert router.value(TABLE) == 100
    gate.open()
    wait_until(lambda: router.value(TABLE) == 101)
    assert core.changes == ["done"]
    router.set(update={TABLE: 102})
    assert router.value(TABLE) == 102


def test_a_set_that_is_cancelled_in_mid_commit_and_rejected_is_not_done_at_all(
    router: Client, core: Core, gate: Gate
) -> None:
    core.veto = "VRF red: no; try again"
    core.changes.clear()
    call = begin(router, 101)
    gate.wait()
    call.cancel()
    gate.open()
    # The next one waits for its end.
    assert failing(router.set, update={TABLE: 102})[1] == core.veto
    core.veto = ""
    assert router.value(TABLE) == 100
    assert core.changes == []


def test_a_set_that_is_cancelled_before_its_turn_is_not_begun(
    router: Client, core: Core, gate: Gate
) -> None:
    core.changes.clear()
    first, second = begin(router, 101), None
    gate.wait()
    with router.subscribe(subscription(TABLE)) as stream:
        assert stream.until_sync() == {TABLE: 100}
        second = begin(router, 102)
        # The server takes requests of a connection in turn: after this one it has the Set.
        router.capabilities()
        second.cancel()
        router.capabilities()
        gate.open()
        first.result()
        router.set(update={TABLE: 103})
        assert updates(stream.next().update) == {TABLE: 101}
        assert updates(stream.next().update) == {TABLE: 103}
    assert core.changes == ["done", "done"]


def test_sets_take_turns(router: Client, core: Core, gate: Gate) -> None:
    core.changes.clear()
    first = begin(router, 101)
    gate.wait()
    others = [begin(router, 102 + n) for n in range(10)]
    assert not any(call.done() for call in others)
    gate.open()
    for call in (first, *others):
        call.result()
    assert len(core.changes) == 11
