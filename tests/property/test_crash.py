"""The process dies after any number of actions; the next one ends at what is declared then."""

import contextlib
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior
from tests.builders import net
from tests.fakes.kernel import Crash
from tests.property.strategies import desireds
from tests.property.world import World

THEIR_SOURCE = EncapSource(net("fcbb:0:9::9/128").network_address)
FOREIGN = [
    Rule(500, net("fcbb:0:1::/48"), 254),
    SidRoute(net("fcbb:0:9:1::/64"), Behavior.END, 8986, device="eth9"),
    VrfDevice("theirs", 77, 50),
    VrfPort("eth9", "theirs"),
]
SPEAKER = FrrBlock("bgpd", ("router bgp 65000",), ())


def ready(old):
    """A router with this declared, where others are at work too."""
    world = World()
    for obj in FOREIGN:
        world.add_foreign(obj)
    if old.encapsulation_source is None:
        world.add_foreign(THEIR_SOURCE)
    world.operator_writes(SPEAKER, "the operator's own")
    world.reconciler.commit(old)
    return world


def crashed(start, new, moment):
    """The same router after its process died at that moment in the commit of ``new``; None when
    the commit was over before."""
    world = start.copy()
    world.fate.begin(death=moment)
    try:
        world.reconciler.commit(new)
    except Crash:
        return world
    return None


def restarted(world, state):
    """Checks that the next process, with this declared, ends there and writes nothing more."""
    if world.kernel.objects.get("encap-source") is not None and (
        world.kernel.objects["encap-source"].object != THEIR_SOURCE
    ):
        world.foreign.pop("encap-source", None)  # the commit took it
    if state.encapsulation_source is not None:
        world.foreign.pop("encap-source", None)
    world.start()

    world.reconciler.repair(state)

    world.check(state)
    writes = world.writes
    world.reconciler.repair(state)
    assert world.writes == writes


@settings(max_examples=max(1, settings().max_examples // 8))
@given(old=desireds(), new=desireds(), back=st.booleans())
def test_every_crash_point_is_survived(old, new, back):
    start = ready(old)
    for moment in itertools.count(1):
        world = crashed(start, new, moment)
        if world is None:
            break
        restarted(world, old if back else new)


@settings(max_examples=max(1, settings().max_examples // 3))
@given(old=desireds(), new=desireds(), data=st.data())
def test_a_crash_while_recovering_from_a_crash_is_survived(old, new, data):
    world = crashed(ready(old), new, data.draw(st.integers(1, 60)))
    if world is None:
        return
    world.start()
    world.fate.begin(death=data.draw(st.integers(1, 30)))
    with contextlib.suppress(Crash):
        world.reconciler.repair(old)
    world.fate.begin()

    restarted(world, new)
