"""No file descriptor left: who knocks waits, and nobody spins."""

from __future__ import annotations

import contextlib
import socket

from tests.contract.descriptors import check_calm
from tests.contract.netconf.client import Client
from tests.contract.netconf.conftest import Server


def test_without_descriptors_it_waits_and_goes_on(server: Server) -> None:
    with contextlib.ExitStack() as open_:

        def knock() -> None:
            client = open_.enter_context(socket.socket(socket.AF_UNIX))
            client.settimeout(0.01)
            client.connect(str(server.socket))

        check_calm(server.process.pid, knock)
    client = Client(server.socket)
    client.close()
