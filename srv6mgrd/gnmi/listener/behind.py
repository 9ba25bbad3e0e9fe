"""Connections to gRPC's own sockets, in the name of a client."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from srv6mgrd.clients.peer import Peer

_CONNECT_S = 5.0


async def connect(folder: Path, behind: str, peer: Peer) -> socket.socket:
    """A connection to ``behind`` from a socket in ``folder`` that has the name of the client.
    Raises OSError or TimeoutError."""
    path = folder / peer.file()
    made = socket.socket(socket.AF_UNIX)
    try:
        made.setblocking(False)
        made.bind(str(path))
        async with asyncio.timeout(_CONNECT_S):
            await asyncio.get_running_loop().sock_connect(made, behind)
    except BaseException:
        made.close()
        raise
    finally:
        path.unlink(missing_ok=True)
    return made
