"""The process dies after any number of actions; the next one ends at what is declared then."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.plan.objects import EncapSource, FrrBlock, Rule, SidRoute, VrfDevice, VrfPort
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


def crashed(start, new, *, kernel=None, frr=None):
    """The same router after its process died in the commit of ``new``; None when it survived."""
    world = start.copy()
    world.kernel.crash_after(kernel)
    world.frr.deaths_after = frr
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


@settings(max_examples=max(1, settings().max_examples // 3))
@given(old=desireds(), new=desireds(), back=st.booleans())
def test_every_crash_point_is_survived(old, new, back):
    start = ready(old)
    actions = start.reconciler.dry_run(new).actions
    in_frr = sum(isinstance(a.object, FrrBlock) for a in actions)
    points = [{"kernel": k} for k in range(len(actions) - in_frr)]
    points += [{"frr": k} for k in range(in_frr)]

    for point in points:
        world = crashed(start, new, **point)
        assert world is not None
        restarted(world, old if back else new)


@settings(max_examples=max(1, settings().max_examples // 3))
@given(old=desireds(), new=desireds(), data=st.data())
def test_a_crash_while_recovering_from_a_crash_is_survived(old, new, data):
    start = ready(old)
    count = len([a for a in start.reconciler.dry_run(new).actions if not frr(a)])
    world = crashed(start, new, kernel=data.draw(st.integers(0, max(0, count - 1))))
    if world is None:
        return
    world.start()
    world.kernel.crash_after(data.draw(st.integers(0, 10)))
    with contextlib.suppress(Crash):
        world.reconciler.repair(old)
    world.kernel.crash_after(None)

    restarted(world, new)


def frr(action):
    return isinstance(action.object, FrrBlock)
