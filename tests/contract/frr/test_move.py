"""A VRF's SID moves to another locator while packets go to it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv6Network

import pytest

from lab.guest.nodes import Node
from lab.waiting import wait_until
from srv6mgrd.frr.blocks import BGPD, ISISD
from srv6mgrd.frr.limits import limits
from srv6mgrd.frr.render import export_locator
from srv6mgrd.frr.status import vrf_status
from srv6mgrd.model.desired import Desired, Locator
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_isis import speaking
from tests.contract.frr.test_vpn import Pes, advertised, arrive, push, up

pytestmark = pytest.mark.contract

SIDS = ("fcbb:0:1:64::", "fcbb:0:11:64::")
NEW = Locator("NEW", IPv6Network("fcbb:0:11::/48"))


@pytest.fixture
def reachable(pes: Pes) -> Iterator[Pes]:
    """The other routers have routes to both locators."""
    hops = {"p": "2001:db8:1::1", "pe2": "2001:db8:2::2"}
    for name, hop in hops.items():
        Node(name).run(["ip", "-6", "route", "add", str(NEW.prefix), "via", hop])
    yield pes
    for name in hops:
        Node(name).run(["ip", "-6", "route", "del", str(NEW.prefix)])


def moved(state: Desired) -> Desired:
    """Exports from NEW, which is declared beside MAIN."""
    vrfs, sids = dict(state.vrfs), dict(state.sids)
    for sid in state.sids.values():
        assert sid.vrf is not None
        vrf = vrfs[sid.vrf]
        assert vrf.bgp is not None
        low = int(sid.prefix.network_address) & ((1 << 80) - 1)
        prefix = IPv6Network((int(NEW.prefix.network_address) | low, 64))
        vrfs[sid.vrf] = replace(vrf, bgp=replace(vrf.bgp, export_sid=prefix))
        sids[prefix] = replace(sid, prefix=prefix, locator=NEW.name)
    return replace(state, vrfs=vrfs, sids=sids, locators={**state.locators, NEW.name: NEW})


def exporting(state: Desired) -> Desired:
    """The state without the SIDs that no VRF exports."""
    sids = {p: s for p, s in state.sids.items() if s.locator == export_locator_name(state)}
    return replace(state, sids=sids)


def export_locator_name(state: Desired) -> str:
    locator = export_locator(state)
    assert locator is not None
    return locator.name


class Flow:
    """Echo requests from a node, until the end of the ``with``."""

    def __init__(self, node: str, address: str) -> None:
        argv = [sys.executable, "-m", "tests.robot.library.flow", address, "0.005"]
        self._child = Node(node).popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Flow:
        assert self._child.stdout is not None
        assert self._child.stdout.readline() == "flowing\n"
        return self

    def end(self) -> dict[str, float]:
        reported = self._child.communicate(timeout=60)[0]
        found: dict[str, float] = json.loads(reported)
        return found

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.wait()


@pytest.fixture
def both_sids(reachable: Pes) -> Iterator[Pes]:
    """Both SIDs of red are at PE 1, as srv6mgr keeps them: zebra's go with its locator."""
    one = reachable[0]
    for sid in SIDS:
        one.ip("-6", "route", "add", sid, "metric", "1", "encap", "seg6local", "action", "End.DT46",
               "vrftable", "10", "dev", "red")  # fmt: skip
    yield reachable
    for sid in SIDS:
        one.ip("-6", "route", "del", sid, "metric", "1")


def test_no_packet_is_lost(both_sids: Pes) -> None:
    pes = both_sids
    one, two = pes
    push(pes, "red", "blue")
    up(pes, "red", "blue")
    arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:64::")
    arrive(one, "-4", 10, "10.2.0.0/24", "fcbb:0:2:64::")
    before = declaration(1, "red", "blue")
    after = moved(before)
    with Flow("ce-red2", "10.1.0.10") as flow:
        for state, sid in ((after, "fcbb:0:11:64::"), (before, "fcbb:0:1:64::")):
            assert one.push(state) == []
            arrive(two, "-4", 10, "10.1.0.0/24", sid)
            advertised(one, exporting(state))
        tally = flow.end()
    assert tally["sent"] > 100
    assert tally["lost"] == 0, tally
    assert "advertisement-interval" not in one.frr.show(BGPD, "show running-config")


@pytest.fixture
def with_isisd(both_sids: Pes) -> Iterator[Pes]:
    """isisd at PE 1; the other routers have their routes already."""
    one = both_sids[0]
    one.start(ISISD)
    wait_until(lambda: one.frr.observe() is not None, "isisd")
    yield both_sids
    one.stop(ISISD)
    one.node.run(["ip", "-6", "route", "flush", "proto", "isis"], check=False)


def reported(pe: Pe, state: Desired) -> str:
    return vrf_status(state, pe.frr)["red"][1]


def message(state: Desired) -> str:
    if state.isis is None or state.isis.locator == NEW.name:
        return ""
    return "IS-IS advertises locator MAIN; other routers need a route to NEW"


def test_no_packet_is_lost_while_isis_names_the_old_locator(with_isisd: Pes) -> None:
    pes = with_isisd
    one, two = pes
    push(pes, "red")
    before = replace(declaration(1, "red"), isis=speaking(1, "to-p"))
    assert limits(before) == []
    assert one.push(before) == []
    up(pes, "red")
    arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:1:64::")
    arrive(one, "-4", 10, "10.2.0.0/24", "fcbb:0:2:64::")
    beside = moved(before)
    after = replace(
        exporting(beside),
        locators={NEW.name: NEW},
        isis=replace(speaking(1, "to-p"), locator=NEW.name),
    )
    with Flow("ce-red2", "10.1.0.10") as flow:
        for state in (beside, after):
            assert limits(state) == []
            assert one.push(state) == []
            arrive(two, "-4", 10, "10.1.0.0/24", "fcbb:0:11:64::")
            wait_until(lambda state=state: reported(one, state) == message(state), "status", 40)
            assert one.plan(state) == []
        tally = flow.end()
    assert tally["sent"] > 100
    assert tally["lost"] == 0, tally
