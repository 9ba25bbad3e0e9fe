"""systemd's notification protocol (sd_notify(3)); nothing happens without systemd."""

from __future__ import annotations

import os
import socket


def notify(state: str) -> None:
    """Tell the service manager, for example ``READY=1``."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as s:
        s.sendto(state.encode(), address)
