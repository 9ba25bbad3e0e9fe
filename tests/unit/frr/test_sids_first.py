"""SIDs are asked for before their VRFs export, a few at a time."""

import pytest

from srv6mgrd.frr.blocks import BGPD, ZEBRA
from srv6mgrd.frr.script import Step
from srv6mgrd.frr.sids_first import asked, stages
from srv6mgrd.frr.status import has_sid


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
    before, red, blue, last = stages(whole)
    assert before == []
    for stage, name in ((red, "red"), (blue, "blue")):
        assert [s.line for s in stage] == ["bgp router-id 1.1.1.1", "sid vpn per-vrf export 100"]
        assert asked(stage) == {name}
    assert [s.line for s in last] == ["export vpn"] * 2
    assert asked(last) == frozenset()


def test_what_asks_for_no_sid_goes_as_it_is() -> None:
    zebra = Step(ZEBRA, ("segment-routing", "srv6", "encapsulation"), "source-address ::1", None)
    other = instance("blue", "import vpn", "address-family ipv4 unicast")
    assert stages([zebra, other]) == [[zebra, other]]
    before, sids, last = stages([zebra, other, *steps("red")])
    assert before == [zebra, other]
    assert len(sids) == 2
    assert len(last) == 1


class Told:
    def __init__(self, text: str) -> None:
        self.text = text

    def show(self, daemon: str, command: str) -> str:
        return self.text


@pytest.mark.parametrize(
    ("vrf", "held"), [("red", True), ("blue", False), ("green", False), ("re", False)]
)
def test_a_sid_has_arrived(vrf: str, held: bool) -> None:
    told = Told(
        "bgps:\n- name: red\n  vpn_policy[AFI_IP].tovpn_sid: (null)\n"
        "  per-vrf tovpn_sid: fcbb:0:1:64::\n- name: blue\n  per-vrf tovpn_sid: (null)\n"
    )
    assert has_sid(told, vrf) is held
