"""The cost of sampling, and what of it is made again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from gnmi_pb import gnmi_pb2 as pb
from grpc import StatusCode

from srv6mgrd.gnmi import encode, mirror, wire
from srv6mgrd.gnmi.budget import Budget
from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.outbox import Form
from srv6mgrd.gnmi.path import Path, parse
from srv6mgrd.gnmi.rendering import Rendering, moment
from srv6mgrd.gnmi.sampling import PER_LEAF, PER_PACKED_LEAF, SampleLoad, shortest
from srv6mgrd.gnmi.subscribe import leaves
from srv6mgrd.gnmi.turns import resting
from srv6mgrd.gnmi.view import Model, Snapshot
from srv6mgrd.gnmi.watch import SampleLimits, Watch, watches
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.unit.gnmi.models import SRV6, schema

MODEL = Model(schema())
FASTEST = 0.1


def test_what_costs_little_is_sampled_as_often_as_it_may_be() -> None:
    load = SampleLoad()
    for asked in (0, 0.1, 5):
        with load.admitted("/srv6", asked, 0.001, FASTEST) as grant:
            assert load.interval(grant, 0.001, FASTEST) == (asked or FASTEST)


def test_an_interval_that_cannot_be_served_is_rejected() -> None:
    """gnmi-specification.md 3.5.1.5.2."""
    load = SampleLoad()
    cost = 60_000 * PER_LEAF
    with (
        pytest.raises(RpcError, match=r"sample_interval 1 s is too short .* 7\.2 s is") as e,
        load.admitted("/srv6", 1, cost, FASTEST),
    ):
        pass
    assert e.value.code is StatusCode.INVALID_ARGUMENT
    with load.admitted("/srv6", 0, cost, FASTEST) as grant:
        assert load.interval(grant, cost, FASTEST) == 36


def test_a_hundred_thousand_sids_are_sampled_each_second() -> None:
    """docs/performance.md"""
    with SampleLoad().admitted("/srv6", 1, 4 * 100_000 * PER_PACKED_LEAF, FASTEST):
        pass
    # And 1,000 SIDs by 200 subscribers.
    load = SampleLoad()
    with contextlib.ExitStack() as held:
        for _ in range(200):
            cost = 3 * 1000 * PER_PACKED_LEAF
            held.enter_context(load.admitted("/srv6", 1, cost, FASTEST))


def test_ten_times_the_leaves_are_sampled_a_tenth_as_often() -> None:
    assert shortest(10 * 1.0, FASTEST) == 10 * shortest(1.0, FASTEST)


def test_all_subscribers_together_have_a_share() -> None:
    load = SampleLoad()
    grants = [load.admitted("/srv6", 1, 0.1, FASTEST) for _ in range(6)]
    for grant in grants[:5]:
        grant.__enter__()
    with pytest.raises(RpcError, match="more than 50% of a core") as e:
        grants[5].__enter__()
    assert e.value.code is StatusCode.RESOURCE_EXHAUSTED
    grants[0].__exit__(None, None, None)
    with load.admitted("/srv6", 1, 0.1, FASTEST):
        pass


def test_who_leaves_the_interval_to_us_share_alike() -> None:
    load = SampleLoad()
    with load.admitted("a", 0, 0.1, FASTEST) as one:
        assert load.interval(one, 0.1, FASTEST) == 2
        others = [load.admitted(str(n), 0, 0.1, FASTEST) for n in range(9)]
        for other in others:
            other.__enter__()
        assert load.interval(one, 0.1, FASTEST) == 10


def test_more_to_read_than_there_was_takes_longer() -> None:
    load = SampleLoad()
    with load.admitted("/srv6", 1, 0.01, FASTEST) as grant:
        assert load.interval(grant, 1.0, FASTEST) == 4
        assert load.interval(grant, 0.01, FASTEST) == 1


def router(sids: int) -> Snapshot:
    prefixes = [f"fcbb:0:1:{n:x}::/64" for n in range(1, sids + 1)]
    data = {"local-sids": {"sid": [{"prefix": p, "locator": "main"} for p in prefixes]}}
    return Snapshot(
        MODEL,
        mirror.tree(MODEL.root, {f"{SRV6}:srv6": data}),
        {ObjectRef(Kind.SID, p): ObjectStatus(InstallStatus.INSTALLED) for p in prefixes},
        {p: SidCounters(1, 2, 3, 4) for p in prefixes},
        5,
    )


def watched(path: str, **more: Any) -> list[Watch]:
    item = pb.Subscription(path=wire.path(parse(path)), mode=pb.SAMPLE, **more)
    asked = pb.SubscriptionList(subscription=[item])
    return watches(MODEL, asked, frozenset({SRV6}), SampleLimits())


def test_counters_of_all_sids_come_from_the_store_whatever_is_named_beside() -> None:
    for path in ("/", "/srv6/local-sids/sid", "/srv6/local-sids/sid/state"):
        rest, packed = watched(path)
        assert packed.only_packed
        assert {leaf.name for leaf in packed.packed} > {"in-pkts"}
        found = leaves(router(2), [rest])
        assert found
        assert not any(at[-1].node in packed.packed for at in found)
        assert packed.flexible


def test_leaves_are_made_anew_only_when_they_may_have_changed() -> None:
    rest, _ = watched("/srv6/local-sids/sid")
    snapshot, form = router(3), Form(wire.JSON_IETF, Path())
    made = Rendering(moment(rest, snapshot), leaves(snapshot, [rest]), form)
    first = [wire_of(m) for m in made.responses(snapshot, None, 0)]
    assert len(first[0].update) == len(leaves(snapshot, [rest]))

    others = {**snapshot.config, f"{SRV6}:srv6": {**snapshot.config[f"{SRV6}:srv6"], "vrfs": {}}}
    for same in (replace(snapshot, counters={}), replace(snapshot, config=others)):
        assert made.is_of(moment(rest, same))
    for other in (replace(snapshot, status={}), router(3)):
        assert not made.is_of(moment(rest, other))
    # Only what differs, when that is asked for; all of it else.
    assert not list(made.responses(snapshot, made, 0))
    (again,) = (wire_of(m) for m in made.responses(snapshot, None, 2))
    assert {u.duplicates for u in again.update} == {2}
    assert made.cost(again=True) < made.cost(again=False) / 10


@pytest.mark.parametrize("what", ["first", "changed", "ietf", "plain"])
def test_long_work_rests_between(what: str) -> None:
    """Who encodes for long lets others compute meanwhile."""
    (rest, _), snapshot = watched("/srv6/local-sids/sid"), router(1000)
    found, of = leaves(snapshot, [rest]), moment(rest, snapshot)
    form, config = Form(wire.JSON_IETF, Path()), snapshot.config
    made = Rendering(of, found, form)
    none = Rendering(of, {}, form)
    works: dict[str, Callable[[], object]] = {
        "first": lambda: Rendering(of, found, form),
        "changed": lambda: list(made.responses(snapshot, none, 0)),
        "ietf": lambda: encode.dumps(encode.json_ietf(MODEL.root, config)),
        "plain": lambda: encode.dumps(encode.json_plain(MODEL.root, config)),
    }
    rests: list[float] = []
    with resting(lambda: rests.append(1)):
        works[what]()
    assert len(rests) >= 1000 // 200


def test_the_work_of_reading_is_linear_in_what_is_read() -> None:
    def work(sids: int) -> int:
        budget = Budget()
        before = budget.steps
        leaves(replace(router(sids), budget=budget), watched("/srv6/local-sids")[:1])
        return before - budget.steps

    assert work(200) < 10 * work(20)
    assert work(200) > 9 * work(20)


def wire_of(message: bytes) -> Any:
    return pb.SubscribeResponse.FromString(message).update
