"""Results as fields and back."""

from __future__ import annotations

import pytest

from srv6mgrd.commits import answer
from srv6mgrd.commits.fields import Fields
from srv6mgrd.datastore import connection as c
from srv6mgrd.datastore.error_info import ErrorInfo
from srv6mgrd.model.rejection import RejectedError, Rejection

REJECTIONS = [Rejection("VRF red", "no", "choose", "tag", "/path"), Rejection("SID", "a", "b", "c")]


@pytest.mark.parametrize("kind", [RejectedError, c.FailedError])
def test_a_rejection_keeps_its_reasons(kind: type[RejectedError]) -> None:
    with pytest.raises(kind) as raised:
        answer.check(Fields(answer.of_error(kind(REJECTIONS))))
    assert type(raised.value) is kind
    assert raised.value.rejections == REJECTIONS


@pytest.mark.parametrize(
    "kind",
    [
        c.DatastoreError,
        c.LockedError,
        c.PendingError,
        c.NonePendingError,
        c.DeniedError,
        c.TimedOutError,
        c.UnavailableError,
        c.OutdatedError,
    ],
)
def test_each_error_keeps_its_kind(kind: type[c.DatastoreError]) -> None:
    with pytest.raises(kind) as raised:
        answer.check(Fields(answer.of_error(kind("what happened"))))
    assert type(raised.value) is kind
    assert str(raised.value) == "what happened"


def test_errors_of_sysrepo_leave_out_what_is_not_known() -> None:
    infos = [ErrorInfo(1, "one"), ErrorInfo(2, "two", tag="data-exists", bad_element="vrf")]
    assert [(name, value) for name, value in answer.of_infos(infos)] == [
        ("result", b"errors"),
        ("error-code", b"1"),
        ("error-message", b"one"),
        ("error-code", b"2"),
        ("error-message", b"two"),
        ("error-tag", b"data-exists"),
        ("error-bad-element", b"vrf"),
    ]


def test_ok_is_no_error() -> None:
    answer.check(Fields(answer.ok()))
