"""FRR away, back, restarted; the operator's lines."""

from dataclasses import replace

import pytest

from srv6mgrd.apply.outcomes import FRR_ABSENT
from srv6mgrd.model.outcomes import Outcome
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus
from tests.builders import vpn
from tests.unit.reconciler.world import (
    BGP_RED,
    DT46,
    INSTALLED,
    NOTHING,
    RED_BGP,
    VPN,
    rejection,
    without_sysctls,
)


def test_without_frr_the_kernel_is_served_and_exports_wait(world):
    world.frr.unreachable = "bgpd.vty: no such file"

    report = world.commit(VPN)

    assert report.outcomes[RED_BGP] == Outcome(InstallStatus.PENDING, FRR_ABSENT)
    assert report.outcomes[DT46] == INSTALLED
    assert world.stands(VPN, blocks=[])


def test_when_frr_comes_back_it_gets_its_part(world):
    world.frr.unreachable = "bgpd.vty: no such file"
    world.commit(VPN)
    world.frr.unreachable = ""

    report = world.repair()

    assert world.stands(VPN)
    assert report.outcomes[RED_BGP] == INSTALLED
    assert RED_BGP in report.touched


def test_a_restarted_frr_is_written_again(world):
    world.commit(VPN)
    world.frr.restart()

    world.repair()

    assert world.stands(VPN)


def test_while_frr_is_away_its_part_stays_ours(world):
    world.commit(VPN)
    world.frr.unreachable = "bgpd.vty: no such file"
    world.commit(NOTHING)
    world.frr.unreachable = ""

    world.repair()

    assert world.frr.contexts == {}


def test_frr_that_goes_away_in_the_middle_rejects_the_commit(world):
    there = world.state()
    world.frr.reject = {"": "zebra is not running"}

    assert "zebra is not running" in rejection(world, VPN)
    assert without_sysctls(world.state()) == without_sysctls(there)


def test_the_operators_lines_in_our_contexts_stay(world):
    world.frr.operator("bgpd", ("router bgp 65000",), "bgp bestpath as-path ignore")
    world.frr.operator("bgpd", BGP_RED, "network 10.9.0.0/16")
    world.frr.operator("zebra", ("interface eth0",), "description uplink")
    theirs = dict(world.frr.contexts)

    world.commit(VPN)
    world.commit(replace(VPN, vrfs={"red": replace(VPN.vrfs["red"], bgp=vpn("65000:11"))}))
    world.commit(NOTHING)

    assert world.frr.contexts == theirs


def test_a_line_of_ours_that_the_operator_removed_comes_back(world):
    world.commit(VPN)
    key = f"frr bgpd {' / '.join(BGP_RED)}"
    block = world.frr.contexts[key]
    world.frr.contexts[key] = replace(block, lines=block.lines[1:])

    world.repair()

    assert set(world.frr.contexts[key].lines) == set(block.lines)


def test_a_line_that_the_operator_wrote_too_stays_his(world):
    world.frr.operator("bgpd", ("router bgp 65000",), "bgp router-id 10.0.0.1")
    theirs = dict(world.frr.contexts)

    world.commit(VPN)
    world.commit(NOTHING)

    assert world.frr.contexts == theirs


def test_the_operators_line_stays_his_after_a_rejected_commit_that_wanted_it_too(world):
    key = "frr bgpd router bgp 65000"
    world.frr.operator("bgpd", ("router bgp 65000",), "bgp router-id 10.0.0.1")
    world.frr.reject = {"rd vpn export": "Malformed rd"}
    with pytest.raises(RejectedError):
        world.commit(VPN)

    world.commit(NOTHING)

    assert world.frr.contexts[key].lines == ("bgp router-id 10.0.0.1",)
