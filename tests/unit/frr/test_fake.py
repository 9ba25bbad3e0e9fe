"""The stand-in keeps the contract that tests of others rely on."""

from srv6mgrd.frr.blocks import claim
from srv6mgrd.frr.render import render
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.ports import Frr
from tests.fakes.frr import FakeFrr
from tests.unit.frr.samples import PE1

BLOCKS = render(PE1)


def test_is_a_port_and_round_trips() -> None:
    frr: Frr = FakeFrr()
    assert frr.apply([Create(b) for b in BLOCKS]) == []
    observed = frr.observe()
    assert observed is not None
    assert claim(observed, BLOCKS, {}) == {b.key: b for b in BLOCKS}


def test_rejection_leaves_the_context_as_it_was() -> None:
    frr = FakeFrr(reject={"rd vpn export 65000:20": "Malformed rd"})
    rejected = frr.apply([Create(b) for b in BLOCKS])
    assert len(rejected) == 2
    assert "Malformed rd" in rejected[0].message
    assert rejected[0].action.object.key not in frr.contexts


def test_operators_lines_stay() -> None:
    frr = FakeFrr()
    speaker = BLOCKS[2]
    frr.operator("bgpd", speaker.context, "bgp bestpath as-path ignore")
    seen = claim(frr.contexts, [speaker], {})[speaker.key]
    frr.apply([Replace(seen, speaker)])
    assert len(frr.contexts[speaker.key].lines) == len(speaker.lines) + 1
    frr.apply([Delete(speaker)])
    assert frr.contexts[speaker.key].lines == ("bgp bestpath as-path ignore",)


def test_out_of_reach() -> None:
    frr = FakeFrr(unreachable="zebra is not running")
    assert frr.observe() is None
    assert frr.apply([Create(BLOCKS[0])])[0].message == "zebra is not running"
