"""Commits to be confirmed (gnmi-commit-confirmed.md), with srv6mgrd's own commit clock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_ext_pb2 as ext
from google.protobuf.duration_pb2 import Duration

from lab.waiting import wait_until
from srv6mgrd.model.rejection import Rejection
from tests.contract.datastore.coordinator_world import Loop
from tests.contract.gnmi.client import Client
from tests.contract.gnmi.data import SRV6

RED = "/srv6/vrfs/vrf[name=red]/table-id"
INVALID, PRECONDITION = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION


@pytest.fixture
def loop(place: Path, gnmi: Client) -> Iterator[Loop]:
    gnmi.set(update={"/srv6": SRV6})
    made = Loop()
    yield made
    made.close()


def step(id_: str, action: str, seconds: float | None = None) -> Any:
    commit = ext.Commit(id=id_)
    getattr(commit, action).SetInParent()
    if seconds is not None:
        duration = Duration(seconds=int(seconds), nanos=int(seconds % 1 * 1e9))
        getattr(commit, action).rollback_duration.CopyFrom(duration)
    return [ext.Extension(commit=commit)]


def rejected(gnmi: Client, code: grpc.StatusCode, words: str, **request: Any) -> None:
    with pytest.raises(grpc.RpcError) as e:
        gnmi.set(**request)
    error: Any = e.value
    assert error.code() is code, error.details()
    assert words in error.details()


def test_what_is_confirmed_stays(gnmi: Client, loop: Loop) -> None:
    gnmi.set(update={RED: 101}, extension=step("one", "commit"))
    pending = loop.pending()
    assert pending is not None
    assert (pending.origin.northbound, pending.timeout) == ("srv6-gnmid", 600)
    assert pending.is_of("one")
    assert gnmi.value(RED) == 101
    gnmi.set(extension=step("one", "confirm"))
    assert loop.pending() is None
    gnmi.set(update={RED: 102})


def test_what_is_cancelled_is_undone(gnmi: Client, loop: Loop) -> None:
    gnmi.set(update={RED: 101}, extension=step("one", "commit", 60))
    gnmi.set(extension=step("one", "cancel"))
    assert gnmi.value(RED) == 100


def test_what_is_not_confirmed_is_undone_on_time(gnmi: Client, loop: Loop) -> None:
    gnmi.set(update={RED: 101}, extension=step("one", "commit", 0.5))
    wait_until(lambda: gnmi.value(RED) == 100, timeout=10)
    rejected(gnmi, PRECONDITION, "commit: no commit awaits", extension=step("one", "confirm"))


def test_it_may_get_another_time(gnmi: Client, loop: Loop) -> None:
    gnmi.set(update={RED: 101}, extension=step("one", "commit", 600))
    gnmi.set(extension=step("one", "set_rollback_duration", 1))
    wait_until(lambda: gnmi.value(RED) == 100, timeout=10)


def test_one_commit_at_a_time(gnmi: Client, loop: Loop) -> None:
    for action in ("confirm", "cancel"):
        rejected(gnmi, PRECONDITION, "commit: no commit awaits", extension=step("one", action))
    longer = step("one", "set_rollback_duration", 9)
    rejected(gnmi, PRECONDITION, "commit: no commit awaits", extension=longer)
    gnmi.set(update={RED: 101}, extension=step("one", "commit"))
    name = loop.pending().id
    awaits = f"commit {name}: it came through srv6-gnmid of root and awaits confirmation until"
    for id_ in ("one", "two"):
        again = step(id_, "commit")
        rejected(gnmi, PRECONDITION, awaits, update={RED: 102}, extension=again)
    rejected(gnmi, PRECONDITION, awaits, update={RED: 102})
    for action in ("confirm", "cancel"):
        words = f"commit: it is commit {name} that awaits"
        rejected(gnmi, INVALID, words, extension=step("two", action))
    words = f"it is commit {name} that"
    rejected(gnmi, INVALID, words, extension=step("two", "set_rollback_duration", 9))
    assert gnmi.value(RED) == 101
    gnmi.set(extension=step("one", "cancel"))


def test_what_is_rejected_leaves_nothing_pending(gnmi: Client, loop: Loop) -> None:
    rejected(gnmi, INVALID, "table-id", update={RED: "x"}, extension=step("one", "commit"))
    loop.world.manager.change_rejection = Rejection("VRF red", "no", "try again", "no")
    rejected(gnmi, INVALID, "VRF red: no", update={RED: 101}, extension=step("one", "commit"))
    loop.world.manager.change_rejection = None
    assert loop.pending() is None
    gnmi.set(update={RED: 102})


def test_what_could_not_be_carried_out_is_aborted(gnmi: Client, loop: Loop) -> None:
    """3.4.7; what is wrong in itself is an invalid argument."""
    loop.world.manager.change_rejection = Rejection(
        "VRF red", "the kernel refused it", "wait", "refused"
    )
    for extension in ([], step("one", "commit")):
        words = "VRF red: the kernel refused it; wait"
        rejected(gnmi, grpc.StatusCode.ABORTED, words, update={RED: 101}, extension=extension)
    loop.world.manager.change_rejection = None
    assert loop.pending() is None
    assert gnmi.value(RED) == 100


@pytest.mark.parametrize(
    ("extension", "words"),
    [
        (step("", "commit"), "id has 0 characters"),
        (step("x" * 256, "commit"), "id has 256 characters"),
        ([ext.Extension(commit=ext.Commit(id="one"))], "no action"),
        (step("one", "commit", 0), "rollback_duration is 0 s"),
        (step("one", "commit", 86_401), "rollback_duration is 86401 s"),
        (step("one", "set_rollback_duration"), "rollback_duration is missing"),
        (step("one", "confirm"), "confirm must be alone"),
    ],
)
def test_bad_steps_are_rejected(gnmi: Client, extension: Any, words: str) -> None:
    rejected(gnmi, INVALID, words, update={"/srv6": SRV6}, extension=extension)
