"""What srv6mgrd itself rejects or fails with, as errors of sysrepo's client: each reason with its
error-app-tag and its path. Pure."""

from __future__ import annotations

from srv6mgrd.datastore.connection import (
    DatastoreError,
    DeniedError,
    NonePendingError,
    OutdatedError,
    PendingError,
    TimedOutError,
    UnavailableError,
)
from srv6mgrd.datastore.error_info import CALLBACK_FAILED, OPERATION_FAILED, ErrorInfo
from srv6mgrd.model.rejection import NOT_CARRIED_OUT, RejectedError

# sr_error_t (sysrepo_types.h), by which clients distinguish these from rejections.
_NOT_FOUND, _UNAUTHORIZED, _LOCKED = 5, 11, 12

# Of constraints (RFC 7950 section 15); northbounds add the error-app-tag.
_TAG, _TYPE = "operation-failed", "application"

# As srv6-netconfd has them of edits (netconfd/commits.c).
_APP_TAGS: dict[type[DatastoreError], str] = {
    TimedOutError: "timed-out",
    UnavailableError: "unavailable",
    OutdatedError: "candidate-outdated",
}


def of_error(error: RejectedError | DatastoreError) -> list[ErrorInfo]:
    """At least one; the code of the first is that of the call."""
    match error:
        case RejectedError():
            return _of_rejected(error)
        case PendingError():
            return [ErrorInfo(_LOCKED, str(error), "in-use", _TYPE, "commit-pending")]
        case DeniedError():
            return [ErrorInfo(_UNAUTHORIZED, str(error), "access-denied", _TYPE, "")]
        case NonePendingError():
            return [ErrorInfo(_NOT_FOUND, str(error), "data-missing", _TYPE, "commit-unknown")]
        case _:
            app_tag = _APP_TAGS.get(type(error), "")
            return [ErrorInfo(CALLBACK_FAILED, str(error), _TAG, _TYPE, app_tag)]


def _of_rejected(rejected: RejectedError) -> list[ErrorInfo]:
    not_carried_out = any(r.tag in NOT_CARRIED_OUT for r in rejected.rejections)
    code = OPERATION_FAILED if not_carried_out else CALLBACK_FAILED
    return [
        ErrorInfo(code, str(each), _TAG, _TYPE, each.app_tag, each.path, each.element)
        for each in rejected.rejections
    ]
