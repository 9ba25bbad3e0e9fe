"""srv6net's router over gNMI, against srv6-gnmid with srv6mgrd's own commit clock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.waiting import wait_until
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6net.compile.configuration import Edit, sid_path, vrf_path
from srv6net.device.gnmi import Deadlines, GnmiDevice
from srv6net.intent.inventory import Endpoint, Tls
from srv6net.transaction.ports import DeviceError, NoSuchCommitError, UnreachableError
from srv6net.transaction.presence import missing
from tests.contract.datastore.coordinator_world import Loop
from tests.contract.gnmi.client import Client, Core
from tests.contract.gnmi.conftest import PASSWORD, USER, Server

BASE = {"locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]}}
SID = "fcbb:0:1:1000::/64"
GREEN = {
    vrf_path("green"): {
        "name": "green",
        "table-id": 1_000_000,
        "interface": ["to-ce2", "to-ce1"],
        "srv6mgr-bgp:bgp": {
            "rd": "192.0.2.1:1",
            "import-rt": ["65000:10000"],
            "export-rt": ["65000:10000"],
            "export-sid": SID,
            "redistribute": {"connected": True, "static": True},
        },
    },
    sid_path(SID): {"prefix": SID, "locator": "MAIN", "behavior": "End.DT46", "vrf": "green"},
}
CREATE, REMOVE = Edit((), GREEN), Edit(tuple(GREEN), {})
BGP = {
    "/srv6/srv6mgr-bgp:bgp": {"as-number": 65000, "router-id": "192.0.2.1"},
}


@pytest.fixture
def loop(gnmi: Client) -> Iterator[Loop]:
    gnmi.set(update={"/srv6": BASE, **BGP})
    made = Loop()
    yield made
    made.close()


@pytest.fixture
def device(server: Server, loop: Loop) -> Iterator[GnmiDevice]:
    made = GnmiDevice(Endpoint(f"unix:{server.socket}"))
    yield made
    made.close()


def test_entries_come_back_as_they_were_written(device: GnmiDevice) -> None:
    device.set(CREATE)
    found = device.read([*GREEN, vrf_path("blue"), sid_path("fcbb:0:1:2000::/64")])
    assert found.keys() == GREEN.keys()
    assert missing(GREEN, found) == {}
    device.set(REMOVE)
    assert device.read(GREEN) == {}


def test_a_commit_that_is_confirmed_stays(device: GnmiDevice, loop: Loop) -> None:
    device.set_confirmed(CREATE, "one", 60)
    pending = loop.pending()
    assert pending is not None
    assert pending.timeout == 60
    device.confirm("one")
    assert loop.pending() is None
    assert device.read(GREEN).keys() == GREEN.keys()


def test_a_commit_that_is_cancelled_is_gone(device: GnmiDevice) -> None:
    device.set_confirmed(CREATE, "one", 60)
    device.cancel("one")
    assert device.read(GREEN) == {}


def test_a_commit_that_nobody_confirms_is_gone(device: GnmiDevice) -> None:
    device.set_confirmed(CREATE, "one", 1)
    wait_until(lambda: device.read(GREEN) == {}, timeout=10)


@pytest.mark.parametrize("end", [GnmiDevice.confirm, GnmiDevice.cancel])
def test_a_commit_that_is_over_is_distinguished_from_that_of_others(
    device: GnmiDevice, end: Any
) -> None:
    with pytest.raises(NoSuchCommitError, match="no commit awaits confirmation"):
        end(device, "one")
    device.set_confirmed(CREATE, "theirs", 60)
    with pytest.raises(DeviceError, match=r"it is commit .* that awaits") as error:
        end(device, "one")
    assert not isinstance(error.value, NoSuchCommitError)
    device.cancel("theirs")


def test_a_router_rejects_in_its_own_words(device: GnmiDevice, loop: Loop) -> None:
    loop.world.manager.change_rejection = Rejection("VRF green", "no", "try again", "no")
    with pytest.raises(DeviceError, match=r"^VRF green: no; try again$"):
        device.set_confirmed(CREATE, "one", 60)
    loop.world.manager.change_rejection = None
    assert loop.pending() is None


def test_a_dry_run_sends_the_whole_configuration(
    server: Server, gnmi: Client, asked: list[tuple[str, Any]]
) -> None:
    gnmi.set(update={"/srv6": BASE})
    device = GnmiDevice(Endpoint(f"unix:{server.socket}"))
    device.check(CREATE)
    device.close()
    ((rpc, given),) = asked
    assert rpc == "plan"
    for part in ('"fcbb:0:1::/48"', '"green"', f'"{SID}"'):
        assert part in given["configuration"]


def test_what_is_not_installed_is_a_fault(device: GnmiDevice, core: Core) -> None:
    device.set(CREATE)
    assert "VRF green: its status is not reported" in device.faults(GREEN)
    installed = ObjectStatus(InstallStatus.INSTALLED, since=1)
    core.report(
        {
            ObjectRef(Kind.VRF, "green"): installed,
            ObjectRef(Kind.SID, SID): ObjectStatus(InstallStatus.FAILED, "no room", since=1),
        }
    )
    assert device.faults(GREEN) == [f"SID {SID}: it is failed: no room"]


def test_a_router_that_does_not_answer_is_unreachable(tmp_path: Path) -> None:
    device = GnmiDevice(Endpoint(f"unix:{tmp_path}/none"), Deadlines(read=2))
    with pytest.raises(UnreachableError, match=r"cannot be reached: .*; check the router"):
        device.read([vrf_path("green")])
    device.close()


def test_a_controller_shows_a_password_over_tls(server: Server, loop: Loop, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(f"{PASSWORD}\n")
    tls = Tls(ca=str(server.state / "selfsigned.crt"), server_name="localhost")
    address = f"127.0.0.1:{server.port}"
    device = GnmiDevice(Endpoint(address, tls, USER, str(secret)))
    assert device.read(GREEN) == {}
    device.close()
    secret.write_text("a wrong one")
    device = GnmiDevice(Endpoint(address, tls, USER, str(secret)))
    with pytest.raises(DeviceError, match=r"does not know this controller: .*; correct its"):
        device.read(GREEN)
    device.close()
    device = GnmiDevice(Endpoint(address, tls, USER, str(tmp_path / "none")))
    with pytest.raises(DeviceError, match=r"none cannot be read: .*; correct the inventory"):
        device.read(GREEN)
