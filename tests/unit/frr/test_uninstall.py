"""The script that takes our lines out of FRR."""

from srv6mgrd.apply.journal import Journal
from srv6mgrd.frr.uninstall import script
from srv6mgrd.kinds.frr_block.object import FrrBlock

VRF = FrrBlock("bgpd", ("router bgp 65000 vrf red",), ("bgp router-id 1.2.3.4",), order=30)
CORE = FrrBlock("bgpd", ("router bgp 65000",), ("neighbor 2001:db8::2 remote-as 65000",), order=10)
FOREIGN = FrrBlock(
    "bgpd", CORE.context, (*CORE.lines, "neighbor 2001:db8::9 remote-as 65009"), order=CORE.order
)


def journal(*blocks):
    made = Journal(None)
    made.intend(blocks)
    return made


def test_instances_of_ours_go_as_a_whole():
    running = {VRF.key: VRF}

    assert script(journal(VRF), running) == [
        "configure terminal",
        "no router bgp 65000 vrf red",
        "end",
    ]


def test_lines_of_others_stay():
    texts = script(journal(CORE), {FOREIGN.key: FOREIGN})

    assert "no neighbor 2001:db8::2 remote-as 65000" in texts
    assert not any("2001:db8::9" in text or text.startswith("no router") for text in texts)


def test_nothing_of_ours_gives_nothing():
    assert script(journal(), {FOREIGN.key: FOREIGN}) == []
