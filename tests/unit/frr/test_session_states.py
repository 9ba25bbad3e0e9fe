"""State of BGP sessions, of what bgpd and bfdd print."""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address
from typing import Any

from srv6mgrd.frr.session_states import SUMMARY, SessionStates
from srv6mgrd.frr.state import FrrState
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.bgp import Bgp, Neighbor, PeerKind, VrfBgp
from srv6mgrd.model.desired import Desired, Vrf

CE = Neighbor("10.1.0.10", 65100, bfd=True)
LINK = Neighbor("to-ce-red", 65100, kind=PeerKind.UNNUMBERED, bfd=True)
WIDE = Neighbor("wide", 65100, kind=PeerKind.DYNAMIC, prefixes=("10.0.0.0/8", "fd00::/16"))
NARROW = Neighbor("narrow", 65101, kind=PeerKind.DYNAMIC, prefixes=("10.2.0.0/16",))
RED = Vrf("red", 10, bgp=VrfBgp("1:1", (), (), neighbors=(CE, LINK, WIDE, NARROW)))
EDGE = Neighbor("2001:db8::2", 65000)
DESIRED = Desired(vrfs={"red": RED}, bgp=Bgp(65000, IPv4Address("10.0.0.1"), (EDGE,)))

FAILED = "show bgp vrf all summary failed json"
CHANGED = 1_795_440_028
AT = "2026-11-23T13:20:28.000000000+00:00"


def entry(state: str = "Established", up: int = 1, down: int = 0, **more: Any) -> dict[str, Any]:
    found = {"state": state, "connectionsEstablished": up, "connectionsDropped": down, **more}
    found.setdefault("peerUptimeEstablishedEpoch", CHANGED)
    return found


def up(accepted: int, advertised: int, **more: Any) -> dict[str, Any]:
    return entry(pfxRcd=accepted, pfxSnt=advertised, **more)


@dataclass
class Daemons:
    """bgpd and bfdd; ``red`` are the peers of the VRF by family."""

    red: dict[str, dict[str, Any]] = field(default_factory=dict)
    speaker: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, Any] = field(default_factory=dict)
    alone: dict[str, Any] = field(default_factory=dict)
    bfd: list[dict[str, Any]] | None = None
    asked: list[str] = field(default_factory=list)

    def show(self, daemon: str, command: str) -> str:
        self.asked.append(command)
        if command == SUMMARY:
            return json.dumps({"default": families(self.speaker), "red": families(self.red)})
        if command == FAILED:
            return json.dumps({"red": {"ipv4Unicast": {"peers": self.failed}}})
        if command == "show bfd peers json":
            if self.bfd is None:
                raise VtyError(errno.ENOENT, "bfdd can't be reached")
            return json.dumps(self.bfd)
        name = command.removeprefix("show bgp vrf red neighbors ").removesuffix(" json")
        return json.dumps({name: self.alone})


def families(peers: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {family: {"peers": found} for family, found in peers.items()}


def of_ce(states: SessionStates, daemons: Daemons) -> dict[str, Any]:
    (found,) = states.lists(DESIRED, daemons)["red"]["neighbor"]
    state: dict[str, Any] = found["state"]
    return state


def test_established() -> None:
    daemons = Daemons(
        red={
            "ipv4Unicast": {"10.1.0.10": up(3, 5), "to-ce-red": up(1, 2)},
            "ipv6Unicast": {"to-ce-red": up(0, 4)},
        },
        speaker={"ipv4Vpn": {"2001:db8::2": up(7, 8)}},
        bfd=[
            {"peer": "10.1.0.10", "vrf": "red", "interface": "to-ce-red", "status": "up"},
            {"peer": "fe80::1", "vrf": "red", "interface": "to-ce-red", "status": "down"},
        ],
    )
    found = SessionStates().lists(DESIRED, daemons)
    state = {"session-state": "established", "established-transitions": 1, "last-change": AT}

    def family(name: str, accepted: int, advertised: int) -> dict[str, Any]:
        return {"name": name, "prefixes": {"accepted": accepted, "advertised": advertised}}

    vpn = {**state, "afi-safi": [family("ipv4-vpn", 7, 8)]}
    ce = {**state, "bfd-state": "up", "afi-safi": [family("ipv4-unicast", 3, 5)]}
    both = [family("ipv4-unicast", 1, 2), family("ipv6-unicast", 0, 4)]
    link = {**state, "bfd-state": "down", "afi-safi": both}
    assert found == {
        "default": {"neighbor": [{"address": "2001:db8::2", "state": vpn}]},
        "red": {
            "neighbor": [{"address": "10.1.0.10", "state": ce}],
            "unnumbered-neighbor": [{"interface": "to-ce-red", "state": link}],
        },
    }
    # Nothing failed, so nobody is asked why.
    assert daemons.asked == [SUMMARY, "show bfd peers json"]


def test_states_have_the_names_of_rfc_4271() -> None:
    said = {
        "Idle": "idle",
        "Idle (Admin)": "idle",
        "Connect": "connect",
        "Active": "active",
        "OpenSent": "open-sent",
        "OpenConfirm": "open-confirm",
        "Clearing": "idle",
    }
    for word, name in said.items():
        daemons = Daemons(red={"ipv4Unicast": {"10.1.0.10": entry(word)}})
        assert of_ce(SessionStates(), daemons)["session-state"] == name


def test_why_a_session_is_down_and_was() -> None:
    states, daemons = SessionStates(), Daemons(red={"ipv4Unicast": {"10.1.0.10": up(1, 1)}})
    assert "last-reset-reason" not in of_ce(states, daemons)

    daemons.red = {"ipv4Unicast": {"10.1.0.10": entry("Idle", down=1)}}
    reported = {"lastResetDueTo": "BGP Notification received", "lastNotificationReason": "Cease"}
    daemons.failed = {"10.1.0.10": reported}
    assert of_ce(states, daemons)["last-reset-reason"] == "BGP Notification received: Cease"

    # bgpd overwrites it with each try.
    daemons.failed = {"10.1.0.10": {"lastResetDueTo": "Waiting for peer OPEN"}}
    assert of_ce(states, daemons)["last-reset-reason"] == "BGP Notification received: Cease"

    daemons.red = {"ipv4Unicast": {"10.1.0.10": up(1, 1, up=2, down=1)}}
    found = of_ce(states, daemons)
    assert (found["session-state"], found["established-transitions"]) == ("established", 2)
    assert found["last-reset-reason"] == "BGP Notification received: Cease"
    assert not [c for c in daemons.asked if "neighbors" in c]


def test_a_session_that_never_came_up_has_a_reason_until_it_does() -> None:
    down = entry("Active", up=0, peerUptimeEstablishedEpoch=0)
    states, daemons = SessionStates(), Daemons(red={"ipv4Unicast": {"10.1.0.10": down}})
    daemons.failed = {"10.1.0.10": {"lastResetDueTo": "Waiting for peer OPEN"}}
    assert of_ce(states, daemons) == {
        "session-state": "active",
        "established-transitions": 0,
        "last-reset-reason": "Waiting for peer OPEN",
    }
    daemons.red = {"ipv4Unicast": {"10.1.0.10": up(0, 0)}}
    assert "last-reset-reason" not in of_ce(states, daemons)


def test_a_session_that_flapped_unseen_is_asked_for_alone_and_once() -> None:
    states = SessionStates()
    daemons = Daemons(red={"ipv4Unicast": {"10.1.0.10": up(1, 1, up=3, down=2)}})
    daemons.alone = {"lastResetDueTo": "Hold Timer Expired"}
    assert of_ce(states, daemons)["last-reset-reason"] == "Hold Timer Expired"
    assert of_ce(states, daemons)["last-reset-reason"] == "Hold Timer Expired"
    assert daemons.asked.count("show bgp vrf red neighbors 10.1.0.10 json") == 1


def test_many_are_not_asked_for_alone_in_one_round() -> None:
    peers = {f"10.3.0.{n}": up(1, 1, up=2, down=1) for n in range(50)}
    states, daemons = SessionStates(), Daemons(red={"ipv4Unicast": peers})
    for count in (20, 40, 50, 50):
        states.lists(DESIRED, daemons)
        assert len([c for c in daemons.asked if "neighbors" in c]) == count


def test_the_time_of_a_change_stands_still() -> None:
    """bgpd takes it from two clocks in whole seconds."""
    states = SessionStates()
    times = []
    for epoch in (CHANGED, CHANGED + 1, CHANGED - 1):
        found = up(1, 1, peerUptimeEstablishedEpoch=epoch)
        times.append(of_ce(states, Daemons({"ipv4Unicast": {"10.1.0.10": found}}))["last-change"])
    assert times == [AT] * 3
    again = up(1, 1, up=2, down=1, peerUptimeEstablishedEpoch=CHANGED + 1)
    found = of_ce(states, Daemons({"ipv4Unicast": {"10.1.0.10": again}}))
    assert found["last-change"] != AT


def test_those_who_connect_stand_in_the_group_of_the_longest_prefix() -> None:
    dynamic = {"dynamicPeer": True, "remoteAs": 65100}
    peers = {
        "10.2.0.7": up(1, 1, **{**dynamic, "remoteAs": 65101}),
        "10.3.0.7": up(1, 1, **dynamic),
        "fd00::7": up(1, 1, **dynamic),
        "to-other": up(1, 1),
    }
    daemons = Daemons(red={"ipv4Unicast": peers})
    groups = SessionStates().lists(DESIRED, daemons)["red"]["peer-group"]
    found = {g["name"]: [(n["address"], n["remote-as"]) for n in g["dynamic-neighbor"]]
             for g in groups}  # fmt: skip
    assert found == {
        "wide": [("10.3.0.7", 65100), ("fd00::7", 65100)],
        "narrow": [("10.2.0.7", 65101)],
    }


def test_nothing_is_asked_without_neighbors_and_nothing_said_without_bgpd() -> None:
    daemons = Daemons()
    assert SessionStates().lists(Desired(), daemons) == {}
    assert daemons.asked == []

    class Away:
        def show(self, daemon: str, command: str) -> str:
            raise VtyError(errno.ENOENT, "bgpd can't be reached")

    assert SessionStates().lists(DESIRED, Away()) == {}


def test_a_round_asks_each_command_once() -> None:
    daemons = Daemons(speaker={"ipv4Vpn": {"2001:db8::2": up(7, 8)}})
    # A round that takes no time is a whole one.
    state = FrrState(daemons, lambda: 0.0)
    quiet = replace(DESIRED, vrfs={})
    state.ask(quiet)
    state.ask(quiet)
    assert daemons.asked == [FAILED, SUMMARY] * 2
    assert list(state.observed) == ["srv6mgr-bgp:bgp"]
    state.ask(Desired())
    assert state.observed == {}


def test_sessions_are_shown_where_bgpd_has_no_json_of_those_that_failed() -> None:
    """bgpd 10.3 prints none where a neighbor is shut down."""

    class Silent(Daemons):
        def show(self, daemon: str, command: str) -> str:
            return "{" if command == FAILED else super().show(daemon, command)

    daemons = Silent(red={"ipv4Unicast": {CE.address: entry("Idle (Admin)")}})
    assert of_ce(SessionStates(), daemons)["session-state"] == "idle"
