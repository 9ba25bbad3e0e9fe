"""No file descriptor left: who knocks waits, and nobody spins."""

from __future__ import annotations

import contextlib
import socket
from functools import partial

from tests.contract.descriptors import check_calm, exhausted
from tests.contract.netconf.client import Client, rejected
from tests.contract.netconf.conftest import Server
from tests.contract.netconf.data import ROUTER


def test_without_descriptors_it_waits_and_goes_on(server: Server) -> None:
    with contextlib.ExitStack() as open_:

        def knock() -> None:
            client = open_.enter_context(socket.socket(socket.AF_UNIX))
            client.settimeout(0.01)
            client.connect(str(server.socket))

        check_calm(server.process.pid, knock)
    client = Client(server.socket)
    client.close()


def test_an_edit_without_descriptors_is_rejected_and_ends_nobody(
    client: Client, server: Server
) -> None:
    """libsysrepo frees a change twice whose store fails."""
    with exhausted(server.process.pid):
        edit = partial(client.edit, ROUTER, target="candidate")
        rejected(edit, "resource-denied", "Too many open files")
    client.edit(ROUTER, target="candidate")
    client.manager.discard_changes()
