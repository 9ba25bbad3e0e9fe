"""Accounting and reasons of drops as rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.counters import sonic
from srv6mgrd.model.drops import DropReason
from srv6mgrd.redis.accounted import accounting_rows
from srv6mgrd.redis.schema import Fields, RowKey, table, table_of

COUNT = {"packets": "2", "inner-octets": "168", "outer-octets": "296"}
OF_RED = {"vrf": "red", "address-family": "ipv4"}
SID = "fcbb:0:1:64::/64"
SWITCH = RowKey("COUNTERS_DB", f"COUNTERS:{sonic.SWITCH}")
NAMES = table("COUNTERS_DB", "COUNTERS_DEBUG_NAME_SWITCH_STAT_MAP").key()


def drop(reason: DropReason, packets: int, sid: str = SID, vrf: str | None = "red") -> Any:
    of_vrf = {} if vrf is None else {"vrf": vrf}
    counted = {"certainty": "certain", "packets": str(packets), "last-seen": "2026-11-25T14:02:11Z"}
    return {"sid": sid, "reason": reason.value, **of_vrf, **counted}


STATISTICS: Mapping[str, Any] = {
    "discontinuity-time": "2026-11-25T14:00:00Z",
    "sent": [
        {**OF_RED, "segments": "fcbb:0:9:: fcbb:0:2:64::", "segment-list": "via-p",
         "remote-sid": "fcbb:0:2:64::", **COUNT},
        {**OF_RED, "address-family": "ipv6", "segments": "fcbb:0:9:: fcbb:0:2:64::",
         "segment-list": "via-p", "remote-sid": "fcbb:0:2:64::", **COUNT},
        {**OF_RED, "segments": "fcbb:0:2:64::", "remote-sid": "fcbb:0:2:64::", **COUNT},
    ],
    "received": [{**OF_RED, "source": "2001:db8::2", **COUNT}],
    "other": [{"direction": "received", "address-family": "ethernet", **COUNT}],
    "drops": {
        "drop": [
            drop(DropReason.NO_ROUTE, 12),
            drop(DropReason.NO_SRH, 3),
            drop(DropReason.SEGMENTS_LEFT, 4, "fcbb:0:1:65::/64"),
            drop(DropReason.REVERSE_PATH, 5, vrf=None),
            drop(DropReason.LINK_DOWN, 6),
        ]
    },
}  # fmt: skip


def conform(rows: Mapping[RowKey, Fields]) -> bool:
    for row, fields in rows.items():
        found = table_of(row)
        assert found is not None, row
        assert found.faults(row.key, fields) == []
    return True


def test_rows_conform_to_their_schemas() -> None:
    rows = accounting_rows(STATISTICS)
    assert conform(rows)
    assert len(rows) == 5 + 1 + 5 + 2
    assert accounting_rows({}) == {}


def test_a_segment_list_has_the_counters_that_sai_names() -> None:
    rows = accounting_rows(STATISTICS)
    lists = {row.key: f for row, f in rows.items() if "SIDLIST" in row.key}
    assert lists == {
        "SRV6MGR_SIDLIST_COUNTERS:via-p": {
            "SAI_SRV6_SIDLIST_STAT_OUT_PACKETS": "4",
            "SAI_SRV6_SIDLIST_STAT_OUT_OCTETS": "592",
            "owner": "srv6mgr",
        }
    }


def test_drops_are_counted_by_the_reasons_that_sai_names() -> None:
    rows = accounting_rows(STATISTICS)
    counted = {name: rows[SWITCH][field] for name, field in rows[NAMES].items()}
    assert {name: n for name, n in counted.items() if n != "0"} == {
        "SAI_IN_DROP_REASON_SRV6_LOCAL_SID_DROP": "7",
        "SAI_IN_DROP_REASON_LPM_MISS": "12",
        "SAI_OUT_DROP_REASON_L3_EGRESS_LINK_DOWN": "6",
    }
    # SAI has eight counters of a switch for packets that come in, and knows none of these reasons.
    assert len(sonic.DROP_FIELDS) == len(set(sonic.DROP_FIELDS.values())) == 8 + 1
    assert set(DropReason) - sonic.DROP_REASONS.keys() == {
        DropReason.REVERSE_PATH,
        DropReason.NOT_FORWARDING,
        DropReason.QUEUE_FULL,
        DropReason.OTHER,
    }


def test_beside_sonic_the_switch_is_the_asics() -> None:
    rows = accounting_rows(STATISTICS, alone=False)
    assert conform(rows)
    assert SWITCH not in rows
    assert NAMES not in rows
    assert accounting_rows({**STATISTICS, "drops": {}}).keys().isdisjoint({SWITCH, NAMES})
