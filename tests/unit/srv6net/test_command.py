"""srv6net as operators run it, on routers that a test makes."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

import pytest

from srv6net.command import main, session
from srv6net.command.prometheus import discovered
from srv6net.compile.configuration import vrf_path
from srv6net.intent.inventory import inventory
from srv6net.store.sqlite import SqliteStore
from tests.fakes.network import FakeRouter, Faults, KilledError
from tests.unit.srv6net.intents import access, document, node, router, service

ADDRESSES = {"ipv4": {"local-address": "10.0.0.1", "prefix-length": 24}}
NEIGHBOR = {
    "id": "10.0.0.2",
    "type": "ietf-vpn-common:bgp-routing",
    "bgp": {"peer-as": 65100, "neighbor": ["10.0.0.2"]},
}
GREEN = service(
    "green",
    node(
        "pe1",
        access(
            "g",
            "to-green",
            **{
                "ip-connection": ADDRESSES,
                "routing-protocols": {"routing-protocol": [NEIGHBOR]},
            },
        ),
    ),
    node("pe2", access("h", "to-green2")),
)
RED = service("red", *(node(f"pe{n}", access(f"red{n}", f"to-red{n}")) for n in (1, 2)))
BLUE = service("blue", *(node(f"pe{n}", access(f"blue{n}", f"to-blue{n}")) for n in (2, 3)))


class Network:
    """Three routers, a store, and the command."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capture: Any) -> None:
        self.folder, self._patch, self._capture = folder, patch, capture
        self.routers = {f"pe{n}": FakeRouter() for n in (1, 2, 3)}
        self.inventory()
        patch.setattr(session, "GnmiDevice", self._device)
        patch.setenv("SRV6NET_INVENTORY", str(folder / "inventory.toml"))
        patch.setenv("SRV6NET_STORE", str(folder / "network.sqlite"))
        patch.setenv("NO_COLOR", "1")

    def inventory(self, *numbers: int) -> None:
        lines = ["as-number = 65000"]
        for number in numbers or (1, 2, 3):
            made = router(number)
            locator = made.pop("locator")
            lines.append(f"[routers.pe{number}]")
            lines += [f"{name} = {json.dumps(value)}" for name, value in made.items()]
            lines.append(f'locator = {{ name = "MAIN", prefix = "{locator["prefix"]}" }}')
        (self.folder / "inventory.toml").write_text("\n".join(lines))

    def _device(self, endpoint: Any) -> FakeRouter:
        return self.routers[endpoint.address.partition(":")[0]]

    def intent(self, *services: Any) -> str:
        file = self.folder / "intent.json"
        file.write_text(json.dumps(document(*services)))
        return str(file)

    def run(self, *words: str) -> tuple[int, str, str]:
        """Status, standard output, and standard error."""
        self._patch.setattr(sys, "argv", ["srv6net", *words])
        status = main.main()
        out, err = self._capture.readouterr()
        return status, out, err

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json")[1])


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Network:
    return Network(tmp_path, monkeypatch, capsys)


def test_apply_makes_a_service_on_its_routers(network: Network) -> None:
    status, out, err = network.run("apply", network.intent(RED))
    assert (status, out) == (0, "committed: revision 1\n")
    assert vrf_path("red") in network.routers["pe1"].entries
    assert network.routers["pe3"].entries == {}
    progress = [" ".join(line.split()[2:]) for line in err.splitlines()]
    assert sorted(progress) == sorted(
        f"pe{n} {what}: ok"
        for n in (1, 2)
        for what in ("dry run", "set, awaits confirmation", "verified", "confirmed")
    )


def test_a_service_that_left_the_document_is_removed(network: Network) -> None:
    network.run("apply", network.intent(RED, BLUE))
    assert network.run("apply", network.intent(BLUE))[:2] == (0, "committed: revision 2\n")
    assert network.routers["pe1"].entries == {}
    assert vrf_path("blue") in network.routers["pe2"].entries


def test_the_same_document_again_contacts_no_router(network: Network) -> None:
    network.run("apply", network.intent(RED))
    for one in network.routers.values():
        one.faults_ = Faults(lambda: "unreachable")
    assert network.run("apply", network.intent(RED))[:2] == (0, "nothing changes\n")


def test_plan_shows_what_changes_and_changes_nothing(network: Network) -> None:
    network.run("apply", network.intent(RED))
    status, out, _ = network.run("plan", network.intent(BLUE), "--offline")
    assert status == 0
    assert out.splitlines() == [
        "pe1",
        "  - SID fcbb:0:1:1000::/64",
        "  - VRF red",
        "pe2",
        "  - SID fcbb:0:2:1000::/64",
        "  - VRF red",
        "  + SID fcbb:0:2:1001::/64",
        "  + VRF blue",
        "pe3",
        "  + SID fcbb:0:3:1000::/64",
        "  + VRF blue",
    ]
    assert vrf_path("red") in network.routers["pe1"].entries


def test_plan_asks_the_routers(network: Network) -> None:
    network.routers["pe2"].rejects_dry_run = "VRF red: table 1 is taken; choose another"
    status, _, err = network.run("plan", network.intent(RED))
    assert status == 1
    assert err.splitlines()[-1] == (
        "srv6net: router pe2: VRF red: table 1 is taken; choose another"
    )


def test_a_router_that_rejects_rolls_all_back_and_is_named(network: Network) -> None:
    network.routers["pe2"].rejects = "interface to-red2: it is missing; add it"
    status, out, err = network.run("apply", network.intent(RED))
    assert (status, out) == (1, "rolled back on all routers\n")
    assert err.splitlines()[-1] == "srv6net: router pe2: interface to-red2: it is missing; add it"
    assert [one.entries for one in network.routers.values()] == [{}, {}, {}]
    assert network.json("status")["revision"] == 0


def test_contradictions_are_rejected_before_a_router_is_contacted(network: Network) -> None:
    for one in network.routers.values():
        one.faults_ = Faults(lambda: "unreachable")
    status, _, err = network.run("apply", network.intent(service("red", node("pe9"))))
    assert status == 1
    assert "srv6net: VPN service red: its node pe9 is on router pe9, which the inventory" in err


def test_a_controller_that_died_is_resumed(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: Any) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "decide", dies)
        with pytest.raises(KilledError):
            network.run("apply", network.intent(RED))
    assert vrf_path("red") in network.routers["pe1"].entries
    status, out, _ = network.run("status")
    assert status == 6
    assert "a transaction is open (undecided), pending on pe1, pe2: run srv6net resume" in out
    assert network.run("resume")[:2] == (0, "rolled back on all routers\n")
    assert [one.entries for one in network.routers.values()] == [{}, {}, {}]
    assert network.run("resume")[:2] == (0, "no transaction is open\n")


def test_a_large_network_has_a_descriptor_for_each_router(network: Network) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        network.run("status")
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_an_interrupted_transaction_says_what_to_do(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SqliteStore, "decide", interrupted)
    status, _, err = network.run("apply", network.intent(RED))
    assert status == 130
    assert "interrupted: the transaction is open; run srv6net resume" in err


def test_a_router_in_an_open_transaction_did_not_drift(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    network.run("apply", network.intent(RED))
    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "decide", lambda *_: (_ for _ in ()).throw(KilledError))
        with pytest.raises(KilledError):
            network.run("apply", network.intent(BLUE))
    status, out, _ = network.run("status")
    assert status == 6
    assert "changing" in out
    assert "drifted" not in out
    assert "reconcile" not in out


def test_rollback_restores_the_services_and_their_numbers(network: Network) -> None:
    network.run("apply", network.intent(RED))
    before = dict(network.routers["pe1"].entries)
    network.run("apply", network.intent(BLUE))
    assert network.run("rollback")[:2] == (0, "committed: revision 3\n")
    assert network.routers["pe1"].entries == before
    status, out, _ = network.run("diff", "1", "3")
    assert (status, out) == (0, "revision 1 to 3\n")
    status, _, err = network.run("rollback", "7")
    assert (status, err) == (
        1, "srv6net: revision 7: the store has none of this number; see srv6net status\n"
    )  # fmt: skip


def test_status_reports_routers_that_drifted_and_reconcile_brings_them_back(
    network: Network,
) -> None:
    network.run("apply", network.intent(RED))
    assert network.run("status")[0] == 0
    wanted = dict(network.routers["pe1"].entries)
    network.routers["pe1"].entries = {}
    network.routers["pe2"].faults_ = Faults(lambda: "unreachable")
    status, out, _ = network.run("status")
    assert status == 6
    rows = [line.split(maxsplit=2) for line in out.splitlines()[2:]]
    assert rows[0][1] == "drifted"
    assert "SID fcbb:0:1:1000::/64 (and 1 more) missing or changed" in out
    assert rows[1][1] == "unknown"
    status, out, err = network.run("reconcile")
    assert status == 3
    assert out.splitlines() == ["pe1", "  + SID fcbb:0:1:1000::/64", "  + VRF red"]
    assert "srv6net: router pe2: it does not answer; see its link" in err
    assert network.routers["pe1"].entries == wanted


def test_a_router_that_left_the_inventory_is_named(network: Network) -> None:
    network.run("apply", network.intent(RED))
    network.inventory(2, 3)
    status, _, err = network.run("apply", network.intent(BLUE))
    assert status == 1
    assert "router pe1: the inventory lacks it; add it again" in err


def test_a_renumbered_router_alone_is_changed(network: Network) -> None:
    network.run("apply", network.intent(RED))
    before = dict(network.routers["pe1"].entries)
    file = network.folder / "inventory.toml"
    file.write_text(file.read_text().replace("fcbb:0:2::/48", "fcbb:0:22::/48"))
    status, out, _ = network.run("plan", network.intent(RED))
    assert (status, out.splitlines()) == (
        0,
        ["pe2", "  - SID fcbb:0:2:1000::/64", "  + SID fcbb:0:22:1000::/64", "  ~ VRF red"],
    )
    assert network.run("apply", network.intent(RED))[0] == 0
    assert network.routers["pe1"].entries == before
    vrf: Any = network.routers["pe2"].entries[vrf_path("red")]
    assert vrf["srv6mgr-bgp:bgp"]["export-sid"] == "fcbb:0:22:1000::/64"


def test_two_controllers_take_turns(network: Network) -> None:
    store = SqliteStore(network.folder / "network.sqlite")
    with store.lead():
        status, _, err = network.run("apply", network.intent(RED))
    assert status == 5
    assert "another srv6net changes the network; wait until it ends" in err
    store.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is no JSON: "),
        ("[]", "it is no JSON object; see docs/srv6net.md"),
    ],
)
def test_files_that_are_no_documents(network: Network, text: str, words: str) -> None:
    file = network.folder / "bad.json"
    file.write_text(text)
    status, _, err = network.run("plan", str(file))
    assert status == 2
    assert f"srv6net: {file}: {words}" in err


def test_an_inventory_that_cannot_be_used(network: Network) -> None:
    file = network.folder / "inventory.toml"
    file.write_text("as-number = ")
    status, _, err = network.run("plan", network.intent(RED))
    assert (status, f"srv6net: {file}: it is no TOML: " in err) == (2, True)
    file.unlink()
    status, _, err = network.run("plan", network.intent(RED))
    assert status == 2
    assert "it cannot be read (No such file or directory); write one, or name it" in err


def test_errors_are_json_for_programs(network: Network) -> None:
    network.routers["pe1"].rejects = "VRF red: no; try again"
    status, out, err = network.run("--json", "apply", network.intent(RED))
    assert status == 1
    assert json.loads(out)["decision"] == "aborted"
    assert json.loads(err.splitlines()[-1])["errors"][0]["object"] == "router pe1"


@pytest.fixture
def brown(network: Network) -> Network:
    """Routers that have VPNs, and a controller that knows nothing of them."""
    assert network.run("apply", network.intent(RED, GREEN))[0] == 0
    (network.folder / "network.sqlite").unlink()
    for one in network.routers.values():
        one.writes = 0
    return network


def imported(network: Network) -> Any:
    status, out, err = network.run("import")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_what_is_imported_is_adopted_without_a_write(brown: Network) -> None:
    before = {name: dict(one.entries) for name, one in brown.routers.items()}
    file = brown.folder / "imported.json"
    file.write_text(json.dumps(imported(brown)))
    assert brown.run("adopt", str(file))[:2] == (0, "committed: revision 1\n")
    assert {name: one.entries for name, one in brown.routers.items()} == before
    assert [one.writes for one in brown.routers.values()] == [0, 0, 0]
    assert brown.run("status")[0] == 0
    assert brown.run("apply", str(file))[:2] == (0, "nothing changes\n")


def test_an_adopted_service_keeps_its_numbers_when_it_changes(brown: Network) -> None:
    wanted = imported(brown)
    file = brown.folder / "imported.json"
    file.write_text(json.dumps(wanted))
    brown.run("adopt", str(file))
    before = dict(brown.routers["pe2"].entries)
    (kept,) = [
        one
        for one in wanted["ietf-l3vpn-ntw:l3vpn-ntw"]["vpn-services"]["vpn-service"]
        if one["vpn-id"] == "red"
    ]
    assert brown.run("apply", brown.intent(kept))[:2] == (0, "committed: revision 2\n")
    after = brown.routers["pe2"].entries
    assert after == {path: before[path] for path in after}
    assert vrf_path("green") not in after


def test_differences_are_shown_and_nothing_is_adopted(brown: Network) -> None:
    file = brown.folder / "imported.json"
    file.write_text(json.dumps(imported(brown)).replace("0:65000:", "0:65000:1"))
    status, out, err = brown.run("adopt", str(file))
    assert status == 1
    assert "pe1\n  ~ VRF green\n  ~ VRF red\n" in out
    assert f"srv6net: {file}: routers differ from it; correct it, or add --change" in err
    assert [one.writes for one in brown.routers.values()] == [0, 0, 0]
    assert brown.json("status")["revision"] == 0
    assert brown.run("adopt", str(file), "--change")[:2] == (0, "committed: revision 1\n")
    vrf: Any = brown.routers["pe1"].entries[vrf_path("red")]
    assert vrf["srv6mgr-bgp:bgp"]["import-rt"][0].startswith("65000:1")


def test_what_no_document_can_say_is_listed(brown: Network) -> None:
    vrf: Any = brown.routers["pe1"].entries[vrf_path("red")]
    vrf["srv6mgr-ospf:ospf"] = {"router-id": "192.0.2.1"}
    auto: Any = brown.routers["pe2"].entries[vrf_path("red")]
    del auto["srv6mgr-bgp:bgp"]["export-sid"]
    status, out, err = brown.run("import", "pe1", "pe2")
    assert status == 0
    assert "router pe1: VRF red: srv6net does not know srv6mgr-ospf:ospf; the next" in err
    assert "router pe2: VRF red is left alone: it exports no routes with one declared SID" in err
    nodes = [s["vpn-nodes"]["vpn-node"] for s in json.loads(out)["ietf-l3vpn-ntw:l3vpn-ntw"]
             ["vpn-services"]["vpn-service"] if s["vpn-id"] == "red"]  # fmt: skip
    assert [one["ne-id"] for (one,) in nodes] == ["pe1"]


def test_a_sid_of_another_locator_is_not_adopted(brown: Network) -> None:
    file = brown.folder / "imported.json"
    file.write_text(json.dumps(imported(brown)))
    vrf: Any = brown.routers["pe1"].entries[vrf_path("red")]
    vrf["srv6mgr-bgp:bgp"]["export-sid"] = "fcbb:0:9:1000::/64"
    status, _, err = brown.run("adopt", str(file))
    assert status == 1
    assert "its VRF on router pe1 exports fcbb:0:9:1000::/64, which is not of locator MAIN" in err


def test_prometheus_discovers_the_routers_of_the_inventory(network: Network) -> None:
    network.inventory(1)
    assert network.json("targets") == [
        {"targets": ["pe1:9439"], "labels": {"router": "pe1", "locator": "fcbb:0:1::/48"}}
    ]
    (one,) = network.json("targets", "--port", "9100")
    assert one["targets"] == ["pe1:9100"]


def test_a_router_behind_a_unix_socket_is_no_target() -> None:
    known = inventory(
        {
            "as-number": 65000,
            "routers": {
                "pe1": router(1) | {"address": "unix:/run/srv6mgr/gnmi.sock"},
                "pe2": router(2) | {"address": "[2001:db8::2]:9339"},
            },
        }
    )
    (one,) = discovered(known, 9439)
    assert one["targets"] == ["[2001:db8::2]:9439"]
