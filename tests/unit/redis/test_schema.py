"""The schema files, their loader and the page rendered from them."""

from __future__ import annotations

import pytest

from srv6mgrd.redis import schemadoc
from srv6mgrd.redis.schema import RowKey, script, table, table_of, tables


def test_the_page_is_current() -> None:
    assert schemadoc.README.read_text() == schemadoc.render()


def test_tables_are_reported_apart_by_their_keys() -> None:
    prefixes = sorted((t.database, t.prefix) for t in tables())
    assert len(set(prefixes)) == len(prefixes)
    assert table_of(RowKey("APPL_DB", "VRF_TABLE:Vrf1")) is table("APPL_DB", "VRF_TABLE")
    assert table_of(RowKey("STATE_DB", "VRF_TABLE|Vrf1")) is table("STATE_DB", "VRF_TABLE")
    assert table_of(RowKey("STATE_DB", "VRF_TABLE:Vrf1")) is None
    assert table_of(RowKey("APPL_DB", "PORT_TABLE:Ethernet0")) is None
    assert table_of(RowKey("COUNTERS_DB", "COUNTERS")) is None


def test_watched_prefixes_do_not_overlap() -> None:
    """CLIENT TRACKING rejects prefixes that begin with one another."""
    watched = sorted({t.prefix for t in tables() if t.order and t.watched})
    assert not [(a, b) for a in watched for b in watched if a != b and b.startswith(a)]


def test_ids_and_separators_are_those_of_sonic() -> None:
    """sonic-swss-common common/database_config.json"""
    assert {(t.database, t.id, t.separator) for t in tables()} == {
        ("APPL_DB", 0, ":"),
        ("ASIC_DB", 1, ":"),
        ("COUNTERS_DB", 2, ":"),
        ("CONFIG_DB", 4, "|"),
        ("STATE_DB", 6, "|"),
    }


def test_a_name_that_the_schema_lacks_is_rejected() -> None:
    with pytest.raises(TypeError, match="no field decap"):
        table("APPL_DB", "SRV6_MY_SID_TABLE").row(32, 16, 16, 0, "::1", action="end", decap="x")
    with pytest.raises(TypeError, match="5 key parts"):
        table("APPL_DB", "SRV6_MY_SID_TABLE").key(32, 16)


@pytest.mark.parametrize(
    ("key", "fields", "fault"),
    [
        ("32:16:16:0:fc00::1", {"action": "End"}, "'End' is no enum"),
        ("32:16:16:0:FC00::1", {"action": "end"}, "'FC00::1' is no ipv6-address"),
        ("32:16:16:129:fc00::1", {"action": "end"}, "'129' is no length"),
        ("32:16:16", {"action": "end"}, "has 3 parts"),
        ("32:16:16:0:fc00::1", {"vrf": "Vrf1"}, "action: missing"),
        ("32:16:16:0:fc00::1", {"action": "end", "x": ""}, "x: unknown field"),
        ("32:16:16:0:fc00::1", {}, "no fields"),
    ],
)
def test_faults_are_found(key: str, fields: dict[str, str], fault: str) -> None:
    t = table("APPL_DB", "SRV6_MY_SID_TABLE")
    assert any(fault in f for f in t.faults(t.prefix + key, fields))


def test_scripts_are_found() -> None:
    assert all(
        script(name)
        for name in (
            "owned",
            "read",
            "read_rows",
            "write",
            "allocate",
            "produce",
            "pop",
            "flush_pending",
            "pending",
        )
    )
