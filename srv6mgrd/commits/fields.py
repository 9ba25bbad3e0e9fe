"""Messages of the commit socket: a sequence of named byte strings. Pure but for the socket.

On the wire: length of the rest (u32), then each field as length of its name (u16), name, length of
its value (u32), value; big endian. A name may repeat. Needs no escapes, so that C reads it, too.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Sequence

# Beyond what a configuration of a million SIDs takes.
MAX_MESSAGE = 256 << 20

# More is read field by field.
_SMALL = 64 << 10
# An empty field takes 8 bytes on the wire and 140 in memory.
_MOST_FIELDS = 500_000

_LENGTH = struct.Struct(">I")
_NAME = struct.Struct(">H")

Field = tuple[str, bytes]


class ProtocolError(Exception):
    """A message that cannot be read."""


class Fields:
    """The fields of one message."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self.all: Sequence[Field] = tuple(fields)

    @property
    def size(self) -> int:
        """Bytes of all values."""
        return sum(len(value) for _, value in self.all)

    def bytes(self, name: str, default: bytes = b"") -> bytes:
        """Value of the first field of that name."""
        return next((value for n, value in self.all if n == name), default)

    def text(self, name: str, default: str = "") -> str:
        """The same as text. Raises ProtocolError."""
        try:
            return self.bytes(name, default.encode()).decode()
        except UnicodeDecodeError as error:
            raise ProtocolError(f"field {name}: not UTF-8") from error

    def number(self, name: str, default: int) -> int:
        """The same as a number. Raises ProtocolError."""
        value = self.text(name)
        if not value:
            return default
        if not value.isascii() or not value.isdigit() or len(value) > 9:
            raise ProtocolError(f"field {name}: not a number")
        return int(value)

    def has(self, name: str) -> bool:
        return any(n == name for n, _ in self.all)

    def every(self, name: str) -> list[str]:
        """Values of all fields of that name. Raises ProtocolError."""
        return [Fields([(name, v)]).text(name) for n, v in self.all if n == name]


def encode(fields: Iterable[Field]) -> bytes:
    """One message."""
    parts = [b""]
    for name, value in fields:
        raw = name.encode()
        parts += [_NAME.pack(len(raw)), raw, _LENGTH.pack(len(value)), value]
    parts[0] = _LENGTH.pack(sum(map(len, parts)))
    return b"".join(parts)


def decode(body: bytes) -> Fields:
    """The fields of what follows the length. Raises ProtocolError."""
    found, at, view = [], 0, memoryview(body)
    try:
        while at < len(body):
            (length,) = _NAME.unpack_from(body, at)
            at += _NAME.size
            name = bytes(view[at : at + length]).decode("ascii")
            at += length
            (length,) = _LENGTH.unpack_from(body, at)
            at += _LENGTH.size
            if at + length > len(body):
                raise ProtocolError("message: a field ends behind it")
            found.append((name, bytes(view[at : at + length])))
            at += length
    except (struct.error, UnicodeDecodeError) as error:
        raise ProtocolError("message: it is cut off or no message") from error
    return Fields(found)


def receive(connection: socket.socket, most: int = MAX_MESSAGE) -> Fields | None:
    """The next message; None when the peer has closed. Raises ProtocolError or OSError."""
    length = receive_length(connection)
    if length is None:
        return None
    check_length(length, most)
    return receive_rest(connection, length)


def check_length(length: int, most: int) -> None:
    """Raises ProtocolError when a message is too long."""
    if length > most:
        raise ProtocolError(f"message: {length} bytes exceed the limit of {most}")


def receive_length(connection: socket.socket) -> int | None:
    """Bytes of the next message; None when the peer has closed. Raises OSError."""
    head = _exactly(connection, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    return int(length)


def receive_rest(connection: socket.socket, length: int) -> Fields | None:
    """The message behind its length; None when the peer has closed. Raises ProtocolError or
    OSError."""
    if length <= _SMALL:
        body = _exactly(connection, length)
        return None if body is None else decode(body)
    return _large(connection, length)


def _large(connection: socket.socket, length: int) -> Fields | None:
    """Field by field: no byte of a large value is in memory twice."""
    found: list[Field] = []

    def take(size: int) -> bytes:
        nonlocal length
        length -= size
        if length < 0:
            raise ProtocolError("message: a field ends behind it")
        part = _exactly(connection, size)
        if part is None:
            raise EOFError
        return part

    try:
        while length:
            if len(found) == _MOST_FIELDS:
                raise ProtocolError(f"message: more than {_MOST_FIELDS} fields")
            (size,) = _NAME.unpack(take(_NAME.size))
            name = take(size).decode("ascii")
            (size,) = _LENGTH.unpack(take(_LENGTH.size))
            found.append((name, take(size)))
    except EOFError:
        return None
    except UnicodeDecodeError as error:
        raise ProtocolError("message: it is cut off or no message") from error
    return Fields(found)


def _exactly(connection: socket.socket, length: int) -> bytes | None:
    # In one go, but where a timeout makes it return what there is.
    waits = connection.gettimeout() is None
    parts, left = [], length
    while left:
        part = connection.recv(left if waits else min(left, 1 << 20), socket.MSG_WAITALL)
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
