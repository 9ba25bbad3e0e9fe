"""srv6-gnmid without a file descriptor left: it neither spins nor ends, and goes on afterwards."""

from __future__ import annotations

import contextlib
import socket

import pytest

from lab.waiting import wait_until
from tests.contract.descriptors import check_calm, exhausted
from tests.contract.gnmi.client import Client, failing
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import TABLE


@pytest.mark.usefixtures("core")
def test_without_descriptors_it_waits_and_goes_on(server: Server, gnmi: Client) -> None:
    with contextlib.ExitStack() as open_:

        def knock() -> None:
            client = open_.enter_context(socket.socket(socket.AF_UNIX))
            client.settimeout(0.01)
            client.connect(str(server.socket))

        check_calm(server.process.pid, knock)

    def answers() -> bool:
        with contextlib.closing(Client(f"unix:{server.socket}")) as client:
            return bool(client.capabilities().supported_models)

    wait_until(answers, timeout=20)
    assert server.process.poll() is None


def test_a_set_without_descriptors_says_what_is_lacking(server: Server, router: Client) -> None:
    """The log gets no traceback: the fixture of the server looks for one."""
    with exhausted(server.process.pid):
        code, message = failing(router.set, update={TABLE: 101})
        assert code.name == "UNAVAILABLE"
        assert message.startswith("srv6mgrd: it cannot be asked (Too many open files); see what")
        assert router.get(TABLE) == {TABLE: 100}
    router.set(update={TABLE: 101})
