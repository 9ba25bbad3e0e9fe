"""The result of a request, as fields of a message and back. Pure.

Clients in Python get the exceptions of the datastore room; srv6-netconfd gets the content of an
rpc-error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from srv6mgrd.commits.fields import Field, Fields
from srv6mgrd.datastore.connection import (
    DatastoreError,
    DeniedError,
    ExpiredError,
    FailedError,
    LockedError,
    NonePendingError,
    OutdatedError,
    PendingError,
    TimedOutError,
    UnavailableError,
)
from srv6mgrd.datastore.error_info import ErrorInfo
from srv6mgrd.model.rejection import RejectedError, Rejection

OK = "ok"
WAITING = "waiting"
BEGUN = "begun"
_REJECTED, _FAILED = "rejected", "failed"
# Errors follow with all that RFC 6241 section 4.3 has of them.
_ERRORS = "errors"

_KINDS: dict[str, type[DatastoreError]] = {
    "locked": LockedError,
    "expired": ExpiredError,
    "pending": PendingError,
    "none-pending": NonePendingError,
    "denied": DeniedError,
    "timed-out": TimedOutError,
    "outdated": OutdatedError,
    "unavailable": UnavailableError,
    "error": DatastoreError,
}


def ok(fields: Iterable[Field] = ()) -> list[Field]:
    return [("result", OK.encode()), *fields]


def waiting(text: str, *, begun: bool = False) -> list[Field]:
    """A sign of life while a request waits or, once it is ``begun``, is carried out."""
    found = [("result", WAITING.encode()), ("message", text.encode())]
    return [*found, (BEGUN, b"")] if begun else found


def of_error(error: RejectedError | DatastoreError) -> list[Field]:
    if isinstance(error, RejectedError):
        kind = _FAILED if isinstance(error, FailedError) else _REJECTED
        rejections = [("rejection", json.dumps(asdict(r)).encode()) for r in error.rejections]
        return [("result", kind.encode()), *rejections]
    kind = next(name for name, type_ in _KINDS.items() if type(error) is type_)
    return [("result", kind.encode()), ("message", str(error).encode())]


def of_infos(infos: Iterable[ErrorInfo]) -> list[Field]:
    """For srv6-netconfd: ``error-code`` begins each error."""
    out: list[Field] = [("result", _ERRORS.encode())]
    for info in infos:
        for name, value in asdict(info).items():
            text = str(value)
            if text or name == "code":
                out.append((f"error-{name.replace('_', '-')}", text.encode()))
    return out


def check(answer: Fields) -> None:
    """Raise what the request failed with."""
    result = answer.text("result")
    if result == OK:
        return
    if result in (_REJECTED, _FAILED):
        rejections = [Rejection(**json.loads(text)) for text in answer.every("rejection")]
        raise FailedError(rejections) if result == _FAILED else RejectedError(rejections)
    raise _KINDS.get(result, DatastoreError)(answer.text("message"))
