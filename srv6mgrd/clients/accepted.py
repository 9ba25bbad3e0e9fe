"""Who is at the other end of a connection that was accepted."""

from __future__ import annotations

import socket
import struct
from typing import Any

from srv6mgrd.clients.peer import Peer

_CREDENTIALS = struct.Struct("3i")  # struct ucred, unix(7)


def peer_of(number: int, accepted: socket.socket, address: Any) -> Peer:
    """``address`` as ``accept`` gave it, ``number`` that of the connection."""
    if accepted.family == socket.AF_UNIX:
        found = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return Peer(number, uid=_CREDENTIALS.unpack(found)[1])
    return Peer(number, str(address[0]), int(address[1]))
