"""One TCP connection that carries bytes one way; runs on the nodes at its ends.

``stream.py listen ADDRESS PORT DEVICE`` prints ``listening``, takes one connection and reads it to
its end; ``stream.py send ADDRESS PORT DEVICE BYTES`` writes so many and waits until the other side
has closed. Both print an End as JSON. DEVICE is ``-`` for none: a VRF, or a port of one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import socket
import struct
import sys
from dataclasses import dataclass

# A connection that is idle this long is broken.
STILL = 20.0
# linux/tcp.h: struct tcp_info, tcpi_snd_mss.
_MSS_AT = 16


@dataclass(frozen=True, slots=True)
class End:
    """What one end of a connection saw: ``mss`` is what it may send in a segment."""

    octets: int
    digest: str
    mss: int


def opened(address: str, port: int, device: str) -> tuple[socket.socket, tuple[object, ...]]:
    family, kind, _, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind)
    made.settimeout(STILL)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if device != "-":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    return made, place


def end(connection: socket.socket, octets: int, digest: str) -> End:
    reported = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)
    (mss,) = struct.unpack_from("=I", reported, _MSS_AT)
    return End(octets, digest, mss)


def listen(address: str, port: int, device: str) -> End:
    waiting, place = opened(address, port, device)
    waiting.bind(place)
    waiting.listen(1)
    print("listening", flush=True)
    connection, _ = waiting.accept()
    connection.settimeout(STILL)
    digest, octets = hashlib.sha256(), 0
    while data := connection.recv(1 << 16):
        digest.update(data)
        octets += len(data)
    seen = end(connection, octets, digest.hexdigest())
    connection.close()
    return seen


def send(address: str, port: int, device: str, octets: int) -> End:
    connection, place = opened(address, port, device)
    connection.connect(place)
    data = os.urandom(octets)
    connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)
    seen = end(connection, octets, hashlib.sha256(data).hexdigest())
    connection.recv(1)
    return seen


if __name__ == "__main__":
    verb, to, number, through, *more = sys.argv[1:]
    if verb == "listen":
        found = listen(to, int(number), through)
    else:
        found = send(to, int(number), through, int(more[0]))
    print(json.dumps(dataclasses.asdict(found)))
