"""srv6net with its store in a real cluster, as two controllers run it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from srv6mgrd.cli.problem import Exit
from srv6net.compile.configuration import vrf_path
from srv6net.store.address import EtcdAddress, etcd_address
from srv6net.store.etcd import EtcdStore
from tests.fakes.network import KilledError
from tests.unit.srv6net.test_command import BLUE, RED, Network

pytestmark = pytest.mark.contract

VRF_RED = vrf_path("red")


def text(address: EtcdAddress) -> str:
    """As an operator writes it."""
    settings = {"ca": address.ca, "user": address.user, "password-file": address.password_file}
    return f"{address}?{urlencode(settings)}"


@pytest.fixture
def network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, address: EtcdAddress
) -> Network:
    made = Network(tmp_path, monkeypatch, capsys)
    monkeypatch.setenv("SRV6NET_STORE", text(address))
    return made


def test_an_address_is_read_as_it_is_written(address: EtcdAddress) -> None:
    assert etcd_address(text(address)) == address


def test_services_come_and_go(network: Network) -> None:
    assert network.run("apply", network.intent(RED))[:2] == (0, "committed: revision 1\n")
    assert network.run("apply", network.intent(RED, BLUE))[:2] == (0, "committed: revision 2\n")
    assert network.run("rollback")[:2] == (0, "committed: revision 3\n")
    assert VRF_RED in network.routers["pe1"].entries
    assert network.run("status")[0] == 0
    assert network.run("diff", "1", "2")[1].startswith("revision 1 to 2\n")


def test_a_second_controller_waits_its_turn(network: Network, address: EtcdAddress) -> None:
    with closing(EtcdStore(address)) as other, other.lead():
        status, _, err = network.run("apply", network.intent(RED))
    assert status == Exit.BUSY
    assert "another srv6net changes the network, on " in err
    assert network.routers["pe1"].entries == {}


def test_another_controller_resumes(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    decide = EtcdStore.decide

    def dies(*values: Any) -> Any:
        decide(*values)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(EtcdStore, "decide", dies)
        with pytest.raises(KilledError):
            network.run("apply", network.intent(RED))
    assert network.run("status")[0] == Exit.FOUND
    assert network.run("resume")[:2] == (0, "committed: revision 1\n")
    assert network.run("status")[0] == 0
