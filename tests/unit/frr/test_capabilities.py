"""What FRR offers, by the commands that its daemons list."""

import errno
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.vty import VtyError, instance
from tests.unit.frr.server import VtyServer

# As FRR 10.3 lists them.
COMMANDS = {
    "func-bits": "  (srv6-locator)  prefix X:X::X:X/M [block-len (16-64)] [func-bits (0-64)]\n",
    "source-address": "  (srv6-encap)  source-address X:X::X:X\n",
    "sid vpn per-vrf export": "  (bgp)  [no] sid vpn per-vrf export <(1-1048575)|auto>\n",
    "capability extended-nexthop": "  (bgp)  neighbor WORD capability extended-nexthop\n",
}
MANAGER = "show segment-routing srv6 manager json"
PATCHED = {"parameters": {"encapsulation": {"lookupTable": {"supported": True}}}}
VERSION = "FRRouting 10.3 (pe1) on Linux(7.3.4).\nCopyright 1996-2005\n"


class Daemons:
    """zebra and bgpd, which list the commands of ``known``."""

    def __init__(self, directory: Path) -> None:
        self.known = dict(COMMANDS)
        self.zebra = VtyServer(directory / "zebra.vty", self._reply)
        self.bgpd = VtyServer(directory / "bgpd.vty", self._reply)

    def _reply(self, command: str) -> tuple[int, str]:
        if command == "show version":
            return 0, VERSION
        return 0, self.known.get(command.removeprefix("find "), "")

    def close(self) -> None:
        self.zebra.close()
        self.bgpd.close()


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Daemons]:
    started = Daemons(tmp_path)
    yield started
    started.close()


@pytest.fixture
def frr(tmp_path: Path) -> FrrSockets:
    return FrrSockets(tmp_path, timeout=0.2)


def test_all_of_it(frr: FrrSockets, daemons: Daemons) -> None:
    capabilities = frr.capabilities()
    assert capabilities.version == "10.3"
    assert capabilities.missing == {}
    assert capabilities.facilities == {
        "frr-locator",
        "frr-encapsulation-source",
        "frr-export-sid",
        "frr-vpn-ipv6-session",
    }


def test_a_command_that_is_unknown_is_missing(frr: FrrSockets, daemons: Daemons) -> None:
    del daemons.known["sid vpn per-vrf export"]
    capabilities = frr.capabilities()
    assert capabilities.missing == {
        "frr-export-sid": "bgpd knows no command 'sid vpn per-vrf export'"
    }
    assert "frr-export-sid" not in capabilities.facilities
    assert "frr-locator" in capabilities.facilities


def test_tables_of_a_patched_zebra(frr: FrrSockets, daemons: Daemons) -> None:
    daemons.known[MANAGER] = json.dumps(PATCHED)
    capabilities = frr.capabilities()
    assert "frr-lookup-table" in capabilities.facilities
    assert capabilities.missing == {}


def test_the_same_words_elsewhere_are_not_the_command(frr: FrrSockets, daemons: Daemons) -> None:
    daemons.known["source-address"] = "  (interface)  ip source-address A.B.C.D\n"
    assert "frr-encapsulation-source" in frr.capabilities().missing


def test_out_of_reach(frr: FrrSockets) -> None:
    capabilities = frr.capabilities()
    assert (capabilities.version, capabilities.facilities) == ("", frozenset())
    assert "zebra can't be reached" in capabilities.missing["frr"]
    assert set(frr.instances()) == {None}


def test_silence_says_nothing(frr: FrrSockets, tmp_path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(tmp_path / "zebra.vty"))
        silent.listen()
        with pytest.raises(VtyError) as caught:
            frr.capabilities()
    assert caught.value.errno == errno.ETIMEDOUT


def test_an_instance_is_another_one_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "zebra.vty"
    first = VtyServer(path)
    before = instance(path)
    assert before is not None
    assert instance(path) == before
    first.close()
    assert instance(path) is None
    path.rename(tmp_path / "old")
    second = VtyServer(path)
    assert instance(path) not in (None, before)
    second.close()
