from __future__ import annotations

import pytest

from srv6mgrd.datastore.client_errors import of_error
from srv6mgrd.datastore.connection import (
    DatastoreError,
    NonePendingError,
    PendingError,
    TimedOutError,
)
from srv6mgrd.model.rejection import RejectedError, Rejection

FAILED, CALLBACK_FAILED = 10, 14
INVALID = Rejection("SID x", "it is bad", "mend it", "bad", "/a/b", "c")
BY_KERNEL = Rejection("SID y", "the kernel has no room", "free some", "refused")


def test_each_rejection_keeps_its_tag_path_and_element() -> None:
    first, second = of_error(RejectedError([INVALID, INVALID]))
    assert (first.code, first.message) == (CALLBACK_FAILED, "SID x: it is bad; mend it")
    assert (first.app_tag, first.path, first.bad_element) == ("bad", "/a/b", "c")
    assert first == second
    assert first.is_own


def test_one_that_was_not_carried_out_makes_all_a_failure() -> None:
    errors = of_error(RejectedError([INVALID, BY_KERNEL]))
    assert [error.code for error in errors] == [FAILED, FAILED]
    assert [error.app_tag for error in errors] == ["bad", ""]


@pytest.mark.parametrize(
    ("error", "code", "tags"),
    [
        (PendingError, 12, ("in-use", "commit-pending")),
        (NonePendingError, 5, ("data-missing", "commit-unknown")),
        (TimedOutError, CALLBACK_FAILED, ("operation-failed", "timed-out")),
        (DatastoreError, CALLBACK_FAILED, ("operation-failed", "")),
    ],
)
def test_failures_have_tags_of_their_own(
    error: type[DatastoreError], code: int, tags: tuple[str, str]
) -> None:
    (found,) = of_error(error("commit: no; wait"))
    assert (found.code, found.message) == (code, "commit: no; wait")
    assert (found.tag, found.app_tag) == tags
