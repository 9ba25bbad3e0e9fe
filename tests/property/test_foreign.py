"""Ten thousand objects of others, through commits, deaths, drift and repairs: none is changed."""

import contextlib
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior, Headend
from srv6mgrd.model.rejection import RejectedError
from tests.builders import net
from tests.fakes.kernel import Crash
from tests.property.strategies import TABLES, desireds
from tests.property.world import World

COUNT, VRFS = 10_000, 50


def foreign(dice):
    """One object that nothing declared needs the place of."""
    prefix = net(f"fcbb:0:{dice.choice('129')}:{dice.randrange(0x100, 0xFFFF):x}::/64")
    address, metric = prefix[dice.randrange(1, 1000)], dice.randrange(1, 4000)
    table = dice.choice([254, 77, *TABLES])
    key = f"route6 table 8986 {prefix}"
    return dice.choice(
        [
            lambda: SidRoute(prefix, Behavior.END, 8986, device="eth9"),
            lambda: UnknownRoute(f"{key} metric {metric}", 6, 8986, prefix, metric, "dev eth9"),
            lambda: Rule(metric, prefix, table),
            lambda: UnknownRule(f"rule {metric} to {prefix} from", metric, prefix, "from", prefix),
            lambda: EncapRoute(prefix, table, Headend.H_ENCAPS, (address,), "eth9", metric),
            lambda: NextHopRoute(address, "eth9", address, table, metric),
            lambda: UnreachableDefault(dice.choice([4, 6]), dice.randrange(50_000, 60_000)),
            lambda: UnreachableSid(prefix, dice.randrange(50_000, 60_000)),
        ]
    )()


def populated(seed):
    dice, world = random.Random(seed), World()
    for i in range(VRFS):
        world.add_foreign(VrfDevice(f"theirs{i}", 10_000 + i, 20_000 + i))
    world.add_foreign(VrfPort("eth9", "theirs7"))
    while len(world.foreign) < COUNT:
        obj = foreign(dice)
        if obj.key not in world.foreign:
            world.add_foreign(obj)
    return dice, world


@settings(max_examples=max(1, settings().max_examples // 40))
@given(st.integers(0, 2**32), st.lists(desireds(), min_size=2, max_size=3))
def test_none_of_them_is_changed(seed, states):
    dice, world = populated(seed)
    for state in states:
        world.fate.begin(**dice.choice([{"death": dice.randrange(1, 60)}, {"rejection": 3}, {}]))
        try:
            world.reconciler.commit(state)
        except Crash:
            world.start()
        except RejectedError:
            pass
        world.fate.begin()
        ours = [key for key in world.kernel.objects if key not in world.foreign]
        for key in dice.sample(ours, len(ours) // 2):
            with contextlib.suppress(KeyError):
                world.kernel.remove(key)
        world.reconciler.repair(state)
        world.check(state)
        writes = world.writes
        world.start()
        world.reconciler.repair(state)
        assert world.writes == writes
