"""Foreign objects in front of ours."""

from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.outcomes import Outcome
from srv6mgrd.model.status import InstallStatus
from tests.builders import net
from tests.unit.reconciler.world import (
    DT46,
    END,
    INSTALLED,
    MAIN,
    VPN,
)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (
            SidRoute(net("fcbb:0:1:1::/64"), Behavior.END, 8986, metric=1, device="eth2"),
            "route fcbb:0:1:1::/64 metric 1: End",
        ),
        (
            UnknownRoute("x", 6, 8986, net("fcbb:0:1:1:7::/80"), 1024, "not seg6local, dev lo"),
            "route fcbb:0:1:1:7::/80 metric 1024: not seg6local, dev lo",
        ),
    ],
)
def test_what_stands_in_front_is_said_and_not_removed(world, other, what):
    world.commit(VPN)
    if isinstance(other, SidRoute):
        other = UnknownRoute("x", 6, 8986, other.prefix, other.metric, f"{other.action}")
    world.kernel.add_foreign(other)
    writes = world.writes

    report = world.repair()

    assert report.outcomes[END] == Outcome(
        InstallStatus.DRIFTED,
        "SID fcbb:0:1:1::/64: something that srv6mgr did not make takes packets of it"
        f" ({what}); remove it",
    )
    assert report.outcomes[DT46] == INSTALLED
    assert world.writes == writes
    world.kernel.remove(other.key)
    assert world.repair().outcomes[END] == INSTALLED


LOOKUP = Rule(100, net("fcbb:0:1::/48"), 77)
PART = Rule(1999, net("fcbb:0:1:1::/64"), 254, IPv6Address("fcbb:0:9::9"))
DROP = UnknownRule(
    "rule 100 to ::/0", 100, net("::/0"), "blackhole, from fc00::/8", net("fc00::/8")
)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (LOOKUP, "rule 100 to fcbb:0:1::/48: table 77"),
        (PART, "rule 1999 to fcbb:0:1:1::/64: table 254"),
        (DROP, "rule 100 to ::/0: blackhole, from fc00::/8"),
    ],
)
def test_a_rule_in_front_is_said_and_not_removed(world, other, what):
    world.commit(VPN)
    world.kernel.add_foreign(other)
    writes = world.writes

    report = world.repair()

    assert report.outcomes[MAIN] == Outcome(
        InstallStatus.DRIFTED,
        "rule 2000 that looks up fcbb:0:1::/48 in table 8986: something that srv6mgr did not make"
        f" takes packets of it ({what}); remove it",
    )
    assert world.writes == writes
    world.kernel.remove(other.key)
    assert world.repair().outcomes[MAIN] == INSTALLED


@pytest.mark.parametrize(
    "other",
    [
        replace(LOOKUP, priority=2001),
        replace(LOOKUP, priority=2000, to=net("fcbb:0::/47")),
        replace(LOOKUP, priority=991, to=net("fcbb:0:2::/48")),
        replace(LOOKUP, priority=991, table=8986, source=IPv6Address("fcbb:0:9::9")),
    ],
    ids=["behind", "younger, same priority", "of another destination", "into the same table"],
)
def test_a_rule_that_takes_nothing_is_none_in_front(world, other):
    world.commit(VPN)
    world.kernel.add_foreign(other)

    assert world.repair().outcomes[MAIN] == INSTALLED


def test_an_older_rule_of_the_same_priority_is_in_front(world):
    world.kernel.add_foreign(replace(LOOKUP, priority=2000, to=net("fcbb:0::/47")))

    assert world.commit(VPN).outcomes[MAIN].status is InstallStatus.DRIFTED
