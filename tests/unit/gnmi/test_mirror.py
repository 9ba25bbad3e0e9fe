"""The configuration mirror, from diffs as libyang 3.13 prints them, and the view on it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.gnmi.change import Change, select
from srv6mgrd.gnmi.encode import json_ietf, json_plain
from srv6mgrd.gnmi.mirror import Touched, Tree, apply, entries
from srv6mgrd.gnmi.path import Path, Pattern, elems, parse, resolve, text
from srv6mgrd.gnmi.view import Model, Selection, Snapshot, is_counter
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.model.times import time_text
from tests.unit.gnmi.models import schema

TOP = schema()
MODEL = Model(TOP)
SID = "fcbb:0:1:64::/64"


def op(name: str, **more: Any) -> dict[str, Any]:
    return {"yang:operation": name, **more}


def srv6(**members: Any) -> dict[str, Any]:
    return {
        "srv6mgr-srv6:srv6": {
            "@": op("none"),
            **{k.replace("_", "-"): v for k, v in members.items()},
        }
    }


def changed(tree: Tree, diff: dict[str, Any]) -> tuple[Tree, list[str], list[str]]:
    new, touched = apply(TOP, tree, diff)
    return new, [text(elems(p)) for p in touched.updated], [text(elems(p)) for p in touched.deleted]


def test_entries_of_lists_are_counted_not_those_in_them() -> None:
    vrfs = [{"name": name, "table-id": n, "interface": ["a", "b"]} for n, name in enumerate("xyz")]
    sids = [{"prefix": SID, "behavior": "End", "locator": "main"}]
    diff = {
        "srv6mgr-srv6:srv6": {
            "@": op("create"),
            "unsupported": "accept",
            "vrfs": {"vrf": vrfs},
            "local-sids": {"sid": sids},
        }
    }
    assert entries(TOP, {}) == 0
    assert entries(TOP, changed({}, diff)[0]) == 4


CREATED = srv6(
    locators={
        "locator": [
            {
                "@": op("create"),
                "name": "main",
                "prefix": "fcbb:0:1::/48",
                "function-length": 16,
                "@function-length": op("create"),
            }
        ]
    },
    vrfs={"vrf": [{"@": op("create"), "name": "red", "table-id": 100, "interface": ["eth1"]}]},
    local_sids={
        "sid": [
            {
                "@": op("create"),
                "prefix": SID,
                "locator": "main",
                "behavior": "End.DT46",
                "vrf": "red",
            }
        ]
    },
)
RED, LOCATOR = "/srv6/vrfs/vrf[name=red]", "/srv6/locators/locator[name=main]"
BASE, _, _ = changed({}, CREATED)


def find(snapshot: Snapshot, string: str) -> dict[str, Any]:
    return {
        text(elems(at)): data
        for pattern in resolve(TOP, Path(parse(string)))
        for at, data in snapshot.find(pattern)
    }


def test_a_new_entry_is_reported_once() -> None:
    _, updated, deleted = changed({}, CREATED)
    assert updated == [LOCATOR, RED, f"/srv6/local-sids/sid[prefix={SID}]"]
    assert not deleted


def test_leaf_changes() -> None:
    diff = srv6(
        locators={
            "locator": [{"name": "main", "function-length": 20, "@function-length": op("replace")}]
        }
    )
    tree, updated, _ = changed(BASE, diff)
    assert updated == [f"{LOCATOR}/function-length"]
    # Back at its default it is replaced, too; sent again it is nothing new.
    diff["srv6mgr-srv6:srv6"]["locators"]["locator"][0]["function-length"] = 16
    tree, updated, _ = changed(tree, diff)
    assert (tree, updated) == (BASE, [f"{LOCATOR}/function-length"])
    assert changed(tree, diff) == (BASE, [], [])


def test_leaf_lists_change_by_value_and_are_reported_whole() -> None:
    diff = srv6(
        vrfs={
            "vrf": [
                {
                    "name": "red",
                    "interface": ["eth1", "eth3"],
                    "@interface": [op("delete"), op("create")],
                }
            ]
        }
    )
    tree, updated, _ = changed(BASE, diff)
    assert find(Snapshot(MODEL, tree), "/srv6/vrfs/vrf/interface") == {f"{RED}/interface": ["eth3"]}
    assert updated == [f"{RED}/interface"]
    gone = srv6(
        vrfs={"vrf": [{"name": "red", "interface": ["eth3"], "@interface": [op("delete")]}]}
    )
    tree, updated, deleted = changed(tree, gone)
    assert (updated, deleted) == ([], [f"{RED}/interface"])
    assert find(Snapshot(MODEL, tree), "/srv6/vrfs/vrf/interface") == {}


def test_deleted_entries_and_containers() -> None:
    tree, updated, deleted = changed(
        BASE,
        srv6(vrfs={"@": op("none"), "vrf": [{"@": op("delete"), "name": "red", "table-id": 100}]}),
    )
    assert (updated, deleted) == ([], [RED])
    assert "vrfs" not in tree["srv6mgr-srv6:srv6"]
    bgp = {"name": "red", "srv6mgr-bgp:bgp": {"@": op("create"), "rd": "65000:1"}}
    tree, updated, _ = changed(BASE, srv6(vrfs={"vrf": [bgp]}))
    assert updated == [f"{RED}/bgp"]
    bgp["srv6mgr-bgp:bgp"] = {"@": op("delete"), "rd": "65000:1"}
    assert changed(tree, srv6(vrfs={"vrf": [bgp]})) == (BASE, [], [f"{RED}/bgp"])


def test_a_reader_keeps_its_tree() -> None:
    before = str(BASE)
    changed(BASE, srv6(vrfs={"vrf": [{"@": op("delete"), "name": "red", "table-id": 100}]}))
    assert str(BASE) == before


vrfs = st.dictionaries(
    st.sampled_from(["red", "blue", "green"]),
    st.integers(1, 5),
)


@given(st.lists(vrfs, min_size=1, max_size=5))
def test_any_sequence_of_diffs_ends_at_the_last_state(states: list[dict[str, int]]) -> None:
    tree: Tree = {}
    old: dict[str, int] = {}
    for new in states:
        entries: list[dict[str, Any]] = [
            {"@": op("delete"), "name": n, "table-id": old[n]} for n in old if n not in new
        ]
        for name, table in new.items():
            if name not in old:
                entries.append({"@": op("create"), "name": name, "table-id": table})
            elif old[name] != table:
                entries.append({"name": name, "table-id": table, "@table-id": op("replace")})
        tree, touched = apply(TOP, tree, srv6(vrfs={"@": op("none"), "vrf": entries}))
        assert bool(touched) == (old != new)
        old = new
    found = find(Snapshot(MODEL, tree), "/srv6/vrfs/vrf/table-id")
    assert found == {f"/srv6/vrfs/vrf[name={n}]/table-id": t for n, t in old.items()}


STATUS = {
    ObjectRef(Kind.SID, SID): ObjectStatus(InstallStatus.INSTALLED, since=1_500_000_000, repairs=1),
    ObjectRef(Kind.VRF_BGP, "red"): ObjectStatus(InstallStatus.FAILED, "no FRR", detail=SID),
    ObjectRef(Kind.VRF, "nobody"): ObjectStatus(InstallStatus.INSTALLED),
}
COUNTERS = {SID: SidCounters(3, 300, 1, 2_000_000_000)}


def test_state_hangs_below_configured_objects_only() -> None:
    snapshot = Snapshot(MODEL, BASE, STATUS, COUNTERS)
    assert set(find(snapshot, "/.../state")) == {f"/srv6/local-sids/sid[prefix={SID}]/state"}
    counters = find(snapshot, "/srv6/local-sids/sid/state/counters")
    assert counters == {
        f"/srv6/local-sids/sid[prefix={SID}]/state/counters": {
            "in-pkts": "3",
            "in-octets": "300",
            "in-errors": "1",
            "discontinuity-time": "1970-01-01T00:00:02.000000000+00:00",
        }
    }


def test_state_of_the_bgp_part_of_a_vrf() -> None:
    bgp = {"name": "red", "srv6mgr-bgp:bgp": {"@": op("create"), "rd": "65000:1"}}
    tree, _, _ = changed(BASE, srv6(vrfs={"vrf": [bgp]}))
    (state,) = find(Snapshot(MODEL, tree, STATUS), f"{RED}/bgp/state").values()
    assert state == {
        "install-status": "failed",
        "reason": "no FRR",
        "repairs": "0",
        "advertised-sid": SID,
    }
    assert [text(elems(at)) for ref in STATUS if (at := MODEL.state_of(ref)) is not None] == [
        f"/srv6/local-sids/sid[prefix={SID}]/state",
        f"{RED}/bgp/state",
        "/srv6/vrfs/vrf[name=nobody]/state",
    ]


def test_state_of_a_proxy_hangs_below_its_configuration() -> None:
    proxy = {"@": op("create"), "interface": "fw"}
    sid = {"prefix": SID, "srv6mgr-proxy:proxy": proxy}
    tree, _, _ = changed(BASE, srv6(local_sids={"sid": [sid]}))
    chain = {"source-address": "2001:db8::1", "segment": [{"index": 0, "sid": "fcbb:0:2::"}]}
    states = {SID: {"errors": {"no-srh": "3"}, "chain": chain}}
    snapshot = Snapshot(MODEL, tree, STATUS, COUNTERS, proxies=states)
    at = f"/srv6/local-sids/sid[prefix={SID}]/proxy/state"

    assert find(snapshot, f"{at}/errors/no-srh") == {f"{at}/errors/no-srh": "3"}
    assert find(snapshot, f"{at}/chain/segment/sid") == {
        f"{at}/chain/segment[index=0]/sid": "fcbb:0:2::"
    }
    assert find(Snapshot(MODEL, tree, STATUS, COUNTERS), at) == {}
    assert find(Snapshot(MODEL, BASE, STATUS, COUNTERS, proxies=states), at) == {}
    (where,) = (MODEL.state_of_proxy(SID),)
    assert where is not None
    assert text(elems(where)) == at


def test_what_a_proxy_learned_is_no_counter() -> None:
    state = "/srv6mgr-srv6:srv6/local-sids/sid/srv6mgr-proxy:proxy/state"
    leaves = [n for n in TOP.descendants() if n.is_leaf and n.path.startswith(state)]

    counters = {n.path.removeprefix(state) for n in leaves if is_counter(n)}

    assert counters == {"/errors/no-srh"}
    assert len(leaves) > len(counters)


def test_times_are_rfc_3339_with_fraction() -> None:
    assert time_text(1_700_000_000_000_000_001) == "2023-11-14T22:13:20.000000001+00:00"


def test_subtrees_are_reduced_to_what_is_wanted() -> None:
    snapshot = Snapshot(MODEL, BASE, STATUS, COUNTERS)
    state = snapshot.subtree((), BASE, Selection(lambda n: not n.config))
    assert json_plain(TOP, state)["srv6"] == {
        "local-sids": {
            "sid": [
                {
                    "prefix": SID,
                    "state": {
                        "install-status": "installed",
                        "reason": "",
                        "repairs": 1,
                        "since": "1970-01-01T00:00:01.500000000+00:00",
                        "counters": {
                            "in-pkts": 3,
                            "in-octets": 300,
                            "in-errors": 1,
                            "discontinuity-time": "1970-01-01T00:00:02.000000000+00:00",
                        },
                    },
                }
            ]
        }
    }
    config = snapshot.subtree((), BASE, Selection(lambda n: n.config))
    assert set(json_ietf(TOP, config)["srv6mgr-srv6:srv6"]) == {"locators", "vrfs", "local-sids"}
    assert snapshot.subtree((), BASE, Selection(lambda _: False)) is None


def selected(change: Change, *strings: str) -> tuple[dict[str, Any], list[str]]:
    every = Selection(lambda _: True)
    subscribed = [(p, every) for s in strings for p in resolve(TOP, Path(parse(s)))]
    updates, deletes = select(change, subscribed)
    return {text(elems(p)): v for p, v in updates}, [text(elems(p)) for p in deletes]


def test_a_subscriber_hears_what_it_asked_for() -> None:
    after, touched = apply(
        TOP, BASE, srv6(vrfs={"vrf": [{"@": op("create"), "name": "blue", "table-id": 200}]})
    )
    change = Change(1, Snapshot(MODEL, BASE), Snapshot(MODEL, after), touched)
    blue = "/srv6/vrfs/vrf[name=blue]"
    assert selected(change, "/") == ({f"{blue}/name": "blue", f"{blue}/table-id": 200}, [])
    assert selected(change, "/srv6/vrfs/vrf/table-id", blue) == selected(change, "/")
    assert selected(change, RED, "/srv6/local-sids") == ({}, [])


def test_deletes_are_narrowed_to_what_was_asked() -> None:
    diff = srv6(local_sids={"sid": [{"@": op("delete"), "prefix": SID}]})
    after, touched = apply(TOP, BASE, diff)
    change = Change(1, Snapshot(MODEL, BASE, STATUS), Snapshot(MODEL, after, STATUS), touched)
    entry = f"/srv6/local-sids/sid[prefix={SID}]"
    assert selected(change, "/srv6") == ({}, [entry])
    assert selected(change, "/.../install-status") == ({}, [f"{entry}/state/install-status"])
    assert selected(change, "/srv6/vrfs") == ({}, [])


def test_status_changes_report_the_leaves_that_changed() -> None:
    ref = ObjectRef(Kind.SID, SID)
    drifted = {**STATUS, ref: ObjectStatus(InstallStatus.DRIFTED, "gone", 1_500_000_000, 0, 1)}
    at: Pattern | None = MODEL.state_of(ref)
    assert at is not None
    change = Change(
        1, Snapshot(MODEL, BASE, STATUS), Snapshot(MODEL, BASE, drifted), Touched(updated=[at])
    )
    state = f"/srv6/local-sids/sid[prefix={SID}]/state"
    assert selected(change, "/srv6") == (
        {f"{state}/install-status": "drifted", f"{state}/reason": "gone"},
        [],
    )
