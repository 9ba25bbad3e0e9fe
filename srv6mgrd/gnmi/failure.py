"""How an RPC fails: a gRPC status code and a text for the operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from grpc import StatusCode

from srv6mgrd.datastore.connection import (
    DatastoreError,
    DeniedError,
    ExpiredError,
    FailedError,
    LockedError,
    NonePendingError,
    PendingError,
    TimedOutError,
)
from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.budget import BudgetError, ClientLeftError, DeadlineError
from srv6mgrd.gnmi.encode import ValueProblem
from srv6mgrd.gnmi.path import PathError
from srv6mgrd.model.rejection import RejectedError, Rejection

MOST_PATHS = 1000
# gRPC clients take 8 kB of headers and trailers together, the text percent-encoded.
_LONGEST = 4000


def octets(text: str) -> int:
    """Of a text that is percent-encoded."""
    return sum(
        1 if " " <= c <= "~" and c != "%" else 3 * len(c.encode(errors="replace")) for c in text
    )


def clipped(text: str) -> str:
    """The beginning of a text that is too long for a status; a client gets no text at all else."""
    room = _LONGEST
    for n, c in enumerate(text):
        room -= octets(c)
        if room < 0:
            return f"{text[:n]} ... ({len(text) - n} characters more)"
    return text


class RpcError(Exception):
    """Ends the RPC with this status (gnmi-specification.md 2.5)."""

    def __init__(self, code: StatusCode, text: str, rejections: Sequence[Rejection] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.rejections = rejections


def check_number(paths: int, what: str) -> None:
    """So many paths are taken in one request."""
    if paths > MOST_PATHS:
        raise RpcError(
            StatusCode.RESOURCE_EXHAUSTED,
            f"{what}: {paths} paths in one request, {MOST_PATHS} are taken; use wildcards",
        )


def check_encoding(encoding: int) -> None:
    """3.3.1: the message must say that the encoding is unsupported."""
    if encoding not in wire.ENCODINGS:
        offered = ", ".join(wire.encoding_name(e) for e in wire.ENCODINGS)
        raise RpcError(
            StatusCode.UNIMPLEMENTED,
            f"encoding {wire.encoding_name(encoding)}: unsupported; use one of {offered}",
        )


@contextmanager
def as_status() -> Iterator[None]:
    """Our exceptions as the status codes of 3.4.7 (and 3.3.4 for paths)."""
    try:
        yield
    except (PathError, ValueProblem) as e:
        raise RpcError(StatusCode.INVALID_ARGUMENT, str(e)) from e
    except BudgetError as e:
        raise RpcError(StatusCode.RESOURCE_EXHAUSTED, str(e)) from e
    except DeadlineError as e:
        raise RpcError(StatusCode.DEADLINE_EXCEEDED, str(e)) from e
    except ClientLeftError as e:
        raise RpcError(StatusCode.CANCELLED, str(e)) from e
    except RecursionError as e:
        raise RpcError(
            StatusCode.INVALID_ARGUMENT,
            "value: it is nested deeper than any model; correct it",
        ) from e
    except FailedError as e:
        raise RpcError(StatusCode.ABORTED, str(e), e.rejections) from e
    except RejectedError as e:
        unknown = all(r.tag == "unknown-element" for r in e.rejections)
        code = StatusCode.NOT_FOUND if unknown else StatusCode.INVALID_ARGUMENT
        raise RpcError(code, str(e), e.rejections) from e
    except ExpiredError as e:
        raise RpcError(StatusCode.DEADLINE_EXCEEDED, str(e)) from e
    except (LockedError, PendingError, NonePendingError) as e:
        raise RpcError(StatusCode.FAILED_PRECONDITION, str(e)) from e
    except DeniedError as e:
        raise RpcError(StatusCode.PERMISSION_DENIED, str(e)) from e
    except TimedOutError as e:
        raise RpcError(StatusCode.DEADLINE_EXCEEDED, str(e)) from e
    except DatastoreError as e:
        raise RpcError(StatusCode.UNAVAILABLE, str(e)) from e
