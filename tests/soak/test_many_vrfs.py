"""Hundreds of VRFs in FRR: written, found as written, and removed, in an order by the seed."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from srv6mgrd.model.bgp import VrfBgp
from srv6mgrd.model.desired import Vrf
from tests.contract.frr.conftest import Pe, declaration, sid

pytestmark = pytest.mark.contract

BASE = declaration(1, "red", "blue")
COUNT = 200


def test_many_vrfs_come_and_go(pes: tuple[Pe, Pe], rng: random.Random) -> None:
    pe = pes[0]
    numbers = rng.sample(range(1000), COUNT)
    vrfs, sids = {}, {}
    for n in numbers:
        name, export = f"v{n}", sid(1, 1000 + n)
        rt = (f"65000:{1000 + n}",)
        vrfs[name] = Vrf(name, 1000 + n, bgp=VrfBgp(f"65000:{1000 + n}", rt, rt, export))
        sids[export] = replace(next(iter(BASE.sids.values())), prefix=export, vrf=name)
    many = replace(BASE, vrfs={**BASE.vrfs, **vrfs}, sids={**BASE.sids, **sids})
    assert pe.push(many) == []
    assert pe.plan(many) == []
    assert pe.push(BASE) == []
    assert pe.plan(BASE) == []
