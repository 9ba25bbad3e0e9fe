"""What is kept from one configuration to the next changes how long it takes, never what comes
of it."""

import dataclasses
from ipaddress import IPv6Address

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from srv6mgrd.counters import sonic
from srv6mgrd.model import domain
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Desired, Proxy, Sid
from srv6mgrd.model.outcomes import declared
from srv6mgrd.model.parse import parse
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus, ObjectStatus, SidCounters
from srv6mgrd.plan.target import target, with_sids
from srv6mgrd.redis.row_cache import NAME_ROW, OID_ROW, RowCache
from srv6mgrd.redis.rows import Changes, Projector, counters_key, project
from srv6mgrd.redis.schema import RowKey
from tests.builders import desired, locator, sid, vrf
from tests.property.strategies import INTERFACES, desireds

INDEXES = {name: n for n, name in enumerate(INTERFACES, 2)}


@st.composite
def neighbors(draw):
    """A state, and one with other SIDs beside all the same."""
    old = draw(desireds())
    kept = {p: s for p, s in old.sids.items() if draw(st.booleans())}
    for prefix, was in list(old.sids.items()):
        change = draw(st.sampled_from(["none", "counters", "End", "next hop"]))
        if prefix in kept and change != "none":
            kept[prefix] = _changed(was, change)
    exported = {v.bgp.export_sid for v in old.vrfs.values() if v.bgp is not None}
    assume(exported - {None} <= kept.keys())
    return old, dataclasses.replace(old, sids=kept)


def _changed(was, change):
    if change == "counters":
        return dataclasses.replace(was, counters=not was.counters)
    if change == "End":
        return Sid(was.prefix, was.locator, Behavior.END)
    interface = "eth1" if was.vrf is None else None
    hop = IPv6Address("2001:db8::1")
    return Sid(was.prefix, was.locator, Behavior.END_X, None, hop, interface)


@given(neighbors(), st.booleans(), st.booleans(), st.booleans())
def test_a_target_derived_from_the_last_one(pair, back, tables, in_bgp):
    old, new = reversed(pair) if back else pair
    offered = {"lookup_tables": tables, "bgp_lookup_tables": in_bgp}

    derived = with_sids(target(old, INDEXES, **offered), old, new)

    made = target(new, INDEXES, **offered)
    if derived is None:
        first = domain.is_guarded(old) != domain.is_guarded(new)
        assert first or any(s.interface for s in (*old.sids.values(), *new.sids.values()))
        return
    assert derived.objects == made.objects
    assert derived.pending == made.pending
    serves = [{k: set(t.refs(k)) for k in t.objects} for t in (derived, made)]
    assert serves[0] == serves[1]


def test_more_than_sids_makes_a_new_target():
    old = desired(locator(), sid("fcbb:0:1:1::/64"))
    new = desired(locator(), sid("fcbb:0:1:1::/64"), vrf("red", 10))

    assert with_sids(target(old, {}), old, new) is None


def rejections(state, passed=None):
    try:
        check(state, passed)
    except RejectedError as rejected:
        return sorted(map(str, rejected.rejections))
    return []


@given(neighbors(), st.sampled_from(["fcbb:0:1::/48", "fcbb:0:7::/48"]), st.booleans())
def test_checks_that_skip_what_passed_find_the_same(pair, prefix, reserved):
    old, new = pair
    assume(not rejections(old))
    outside = sid("fcbb:0:3:1::/64", locator=next(iter(new.locators)))
    new = dataclasses.replace(
        new,
        locators={
            n: dataclasses.replace(loc, function_length=32) if prefix == str(loc.prefix) else loc
            for n, loc in new.locators.items()
        },
        vrfs={**new.vrfs, "eth1": vrf("eth1", 99)} if reserved else new.vrfs,
        sids={**new.sids, outside.prefix: outside},
    )

    found = rejections(new, old)

    assert found == rejections(new)
    assert found


LEAVES = {
    "behavior": ["End", "End.X", "srv6mgr-types:End", "srv6mgr-types:End.DT6"],
    "locator": ["MAIN", "OTHER"],
    "vrf": ["red", "blue"],
    "next-hop": ["2001:db8::1", "10.0.0.1"],
    "interface": ["eth1", "eth2"],
    "segment-list": ["A", "B"],
    "bpf-program": ["/a", "/b"],
    "flavor": [["psp"], ["psp", "next-csid"]],
    "counters": [True, False],
    "srv6mgr-proxy:proxy": [{"inner-type": "ipv4", "interface": i} for i in ("a", "b")],
}
entries = st.fixed_dictionaries(
    {"prefix": st.sampled_from(["fcbb:0:1:1::/64", "fcbb:0:1:2::/64"])}
    | {name: st.sampled_from(LEAVES[name]) for name in ("behavior", "locator")},
    optional={n: st.sampled_from(v) for n, v in LEAVES.items() if n not in ("behavior", "locator")},
)
configs = st.lists(entries, unique_by=lambda e: e["prefix"], max_size=2).map(
    lambda sids: {"srv6mgr-srv6:srv6": {"local-sids": {"sid": sids}}}
)


@given(configs, configs)
def test_a_configuration_is_what_it_says_whatever_is_known(before, now):
    known = parse(before)

    found = parse(now, known)

    assert found == parse(now)
    again = parse(now, found)
    rare = [s for s in found.sids.values() if s.flavors or s.proxy]
    assert all(again.sids[p] is s for p, s in found.sids.items() if s not in rare)


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Sid) if f.name != "prefix"])
def test_any_leaf_of_a_sid_makes_another_one(field):
    """Known SIDs that differ in one field are not taken for the declared one."""
    other = {
        "locator": "OTHER",
        "behavior": Behavior.END_T,
        "next_hop": IPv6Address("2001:db8::9"),
        "flavors": frozenset({Flavor.PSP}),
        "counters": False,
        "proxy": Proxy("ipv4", "eth1", "eth1"),
    }
    now = {
        "srv6mgr-srv6:srv6": {
            "local-sids": {
                "sid": [{"prefix": "fcbb:0:1:1::/64", "locator": "MAIN", "behavior": "End"}]
            }
        }
    }
    ((prefix, made),) = parse(now).sids.items()
    known = dataclasses.replace(made, **{field: other.get(field, "something")})

    assert parse(now, Desired(sids={prefix: known})).sids == {prefix: made}


def take(held, changes):
    for key, value in changes.items():
        if value is None:
            del held[key]
        else:
            held[key] = value


@given(st.lists(neighbors(), min_size=1, max_size=3), st.data())
def test_rows_that_are_reported_make_up_those_that_would_be_made(pairs, data):
    projector, rows, counted = Projector(), {}, {}
    for state in (state for pair in pairs for state in pair):
        statuses = {
            ref: ObjectStatus(data.draw(st.sampled_from(InstallStatus))) for ref in declared(state)
        }
        changes, made = projector.project(state, statuses), project(state, statuses)
        take(rows, changes.rows)
        take(counted, changes.counted)
        assert (rows, counted) == (made.rows, made.counted)
        assert not changes.uncounted & set(counted.values())
        same = projector.project(state, statuses)
        assert same == Changes({}, {}, frozenset(), whole=False)


class Rows:
    """The rows in Redis."""

    def __init__(self):
        self.held = {}

    def bring_about(self, row_cache):
        for _, batch in row_cache.changes():
            for key, operation in batch:
                row = self.held.setdefault(key, {})
                match operation:
                    case ("put", _, _, words, gone):
                        row.update(zip(words[::2], words[1::2], strict=True))
                        for name in gone:
                            del row[name]
                    case ("cell", _, name, _, value) if value:
                        row[name] = value
                    case ("cell", _, name, _, _):
                        del row[name]
                if operation[0] == "drop" or not row:
                    del self.held[key]
            assert row_cache.done(batch, []) == []

    def count(self, row_cache, counters):
        for prefixes, lines in row_cache.sample(counters):
            for line in lines:
                name, *numbers = line.split()
                self.held[RowKey("COUNTERS_DB", name)].update(
                    zip(sonic.FIELDS, numbers, strict=True)
                )
            row_cache.counted(prefixes)
        self.bring_about(row_cache)


@given(st.lists(neighbors(), min_size=1, max_size=3), st.data())
def test_redis_gets_what_is_declared_though_it_was_lost_now_and_then(pairs, data):
    projector, row_cache, redis = Projector(), RowCache(), Rows()
    row_cache.adopt({}, {})
    for number, state in enumerate(state for pair in pairs for state in pair):
        statuses = {
            ref: ObjectStatus(data.draw(st.sampled_from(InstallStatus))) for ref in declared(state)
        }
        projection = projector.project(state, statuses)
        if data.draw(st.booleans()):
            projector.again()
            continue
        if names := row_cache.unnamed(projection):
            row_cache.name(names, row_cache.highest_index + 1)
        row_cache.absorb(projection)
        redis.bring_about(row_cache)
        counters = {str(p): SidCounters(number, n, 1) for n, p in enumerate(state.sids)}
        redis.count(row_cache, counters)

        made, held = project(state, statuses), dict(redis.held)
        reported, oids = held.pop(NAME_ROW, {}), held.pop(OID_ROW, {})
        assert reported == oids
        assert reported.keys() == set(made.counted.values())
        expected = {k: dict(fields) for k, fields in made.rows.items()}
        for prefix, name in made.counted.items():
            expected[counters_key(oids[name])] = dict(sonic.fields(counters[prefix]))
        assert held == expected
