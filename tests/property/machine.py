"""A machine that commits, repairs, restarts, and does what others may do, in any order: whatever
is declared, whatever others do, whatever is rejected, it ends as declared."""

import pytest
from hypothesis import assume, note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.rule.kernel import further
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.rejection import RejectedError
from tests.builders import desired, net
from tests.property.strategies import (
    FUNCTIONS,
    LOCATORS,
    TABLES,
    VRFS,
    desireds,
    sid_prefix,
)
from tests.property.world import World

OTHER_SOURCE = EncapSource(net("fcbb:0:9::9/128").network_address)

# Beside ours: nothing that is declared needs their place.
BESIDE = [
    Rule(500, net("fcbb:0:1::/48"), 254),
    Rule(2000, net("fcbb:0:9::/48"), 8986),
    SidRoute(net("fcbb:0:9:1::/64"), Behavior.END, 8986, device="eth9"),
    VrfDevice("theirs", 77, 50),
]
# In the way of what may be declared.
IN_THE_WAY = [
    *(VrfDevice(name, 78 + i, 60 + i) for i, name in enumerate(VRFS)),
    *(VrfDevice(f"their{table}", table, 70 + table) for table in TABLES[:2]),
    *(Rule(2000, net(prefix), 254) for prefix in LOCATORS.values()),
    *(
        SidRoute(net(sid_prefix("A", function)), Behavior.END, 8986, device="eth9", metric=1)
        for function in FUNCTIONS
    ),
]
FRR_CONTEXTS = [
    FrrBlock("bgpd", ("router bgp 65000",), ()),
    FrrBlock("bgpd", ("router bgp 65000 vrf red",), ()),
    FrrBlock("bgpd", ("router bgp 65000 vrf red", "address-family ipv4 unicast"), ()),
    FrrBlock("zebra", ("segment-routing", "srv6", "encapsulation"), ()),
    FrrBlock("zebra", ("interface eth0",), ()),
]
# The last one is a line that we may want too.
FRR_LINES = ["the operator's own", "bgp router-id 10.0.0.1"]


class Router(RuleBasedStateMachine):
    """On the stand-in for the kernel, unless ``world_of`` makes another world."""

    world_of = World

    def __init__(self):
        super().__init__()
        self.world = self.world_of()
        self.desired = desired()
        self.disturbed = False

    # Commits.

    @rule(state=desireds())
    def commit(self, state):
        before, writes = self.world.state(), self.world.writes
        try:
            self.world.reconciler.commit(state)
        except RejectedError as rejected:
            note(str(rejected))
            assert self.in_the_way(state)
            assert self.world.state() == before
            assert self.world.writes == writes
            return
        self.settled(state)

    @rule(state=desireds(), data=st.data())
    def commit_that_is_rejected(self, state, data):
        assume(not self.in_the_way(state))
        actions = self.world.reconciler.dry_run(state).actions
        standing = {ln for block in self.world.frr.contexts.values() for ln in block.lines}
        undo = [a.undo for a in actions]
        candidates = [a for a in actions if a not in undo and refusable(a, standing)]
        assume(candidates)
        bad = data.draw(st.sampled_from(candidates))
        if isinstance(bad.object, FrrBlock):
            line = next(ln for ln in bad.object.lines if ln not in standing)
            self.world.frr.reject = {line: "no"}
        else:
            self.world.kernel.reject(lambda action: action == bad)
        before = self.world.state()

        with pytest.raises(RejectedError):
            self.world.reconciler.commit(state)

        self.world.kernel.accept_all()
        self.world.frr.reject = {}
        assert self.world.reconciler.desired == self.desired
        if self.disturbed:
            # What needed what somebody took away may not come back at once.
            self.repair()
        else:
            assert self.world.state() == before

    @rule()
    def repair(self):
        self.world.reconciler.repair()
        self.settled(self.desired)

    @rule()
    def restart(self):
        self.world.start()
        writes = self.world.writes

        self.world.reconciler.repair(self.desired)

        assert self.disturbed or self.world.writes == writes
        self.settled(self.desired)

    # Others.

    @rule(obj=st.sampled_from(BESIDE + IN_THE_WAY))
    def somebody_adds(self, obj):
        assume(obj.key not in self.world.kernel.objects)
        assume(obj.key not in self.world.wanted(self.desired))
        if isinstance(obj, VrfDevice):
            assume(obj.table not in self.tables())
        self.world.add_foreign(obj)

    @rule(data=st.data())
    @precondition(lambda self: self.world.foreign)
    def somebody_removes_his_own(self, data):
        self.world.remove_foreign(data.draw(st.sampled_from(sorted(self.world.foreign))))

    @rule()
    @precondition(lambda self: "link theirs" in self.world.kernel.objects)
    def somebody_uses_his_vrf(self):
        self.world.add_foreign(VrfPort("eth9", "theirs"))

    @rule(interface=st.sampled_from(["eth1", "eth2"]))
    @precondition(lambda self: "link theirs" in self.world.kernel.objects)
    def somebody_takes_an_interface_that_is_not_ours(self, interface):
        port = VrfPort(interface, "theirs")
        assume(port.key not in {*self.world.kernel.objects, *self.world.journal.keys})
        assume(port.key not in self.world.wanted(self.desired))
        self.world.add_foreign(port)

    @rule()
    @precondition(lambda self: "encap-source" not in self.world.kernel.objects)
    def somebody_sets_the_source(self):
        assume(self.desired.encapsulation_source is None)
        self.world.add_foreign(OTHER_SOURCE)

    @rule(block=st.sampled_from(FRR_CONTEXTS), line=st.sampled_from(FRR_LINES))
    def the_operator_writes(self, block, line):
        there = self.world.frr.contexts.get(block.key)
        assume(there is None or line not in there.lines)
        assume(line not in self.world.journal.lines(block.key))
        self.world.operator_writes(block, line)

    # Drift.

    @rule(data=st.data())
    def somebody_removes_ours(self, data):
        key = data.draw(st.sampled_from(sorted(self.ours()) or [""]))
        assume(key)
        self.world.kernel.remove(key)
        self.disturbed = True

    @rule(data=st.data(), marked=st.booleans())
    def somebody_changes_ours(self, data, marked):
        key = data.draw(st.sampled_from(sorted(self.ours()) or [""]))
        made = changes(self.world.kernel.objects[key].object) if key else []
        self.changed(key, made, data, marked)

    def changed(self, key, made, data, marked):
        assume(made)
        obj = data.draw(st.sampled_from(made))
        self.world.kernel.put(obj, ours=marked)
        self.disturbed = True
        if not self.world.kernel.objects[key].ours:
            beside = further(obj, ()) if isinstance(obj, Rule) else None
            if beside is not None:
                # A rule without our mark is his, and stays beside ours until he takes it away.
                self.world.foreign[beside.key] = beside
            # Until then it is taken back; undeclared before, it would be his.
            self.repair()
            if beside is not None:
                self.world.remove_foreign(beside.key)

    @rule(data=st.data())
    def somebody_sets_a_sysctl(self, data):
        path = data.draw(st.sampled_from(sorted(self.world.kernel.sysctls)))
        self.world.kernel.put(Sysctl(path, "0"))
        self.disturbed = True

    @rule()
    def eth3_comes_or_goes(self):
        if "eth3" in self.world.kernel.interfaces:
            self.world.kernel.remove_interface("eth3")
        else:
            self.world.kernel.add_interface("eth3", 4)
        self.disturbed = True

    @rule()
    def frr_restarts(self):
        self.world.frr_restarts()
        self.disturbed = True

    # Words for the above.

    def settled(self, state):
        """All is as declared, and nothing is left to do."""
        if state.encapsulation_source is not None:
            self.world.foreign.pop("encap-source", None)
        self.desired, self.disturbed = state, False
        self.world.check(state)
        writes = self.world.writes
        self.world.reconciler.commit(state)
        assert self.world.writes == writes

    def in_the_way(self, state):
        wanted = self.world.wanted(state)
        tables = {o.table for o in wanted.values() if isinstance(o, VrfDevice)}
        return any(
            (o.key in wanted and not isinstance(o, EncapSource))
            or (isinstance(o, VrfDevice) and o.table in tables)
            for o in self.world.foreign.values()
        )

    def ours(self):
        return [key for key in self.world.kernel.objects if key not in self.world.foreign]

    def tables(self):
        found = [seen.object for seen in self.world.kernel.objects.values()]
        found += self.world.wanted(self.desired).values()
        return {o.table for o in found if isinstance(o, VrfDevice)}


def refusable(action, standing):
    """Whether the stand-in can reject this one action, and nothing that was there before."""
    block = action.object
    return not isinstance(block, FrrBlock) or any(ln not in standing for ln in block.lines)


def changes(obj):
    """What somebody could make of an object of ours."""
    match obj:
        case SidRoute():
            return [
                SidRoute(obj.prefix, Behavior.END, 8986, device="eth9"),
                SidRoute(obj.prefix, obj.action, 8986, obj.vrf_table, metric=1),
                SidRoute(obj.prefix, obj.action, 8986, obj.vrf_table, counters=False),
            ]
        case Rule():
            return [Rule(obj.priority, obj.to, 253, obj.source)]
        case VrfDevice():
            return [
                VrfDevice(obj.name, obj.table, obj.ifindex, up=False),
                VrfDevice(obj.name, obj.table, 90),
            ]
        case EncapSource():
            return [OTHER_SOURCE]
    return []
