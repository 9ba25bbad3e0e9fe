"""srv6ctl show."""

import time

import pytest

from srv6mgrd.cli.output import Cell, Column, Output
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.counters.node import ACTIVITY
from srv6mgrd.counters.observed import ObservedWriter
from srv6mgrd.model.status import InstallStatus
from tests.unit.cli.conftest import SID

NS = 1_000_000_000


def test_sids_with_status_and_counters(ctl):
    ctl.report(packets=7, errors=2)
    shown = ctl.run("show", "sids")
    assert shown.status == 0
    heading, row = shown.out.splitlines()
    assert heading.split()[:3] == ["SID", "SERVICE", "BEHAVIOR"]
    assert row.split()[:8] == [SID, "up", "End.DT46", "VRF", "red", "7", "2", "installed"]


def test_json_has_the_models_words_and_numbers(ctl):
    ctl.report(InstallStatus.PENDING, "VRF red is absent", packets=7)
    (sid,) = ctl.run("show", "sids", "--json").json["sids"]
    assert (sid["prefix"], sid["behavior"], sid["vrf"]) == (SID, "End.DT46", "red")
    assert (sid["install-status"], sid["reason"]) == ("pending", "VRF red is absent")
    assert sid["counters"]["in-pkts"] == 7
    assert ctl.run("--json", "show", "sids").json["sids"] == [sid]


def test_without_sysrepo_the_store_is_shown(ctl):
    ctl.report(packets=7)
    ctl.client.trouble = Problem.of("sysrepo", "it is away", "start it", Exit.UNREACHABLE)
    shown = ctl.run("show", "sids")
    assert shown.status == 0
    assert SID in shown.out
    assert "sysrepo: it is away; start it" in shown.err


def test_who_shows_old_notifications_says_so(ctl):
    ctl.report()
    ctl.managed = False
    assert "srv6mgrd is not running" in ctl.run("show", "sids").err


def test_without_a_store_there_is_a_remedy(ctl, tmp_path):
    (tmp_path / "store").unlink()
    shown = ctl.run("show", "counters")
    assert shown.status == Exit.UNREACHABLE
    assert shown.err.startswith("srv6ctl: srv6mgrd: it has reported nothing yet")
    assert shown.err.strip().endswith("start it (systemctl start srv6mgrd)")


def test_errors_are_json_too(ctl, tmp_path):
    (tmp_path / "store").unlink()
    assert '{"errors": [{"object": "srv6mgrd", ' in ctl.run("show", "counters", "--json").err


def test_vrfs(ctl):
    ctl.report()
    (vrf,) = ctl.run("show", "vrfs", "--json").json["vrfs"]
    assert (vrf["name"], vrf["table-id"], vrf["install-status"]) == ("red", 10, "installed")
    assert "red" in ctl.run("show", "vrfs").out


def test_interfaces(ctl, tmp_path):
    ctl.report()
    entries = [
        {"name": "to-p", "role": "core"},
        {
            "name": "eth1.5",
            "srv6mgr-interfaces:vlan": {"parent-interface": "eth1", "vlan-id": 5},
            "srv6mgr-interfaces:mtu": 1400,
            "srv6mgr-interfaces:ipv4": {"address": [{"ip": "10.0.0.1", "prefix-length": 24}]},
        },
        {"name": "lo1", "srv6mgr-interfaces:type": "loopback"},
    ]
    vrf = {"name": "red", "table-id": 10, "interface": ["eth1.5"]}
    tree = {"interfaces": {"interface": entries}, "vrfs": {"vrf": [vrf]}}
    ctl.client.tree = {"srv6mgr-srv6:srv6": tree}

    writer = ObservedWriter(tmp_path / "observed.json")
    state = {"srv6mgr-interfaces:oper-status": "up", "srv6mgr-interfaces:mtu": 1400}
    members = {"interfaces": {"interface": [{"name": "eth1.5", "state": state}]}}
    writer.stage("interfaces", members)
    writer.publish()

    shown = [line.split() for line in ctl.run("show", "interfaces").out.splitlines()[1:]]

    vlan = ["eth1.5", "-", "red", "VLAN", "5", "of", "eth1", "-", "up", "1400", "10.0.0.1/24"]
    assert shown[0][: len(vlan)] == vlan
    assert shown[1][:4] == ["lo1", "-", "-", "loopback"]
    assert shown[2][:3] == ["to-p", "core", "-"]
    (first, *_) = ctl.run("show", "interfaces", "--json").json["interfaces"]
    assert first["vlan"] == {"parent-interface": "eth1", "vlan-id": 5}
    assert (first["vrf"], first["addresses"]) == ("red", ["10.0.0.1/24"])
    assert first["observed"] == {"oper-status": "up", "mtu": 1400}


NEIGHBOR_STATE = {
    "session-state": "established",
    "established-transitions": 2,
    "last-change": "2026-11-23T13:20:28.000000000+00:00",
    "last-reset-reason": "Hold Timer Expired",
    "bfd-state": "up",
    "afi-safi": [
        {"name": "ipv4-unicast", "prefixes": {"accepted": 3, "advertised": 5}},
        {"name": "ipv6-unicast", "prefixes": {"accepted": 1, "advertised": 2}},
    ],
}


def test_neighbors(ctl, tmp_path):
    ctl.report()
    bgp = {
        "rd": "65000:110",
        "neighbor": [{"address": "10.1.0.10", "remote-as": 65100}],
        "unnumbered-neighbor": [{"interface": "eth1", "remote-as": 65102}],
        "peer-group": [
            {"name": "sites", "remote-as": 65101, "dynamic-neighbor-prefix": ["10.2.0.0/16"]}
        ],
    }
    ospf = {"router-id": "10.0.0.1", "interface": [{"name": "eth1"}]}
    red = {"name": "red", "table-id": 10, "srv6mgr-bgp:bgp": bgp, "srv6mgr-ospf:ospf": ospf}
    speaker = {"as-number": 65000, "router-id": "10.0.0.1"}
    tree = {"vrfs": {"vrf": [red]}, "srv6mgr-bgp:bgp": speaker}
    ctl.client.tree = {"srv6mgr-srv6:srv6": tree}
    idle = {"session-state": "idle", "last-reset-reason": "Waiting for peer OPEN"}
    dynamic = {"address": "10.2.0.7", "remote-as": 65101, "state": NEIGHBOR_STATE}
    seen = {
        "neighbor": [{"address": "10.1.0.10", "state": NEIGHBOR_STATE}],
        "unnumbered-neighbor": [{"interface": "eth1", "state": idle}],
        "peer-group": [{"name": "sites", "dynamic-neighbor": [dynamic]}],
    }
    met = {"router-id": "10.0.0.9", "address": "10.1.0.10", "state": "full"}
    adjacent = {"interface": [{"name": "eth1", "neighbor": [met]}]}
    of_red = {"name": "red", "srv6mgr-bgp:bgp": seen, "srv6mgr-ospf:ospf": adjacent}
    writer = ObservedWriter(tmp_path / "observed.json")
    writer.stage("frr", {"vrfs": {"vrf": [of_red]}})
    writer.publish()

    reported = ctl.run("show", "neighbors", "--json").json["neighbors"]

    assert [(n["protocol"], n["neighbor"], n["state"]) for n in reported] == [
        ("BGP", "10.1.0.10", "established"),
        ("BGP", "eth1", "idle"),
        ("BGP", "10.2.0.7", "established"),
        ("OSPF", "10.0.0.9", "full"),
    ]
    assert reported[0]["afi-safi"][0]["prefixes"]["accepted"] == 3
    lines = [line.split() for line in ctl.run("show", "neighbors").out.splitlines()[1:]]
    assert lines[0][:5] == ["red", "BGP", "10.1.0.10", "65100", "established"]
    assert "ipv4:3" in lines[0]
    assert lines[1][-4:] == ["Waiting", "for", "peer", "OPEN"]
    assert lines[3][:6] == ["red", "OSPF", "10.0.0.9", "at", "eth1", "-"]
    # srv6mgrd no longer vouches for it.
    ctl.store.renew_lease(0)
    reported = ctl.run("show", "neighbors", "--json").json["neighbors"]
    assert {n["state"] for n in reported} == {"unknown"}


def test_paths(ctl, tmp_path):
    ctl.report()
    member = "srv6mgr-path-measurement:path-measurement"
    sessions = [
        {"name": "pe2", "destination-address": "2001:db8::2"},
        {"name": "pe3", "destination-address": "2001:db8::3", "segment-list": "VIA-P"},
    ]
    lists = {"segment-list": [{"name": "VIA-P", "segment": [{"index": 0, "sid": "fcbb:0:3::"}]}]}
    ctl.client.tree = {"srv6mgr-srv6:srv6": {"segment-lists": lists, member: {"session": sessions}}}
    state = {
        "path-state": "degraded",
        "reason": "loss 0.5% exceeds 0.1%",
        "last-change": "2026-11-23T13:20:28.000000000+00:00",
        "last-measurement": {
            "packets-sent": 600,
            "packets-received": 597,
            "loss-ratio": "0.5",
            "round-trip-delay": {"median": 2000, "percentile-99": 30000},
            "jitter": {"median": 5, "percentile-99": 60},
        },
    }
    writer = ObservedWriter(tmp_path / "observed.json")
    writer.stage("path-measurement", {member: {"session": [{"name": "pe2", "state": state}]}})
    writer.publish()

    lines = [line.split() for line in ctl.run("show", "paths").out.splitlines()[1:]]

    assert lines[0][:4] == ["pe2", "2001:db8::2", "-", "degraded"]
    assert lines[0][6:15] == ["0.5%", "2000", "us", "30.0", "ms", "5", "us", "60", "us"]
    assert lines[0][15:] == ["loss", "0.5%", "exceeds", "0.1%"]
    assert lines[1][:4] == ["pe3", "2001:db8::3", "VIA-P", "unknown"]
    reported = ctl.run("show", "paths", "--json").json["paths"]
    assert [one["path-state"] for one in reported] == ["degraded", "unknown"]
    assert reported[0]["last-measurement"]["packets-received"] == 597


def test_rates_are_those_between_two_samples(ctl, monkeypatch):
    ctl.report(packets=10, octets=1000)

    def later(_):
        ctl.count(time.time_ns() + 10 * NS, packets=110, octets=2000)

    monkeypatch.setattr(time, "sleep", later)
    (reported,) = ctl.run("show", "counters", SID, "--json").json["counters"]
    assert reported["in-pkts"] == 110
    assert reported["rates"]["packets"] == pytest.approx(10, rel=0.1)
    assert reported["rates"]["bits"] == pytest.approx(800, rel=0.1)
    assert "PKT/S" not in ctl.run("show", "counters", "--no-rates").out


def test_counters_of_no_such_sid(ctl):
    ctl.report()
    shown = ctl.run("show", "counters", "fc00::/64")
    assert shown.status == Exit.REJECTED
    assert "SID fc00::/64: it is not declared; see srv6ctl show sids" in shown.err


def test_transactions_with_the_one_that_waits(ctl):
    pending = {"id": "one", "deadline": "2026-11-21T10:00:00.000000001+00:00"}
    ctl.transactions(2, 1, pending=pending)
    shown = ctl.run("show", "transactions").out
    assert "commit one is undone at 2026-11-21" in shown
    assert ctl.run("show", "transactions", "--json").json["transactions"]["pending"] == pending


def test_colours_only_on_terminals(capsys, monkeypatch):
    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

    def shown():
        terminal = Terminal()
        Output(terminal).table([Column("A")], [[Cell("x", "bad")]])
        return terminal.text

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\033[" in shown()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033[" not in shown()
    Output().table([Column("A")], [[Cell("x", "bad")]])
    assert "\033[" not in capsys.readouterr().out


def test_how_far_the_commit_is_that_is_carried_out(ctl):
    ctl.transactions(2, 1)
    assert "operations done" not in ctl.run("show", "commits").out
    activity = {
        "kind": "commit", "elapsed": 12, "stage": "write-kernel", "done": 5000, "total": 100000,
        "object": SID,
    }  # fmt: skip
    ctl.node.show(ACTIVITY, activity)

    shown = ctl.run("show", "commits").out

    assert (
        f"commit for 12 s: write-kernel, 5000 of 100000 operations done at {SID}"
        in shown.splitlines()
    )
    assert "done" in shown.splitlines()[-1]
    assert ctl.run("show", "commits", "--json").json["activity"] == activity


def test_state_of_services(ctl):
    ctl.report()
    (vrf,) = ctl.run("show", "vrfs", "--json").json["vrfs"]
    assert vrf["service"]["service-state"] == "up"
    condition = {
        "type": "vrf-interface-down",
        "resource": "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/interface[.='eth1']",
        "object": "VRF red",
        "severity": "major",
        "cause": "interface eth1 of VRF red is down",
        "remedy": "ip link set eth1 up",
    }
    ctl.judge("down", condition, sid="down")
    for what in ("vrfs", "sids"):
        row = ctl.run("show", what).out.splitlines()[1]
        assert row.split()[1] == "down"
        assert row.endswith("interface eth1 of VRF red is down")
        (one,) = ctl.run("show", what, "--json").json[what]
        assert one["service"]["condition"] == [condition]


def test_the_state_of_services_is_unknown_when_nobody_judges_it(ctl):
    ctl.report()
    ctl.observed.stage("service", {})
    ctl.observed.publish()
    (vrf,) = ctl.run("show", "vrfs", "--json").json["vrfs"]
    assert vrf["service"] == {"service-state": "unknown"}
    ctl.report(InstallStatus.FAILED, "no memory")
    (sid,) = ctl.run("show", "sids", "--json").json["sids"]
    assert sid["service"] == {"service-state": "down"}
