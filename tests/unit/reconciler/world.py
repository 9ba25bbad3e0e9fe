"""A reconciler on a kernel and an FRR in memory."""

import pytest

from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.frr.render import render
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model.outcomes import Outcome
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef
from srv6mgrd.plan.target import target
from tests.builders import desired, small_vpn
from tests.fakes.frr import FakeFrr
from tests.fakes.kernel import FakeKernel

INSTALLED = Outcome(InstallStatus.INSTALLED)
MAIN = ObjectRef(Kind.LOCATOR, "MAIN")
RED, BLUE = ObjectRef(Kind.VRF, "red"), ObjectRef(Kind.VRF, "blue")
RED_BGP = ObjectRef(Kind.VRF_BGP, "red")
DT46 = ObjectRef(Kind.SID, "fcbb:0:1:64::/64")
END = ObjectRef(Kind.SID, "fcbb:0:1:1::/64")
END_KEY = "route6 table 8986 fcbb:0:1:1::/64"
NOTHING = desired()
VPN = small_vpn("eth1")
BGP_RED = ("router bgp 65000 vrf red", "address-family ipv4 unicast")


class World:
    def __init__(self, kernel=None):
        self.kernel = kernel or FakeKernel({"eth1": 2, "eth2": 3})
        self.frr = FakeFrr()
        self.journal = Journal(None)
        self.restart()

    def restart(self):
        """The process starts again; kernel, FRR and journal are still there."""
        self.reconciler = Reconciler(self.kernel, self.frr, self.journal, render)

    def commit(self, state):
        return self.reconciler.commit(state)

    def repair(self, state=None):
        return self.reconciler.repair(state)

    @property
    def writes(self):
        return self.kernel.writes + self.frr.writes

    def state(self):
        return (
            dict(self.kernel.objects),
            dict(self.kernel.sysctls),
            dict(self.frr.contexts),
            dict(self.journal.checkpoint()),
        )

    def stands(self, state, blocks=None):
        """Whether exactly this is in the kernel and in FRR, beside what is foreign."""
        t = target(state, self.kernel.interfaces, render(state) if blocks is None else blocks)
        t = t.objects
        kernel = {
            key: seen.object
            for key, seen in self.kernel.objects.items()
            if seen.ours or key in self.journal
        }
        return (
            kernel
            == {k: o for k, o in t.items() if not isinstance(o, (FrrBlock, Sysctl, L3mdevRule))}
            and self.kernel.l3mdev_rules
            >= {o.family for o in t.values() if isinstance(o, L3mdevRule)}
            and self.frr.contexts == {k: o for k, o in t.items() if isinstance(o, FrrBlock)}
            and all(
                self.kernel.sysctls.get(o.path) == o.value
                for o in t.values()
                if isinstance(o, Sysctl)
            )
        )


def without_sysctls(state):
    """Those are never set back."""
    kernel, _, frr, journal = state
    return (
        kernel,
        frr,
        {k: v for k, v in journal.items() if not k.startswith(("sysctl", "l3mdev rule"))},
    )


def rejection(world, state):
    with pytest.raises(RejectedError) as caught:
        world.commit(state)
    return str(caught.value)


def new_objects(before, after):
    interfaces = {"eth1": 2, "eth2": 3}
    there = target(before, interfaces).objects.values()
    return [o for o in target(after, interfaces).objects.values() if o not in there]
