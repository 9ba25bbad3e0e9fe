"""Rows made from desired state and statuses: golden, and against the schema."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.counters import sonic
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.desired import Desired, Locator, SegmentList, SteeredRoute
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.redis import rows
from srv6mgrd.redis.rows import counters_key, index_of, oid_of, project
from srv6mgrd.redis.schema import RowKey, table_of
from tests.unit.redis.states import State, all_installed, desired, sid, states

TIME = "2023-11-14T22:13:20.123456Z"
INSTALLED = {"status": "installed", "since": TIME, "owner": "srv6mgr"}


def test_rows_of_a_vpn_that_serves() -> None:
    state = desired(
        sid("fc00:0:1:e000::/64"),
        sid("fc00:0:1:1::/64", Behavior.END, None),
        sid("fc00:0:1:e004::1/128", Behavior.END_DT4),
    )
    assert dict(project(state, all_installed(state)).rows) == {
        ("STATE_DB", "VRF_TABLE|Vrf1"): {"state": "ok"},
        ("APPL_DB", "VRF_TABLE:Vrf1"): {"NULL": "NULL"},
        ("STATE_DB", "SRV6MGR_VRF|Vrf1"): INSTALLED,
        ("APPL_DB", "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:e000::"): {
            "action": "end.dt46",
            "vrf": "Vrf1",
        },
        ("STATE_DB", "SRV6MGR_SID|fc00:0:1:e000::/64"): INSTALLED,
        ("APPL_DB", "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:1::"): {"action": "end"},
        ("STATE_DB", "SRV6MGR_SID|fc00:0:1:1::/64"): INSTALLED,
        ("APPL_DB", "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:e004::1"): {
            "action": "end.dt4",
            "vrf": "Vrf1",
        },
        ("STATE_DB", "SRV6MGR_SID|fc00:0:1:e004::1/128"): INSTALLED,
    }


def test_names_of_counters_have_the_lengths_of_the_key() -> None:
    state = desired(sid("fc00:0:1:e000::/64"), sid("fc00:0:1:e004::1/128"))
    assert dict(project(state, {}).counted) == {
        "fc00:0:1:e000::/64": "fc00:0:1:e000::/64",
        "fc00:0:1:e004::1/128": "fc00:0:1:e004::1/64",
    }


@pytest.mark.parametrize(
    ("prefix", "argument", "key"),
    [
        ("fc00:0:1:e000::/64", 16, "32:16:16:16"),
        ("fc00:0:1:e000::/80", 16, "32:16:32:16"),
        ("fc00:0:1:e000::/120", 16, "32:16:72:8"),
        ("fc00:0:1:e000::/128", 16, "32:16:16:16"),
    ],
)
def test_lengths_in_the_key(prefix: str, argument: int, key: str) -> None:
    locator = Locator("MAIN", IPv6Network("fc00:0:1::/48"), argument_length=argument)
    state = replace(desired(sid(prefix)), locators={"MAIN": locator})
    assert RowKey("APPL_DB", f"SRV6_MY_SID_TABLE:{key}:fc00:0:1:e000::") in (
        project(state, all_installed(state)).rows
    )


@pytest.mark.parametrize("status", InstallStatus)
def test_only_what_serves_stands_in_appl_db(status: InstallStatus) -> None:
    state = desired(sid("fc00:0:1:e000::/64"))
    statuses = dict.fromkeys(all_installed(state), ObjectStatus(status, "because"))
    found = project(state, statuses).rows
    serving = status in (InstallStatus.INSTALLED, InstallStatus.DRIFTED)
    assert any(key.db == "APPL_DB" for key in found) is serving
    assert (RowKey("STATE_DB", "VRF_TABLE|Vrf1") in found) is serving
    assert found[RowKey("STATE_DB", "SRV6MGR_SID|fc00:0:1:e000::/64")] == {
        "status": status.text,
        "reason": "because",
        "owner": "srv6mgr",
    }


def test_an_object_without_status_is_pending() -> None:
    state = desired(sid("fc00:0:1:e000::/64"))
    found = project(state, {ObjectRef(Kind.VRF, "other"): ObjectStatus(InstallStatus.FAILED)}).rows
    assert {fields["status"] for fields in found.values()} == {"pending"}


@pytest.mark.parametrize("behavior", [b for b in Behavior if b.is_proxy] + [Behavior.END_DX2])
def test_what_sai_lacks_is_said_and_left_out_of_appl_db(behavior: Behavior) -> None:
    state = desired(sid("fc00:0:1:e000::/64", behavior, None))
    found = project(state, all_installed(state)).rows
    reported = found[RowKey("STATE_DB", "SRV6MGR_SID|fc00:0:1:e000::/64")]
    assert (reported["status"], reported["asic"]) == ("installed", "unsupported")
    assert not [key for key in found if table_of(key) is rows.MY_SID]


@pytest.mark.parametrize(
    ("behavior", "given_", "row"),
    [
        (Behavior.END_T, {"vrf": "Vrf1"}, {"action": "end.t", "vrf": "Vrf1"}),
        (Behavior.END_DT6, {}, {"action": "end.dt6", "vrf": "default"}),
        (Behavior.END, {"flavors": frozenset({Flavor.NEXT_CSID})}, {"action": "un"}),
        (
            Behavior.END_X,
            {"next_hop": IPv6Address("fe80::1"), "interface": "eth0"},
            {"action": "end.x", "adj": "fe80::1@eth0"},
        ),
        (
            Behavior.END_X,
            {"next_hop": IPv6Address("fd00::1"), "flavors": frozenset({Flavor.NEXT_CSID})},
            {"action": "ua", "adj": "fd00::1"},
        ),
        (
            Behavior.END_DX4,
            {"next_hop": IPv4Address("10.0.0.1"), "interface": "eth0"},
            {"action": "end.dx4", "adj": "10.0.0.1@eth0"},
        ),
    ],
)
def test_arguments_of_actions(
    behavior: Behavior, given_: dict[str, Any], row: dict[str, str]
) -> None:
    one = replace(sid("fc00:0:1:e000::/64", behavior, None), **given_)
    state = desired(one)
    found = project(state, all_installed(state)).rows
    assert found[RowKey("APPL_DB", "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:e000::")] == row


def test_a_segment_list_has_the_type_of_its_first_user() -> None:
    path = SegmentList("path", (IPv6Address("fc00::1"), IPv6Address("fc00::2")))
    route = SteeredRoute(None, IPv6Network("fd00::/64"), "path", Headend.H_ENCAPS)
    state = replace(desired(), segment_lists={"path": path}, routes={route.name: route})
    installed = {ObjectRef(Kind.SEGMENT_LIST, "path"): ObjectStatus(InstallStatus.INSTALLED)}
    key = RowKey("APPL_DB", "SRV6_SID_LIST_TABLE:path")
    found = project(state, installed).rows
    assert found[key] == {"path": "fc00::1,fc00::2", "type": "encaps"}
    assert key not in project(state, {}).rows


def test_nothing_desired_no_rows() -> None:
    assert project(Desired(), {}) == rows.Projection({}, {})


def test_every_action_is_one_that_orchagent_knows() -> None:
    assert set(rows._ACTIONS.values()) <= set(rows.MY_SID.fields["action"].values)


def test_object_identifier_as_sairedis_writes_it() -> None:
    # sonic-gnmi testdata/COUNTERS_SRV6_NAME_MAP.json
    assert oid_of(0x4F64) == "oid:0x54000000004f64"
    assert index_of("oid:0x54000000004f64") == 0x4F64


@given(states())
def test_every_row_conforms_to_its_schema(state: State) -> None:
    projection = project(*state)
    for key, fields in projection.rows.items():
        table = table_of(key)
        assert table is not None
        assert table.faults(key.key, fields) == []
    names = list(projection.counted.values())
    oids = {name: oid_of(n) for n, name in enumerate(names)}
    if oids:
        assert rows.NAME_MAP.faults(rows.NAME_MAP.name, oids) == []
        assert rows.SID_OID.faults(rows.SID_OID.name, oids) == []


@given(st.integers(0, 2**39 - 1), st.integers(0, 2**64 - 1))
def test_every_counter_row_conforms_to_its_schema(index: int, value: int) -> None:
    key = counters_key(oid_of(index))
    assert table_of(key) is rows.COUNTERS
    assert rows.COUNTERS.faults(key.key, sonic.fields(SidCounters(value, value, value))) == []
    assert index_of(oid_of(index)) == index


@given(states())
def test_the_lengths_of_every_key_fit_an_address(state: State) -> None:
    for key in project(*state).rows:
        if table_of(key) is rows.MY_SID:
            assert sum(map(int, key.key.split(":")[1:5])) <= 128


@pytest.mark.parametrize(
    ("behavior", "action"),
    [(Behavior.END_DT46, "udt46"), (Behavior.END_DT4, "udt4"), (Behavior.END, "end")],
)
def test_actions_of_a_micro_segment_locator(behavior: Behavior, action: str) -> None:
    """As fpmsyncd writes them; sonic-mgmt tests/srv6 look for udt46."""
    state = desired(sid("fc00:0:1:e000::/64", behavior))
    locators = {n: replace(one, micro_segment=True) for n, one in state.locators.items()}
    state = replace(state, locators=locators)
    rows = project(state, all_installed(state)).rows
    assert (
        rows[RowKey("APPL_DB", "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:e000::")]["action"] == action
    )
