"""The rejections behind a status, as google.rpc.Status in its trailing metadata.

gRPC's convention for errors with members: clients read it with grpc-status and its like. Encoded by
hand, since googleapis' classes are not installed for two messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from srv6mgrd.gnmi.failure import octets
from srv6mgrd.model.rejection import Rejection

METADATA = "grpc-status-details-bin"
_BAD_REQUEST = b"type.googleapis.com/google.rpc.BadRequest"
# Octets of text and details in the trailers, of the 8 kB that clients take with all headers.
_TRAILERS = 7000


def details(code: int, text: str, rejections: Sequence[Rejection]) -> bytes | None:
    """A BadRequest with a field violation for each rejection: the data path, the message, and as
    reason the error-app-tag. As many as have room beside ``text``; None: there are none."""
    # gRPC encodes it as base64.
    room = (_TRAILERS - octets(text)) * 3 // 4
    violations, found = b"", None
    for rejection in rejections:
        members = (rejection.path, str(rejection), rejection.app_tag)
        violation = b"".join(_string(n, m.encode()) for n, m in enumerate(members, 1) if m)
        violations += _string(1, violation)
        detail = _string(1, _BAD_REQUEST) + _string(2, violations)
        status = _number(1, code) + _string(2, text.encode()) + _string(3, detail)
        if len(status) > room:
            break
        found = status
    return found


def _string(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))
