"""What host and guest say to each other: frames on one byte stream.

A frame is channel, kind, length, data. Each job has a channel. Data frames are acknowledged
as they are consumed and at most WINDOW bytes are on their way per direction, so that one slow
reader holds up itself only. Beside that the host sends no more than CREDIT bytes before the guest
has read them: the guest's end is a serial line, and one that overflows stalls.
"""

from __future__ import annotations

import enum
import json
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

HEADER = struct.Struct(">IBI")
WINDOW = 256 * 1024
# Below what a Linux terminal holds (4096) by more than its threshold for throttling (128).
CREDIT = 3072
CHUNK = 16 * 1024
LONGEST = 64 * 1024 * 1024
# The agent says HELLO every so many seconds; a machine that is silent for SILENCE seconds hangs.
BEAT = 5.0
SILENCE = 90.0


class Kind(enum.IntEnum):
    """What a frame is about."""

    HELLO = 1  # guest -> host: the agent is there, still
    START = 2  # job: argv, env, cwd, pty, size
    STDIN = 3
    STDIN_END = 4
    STDOUT = 5
    STDERR = 6
    ACK = 7  # bytes consumed, of STDIN in one direction, of STDOUT and STDERR in the other
    SIGNAL = 8
    SIZE = 9  # of the terminal: rows, columns
    EXIT = 10  # guest -> host: status, or error
    HANGUP = 11  # the client that wanted the job is gone
    OFF = 12  # client -> server of an open lab: end it
    CREDIT = 13  # guest -> host: bytes of the link read


class Frame(NamedTuple):
    """One message."""

    channel: int
    kind: Kind
    data: bytes = b""

    def packed(self) -> bytes:
        return HEADER.pack(self.channel, self.kind, len(self.data)) + self.data

    def fields(self) -> Any:
        return json.loads(self.data)


def message(channel: int, kind: Kind, fields: object) -> Frame:
    return Frame(channel, kind, json.dumps(fields).encode())


class Unpacker:
    """Bytes in, whole frames out."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        self._buffer += data
        while len(self._buffer) >= HEADER.size:
            channel, kind, length = HEADER.unpack_from(self._buffer)
            if length > LONGEST:
                raise ValueError(f"frame of {length} bytes: the stream is not the lab's")
            end = HEADER.size + length
            if len(self._buffer) < end:
                return
            frame = Frame(channel, Kind(kind), bytes(self._buffer[HEADER.size : end]))
            del self._buffer[:end]
            yield frame
