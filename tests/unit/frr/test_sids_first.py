"""SIDs are asked for before their VRFs export, one at a time."""

import errno
import json

import pytest

from srv6mgrd.frr.blocks import BGPD, ZEBRA
from srv6mgrd.frr.script import Step
from srv6mgrd.frr.sids_first import Arrivals, Asked, asked, stages
from srv6mgrd.frr.vty import VtyError


def instance(name: str, line: str, *inner: str) -> Step:
    return Step(BGPD, (f"router bgp 65000 vrf {name}", *inner), line, None)


def steps(*names: str) -> list[Step]:
    found = []
    for name in names:
        found += [
            instance(name, "bgp router-id 1.1.1.1"),
            instance(name, "sid vpn per-vrf export 100"),
            instance(name, "export vpn", "address-family ipv4 unicast"),
        ]
    return found


def test_export_comes_after_all_sids() -> None:
    whole = steps("red", "blue")
    before, *sids, last = stages(whole)
    assert before == []
    for made, stage, name in ((*sids[:2], "red"), (*sids[2:], "blue")):
        assert [s.line for s in made] == ["bgp router-id 1.1.1.1"]
        assert asked(made) == []
        assert [s.line for s in stage] == ["sid vpn per-vrf export 100"]
        assert asked(stage) == [Asked(name, 100)]
    assert [s.line for s in last] == ["export vpn"] * 2
    assert asked(last) == []


def test_what_asks_for_no_sid_goes_as_it_is() -> None:
    zebra = Step(ZEBRA, ("segment-routing", "srv6", "encapsulation"), "source-address ::1", None)
    other = instance("blue", "import vpn", "address-family ipv4 unicast")
    assert stages([zebra, other]) == [[zebra, other]]
    before, made, sids, last = stages([zebra, other, *steps("red")])
    assert before == [zebra, other]
    assert [len(stage) for stage in (made, sids, last)] == [1, 1, 1]
    # The instance exists already.
    assert len(stages([zebra, instance("red", "sid vpn per-vrf export 100")])) == 3


def test_sids_of_families_come_before_the_rest_of_them() -> None:
    whole = [
        instance("red", "bgp router-id 1.1.1.1"),
        instance("red", "no sid vpn export 4", "address-family ipv4 unicast"),
        instance("red", "sid vpn export 4", "address-family ipv4 unicast"),
        instance("red", "export vpn", "address-family ipv4 unicast"),
        instance("red", "sid vpn export 6", "address-family ipv6 unicast"),
    ]
    _, _, red, last = stages(whole)
    assert [s.line for s in red][:2] == ["no sid vpn export 4", "sid vpn export 4"]
    assert asked(red) == [Asked("red", 4), Asked("red", 6)]
    assert [s.line for s in last] == ["export vpn"]


LOCATOR = "  prefix: fcbb:0:1::/48\n  block-length: 32\n  node-length: 16\n  func-length: 16\n"


class Daemons:
    """zebra and bgpd, with the SIDs ``held``; ``after`` so many looks one more is."""

    def __init__(self, locator: str = LOCATOR, devices: tuple[str, ...] = ()) -> None:
        self.held: set[str] = set()
        self.late: dict[str, int] = {}
        self.locator = locator
        self.devices = devices
        self.queued = [0]
        self.away = False
        self.seen: list[str] = []

    def show(self, daemon: str, command: str) -> str:
        self.seen.append(command)
        if self.away:
            raise VtyError(errno.ECONNREFUSED, "away")
        if command == "show bgp segment-routing srv6":
            return self.locator
        if command == "show bgp vrfs json":
            return json.dumps({"vrfs": {d: {"vrfId": 7} for d in self.devices}})
        if command == "show zebra client":
            queued = self.queued.pop() if len(self.queued) > 1 else self.queued[0]
            return f"Client: bgp\nInput Fifo: 0:9 Output Fifo: {queued}:9\n"
        if command == "show version":
            return "FRRouting"
        sid = command.split()[3]
        self.late[sid] = self.late.get(sid, 0) - 1
        if sid in self.held and self.late[sid] < 0:
            return '{"seg6local":{}}'
        raise VtyError(errno.EOPNOTSUPP, "zebra refused it: {}")


def looks(daemons: Daemons, sid: str) -> int:
    return daemons.seen.count(f"show ipv6 route {sid}/128 json")


def test_a_sid_is_waited_for() -> None:
    daemons = Daemons(devices=("red",))
    daemons.held, daemons.late = {"fcbb:0:1:64::/128"}, {"fcbb:0:1:64::/128": 3}
    Arrivals(daemons).wait(steps("red"))
    assert looks(daemons, "fcbb:0:1:64::") == 4


def test_what_else_zebra_has_to_say_is_waited_for() -> None:
    daemons = Daemons()
    daemons.held, daemons.queued = {"fcbb:0:1:64::/128"}, [0, 3, 12]
    Arrivals(daemons).wait(steps("red"))
    assert daemons.seen.count("show zebra client") == 3
    assert daemons.seen[-1] == "show version"


def test_what_zebra_says_to_a_new_instance_is_waited_for() -> None:
    daemons = Daemons()
    daemons.queued = [0, 12]
    Arrivals(daemons).wait([instance("red", "bgp router-id 1.1.1.1")])
    assert daemons.seen == ["show zebra client", "show zebra client", "show version"]


def test_a_vrf_without_a_device_is_left_and_the_next_waited_for() -> None:
    daemons = Daemons(devices=("blue",))
    arrivals = Arrivals(daemons)
    arrivals.wait(steps("red"))
    daemons.held = {"fcbb:0:1:64::/128"}
    before = looks(daemons, "fcbb:0:1:64::")
    arrivals.wait(steps("blue"))
    assert looks(daemons, "fcbb:0:1:64::") == before + 1


@pytest.mark.parametrize("locator", ["", LOCATOR])
def test_where_no_sid_can_come_none_is_waited_for(
    locator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srv6mgrd.frr.sids_first._DEADLINE", 0.5)
    daemons = Daemons(locator, devices=("red",))
    arrivals = Arrivals(daemons)
    arrivals.wait(steps("red"))
    seen = len(daemons.seen)
    arrivals.wait(steps("blue"))
    assert len(daemons.seen) == seen


def test_daemons_that_are_away_are_not_waited_for() -> None:
    daemons = Daemons()
    daemons.away = True
    arrivals = Arrivals(daemons)
    arrivals.wait(steps("red"))
    arrivals.wait(steps("blue"))
    assert len(daemons.seen) == 1
