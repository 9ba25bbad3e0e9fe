"""What the publisher leaves in a real Redis, and what survives what."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.counters.sonic import SWITCH
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.status import SidCounters
from srv6mgrd.redis.accounted import accounting_rows
from srv6mgrd.redis.connection import connect
from srv6mgrd.redis.schema import RowKey, table_of
from srv6mgrd.redis.wire import Settings
from tests.contract.redis.conftest import Running, Server, publisher
from tests.contract.redis.readers import (
    GnmiSid,
    show_dropcounters_counts,
    show_srv6_stats,
    srv6_orch,
)
from tests.unit.redis.states import State, all_installed, desired, sid
from tests.unit.redis.test_accounted import STATISTICS

pytestmark = pytest.mark.contract

A, B, C = "fc00:0:1:a::/64", "fc00:0:1:b::/64", "fc00:0:1:c::1/128"
MAP = "COUNTERS_SRV6_NAME_MAP"


def declared(*prefixes: str) -> State:
    state = desired(*map(sid, prefixes))
    return state, all_installed(state)


def counters(**packets: int) -> dict[str, SidCounters]:
    return {globals()[name]: SidCounters(n, n * 100, n + 1) for name, n in packets.items()}


async def test_every_key_conforms_to_its_schema(server: Server, running: Running) -> None:
    running.publisher.publish_counters(counters(A=1, B=2, C=2**57))
    await running.publish(declared(A, B, C))
    rows = server.dump()
    assert len(rows) == 3 + 3 * 2 + 3 + 2 + 3 + 1
    for (db, key), value in rows.items():
        table = table_of(RowKey(db, key))
        assert table is not None, key
        if isinstance(value, dict):
            assert table.faults(key, value) == []


async def test_accounting_and_drops(server: Server, running: Running) -> None:
    await running.publish(declared(A))
    without = server.dump()
    running.publisher.publish_accounting(STATISTICS)
    await running.settled()
    rows = server.dump()
    assert len(rows) == len(without) + len(accounting_rows(STATISTICS))
    for (db, key), value in rows.items():
        table = table_of(RowKey(db, key))
        assert table is not None, key
        if isinstance(value, dict):
            assert table.faults(key, value) == []
    shown = show_dropcounters_counts(server.client("COUNTERS_DB"), SWITCH)
    assert shown["SAI_IN_DROP_REASON_LPM_MISS"] == 12
    assert shown["SAI_IN_DROP_REASON_TTL"] == 0
    running.publisher.publish_accounting({})
    await running.settled()
    assert server.dump() == without


async def test_debug_counters_of_another_writer_stay(server: Server, running: Running) -> None:
    client = server.client("COUNTERS_DB")
    theirs = {"DEBUG_0": "SAI_SWITCH_STAT_IN_DROP_REASON_RANGE_BASE"}
    client.hset("COUNTERS_DEBUG_NAME_SWITCH_STAT_MAP", mapping=theirs)
    running.publisher.publish_accounting(STATISTICS)
    await running.publish(declared(A))
    assert client.hgetall("COUNTERS_DEBUG_NAME_SWITCH_STAT_MAP") == theirs


async def test_the_same_again_writes_nothing(server: Server, settings: Settings) -> None:
    sample = counters(A=1, B=2, C=3)
    async with publisher(settings) as first:
        first.publisher.publish_counters(sample)
        await first.publish(declared(A, B, C))
        before, rows = server.changes, server.dump()
        await first.publish(declared(A, B, C))
        first.publisher.publish_counters(dict(sample))
        await first.settled()
        assert server.changes == before
    async with publisher(settings) as second:
        second.publisher.publish_counters(dict(sample))
        await second.publish(declared(A, B, C))
        assert second.publisher.writes == 0
    assert server.changes == before
    assert server.dump() == rows


async def test_a_sid_that_changes_touches_its_own_rows_only(
    server: Server, running: Running
) -> None:
    await running.publish(declared(A, B))
    before, writes = server.dump(), running.publisher.writes
    state = desired(sid(A, Behavior.END, None), sid(B))
    await running.publish((state, all_installed(state)))
    after = server.dump()
    changed = {k for k in before.keys() | after.keys() if before.get(k) != after.get(k)}
    assert changed == {("APPL_DB", "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:a::")}
    assert running.publisher.writes - writes == 1


async def test_nothing_of_ours_stays_when_nothing_is_wanted(
    server: Server, running: Running
) -> None:
    running.publisher.publish_counters(counters(A=1))
    await running.publish(declared(A, B))
    await running.publish((Desired(), {}))
    assert set(server.dump()) == {("ASIC_DB", "VIDCOUNTER")}


@pytest.mark.parametrize("how", ["FLUSHALL", "FLUSHDB", "restart"])
async def test_everything_comes_back(server: Server, running: Running, how: str) -> None:
    running.publisher.publish_counters(counters(A=1, B=2))
    await running.publish(declared(A, B))
    before = server.dump()
    if how == "restart":
        server.stop()
        await wait_until_async(lambda: running.publisher.problem is not None)
        # What is published meanwhile isn't lost either.
        running.publisher.publish(*declared(A, B))
        server.start()
    elif how == "FLUSHALL":
        server.client("APPL_DB").flushall()
    else:
        server.client("COUNTERS_DB").flushdb()
    await wait_until_async(
        lambda: server.dump().keys() >= before.keys() - {("ASIC_DB", "VIDCOUNTER")}
    )
    await running.settled()
    after = server.dump()
    for rows in (before, after):
        rows.pop(("ASIC_DB", "VIDCOUNTER"), None)  # comes back with the next SID
    assert after == before
    await running.publish(declared(A, B, C))
    oids = server.client("COUNTERS_DB").hgetall(MAP)
    assert len(set(oids.values())) == 3


async def test_a_publisher_that_starts_before_redis(server: Server, running: Running) -> None:
    server.stop()
    running.publisher.publish(*declared(A))
    await wait_until_async(lambda: running.publisher.problem not in (None, "not connected yet"))
    server.start()
    await running.settled()
    assert srv6_orch(server.client("APPL_DB"))


async def test_a_killed_connection_is_made_again(server: Server, running: Running) -> None:
    await running.publish(declared(A))
    server.client("APPL_DB").client_kill_filter(_type="normal", skipme=True)
    await running.publish(declared(A, B))
    server.client("APPL_DB").client_kill_filter(_type="pubsub", skipme=True)
    await wait_until_async(
        lambda: running.publisher.problem is not None or running.publisher.foreign
    )
    await running.settled()
    server.client("APPL_DB").delete("VRF_TABLE:Vrf1")  # watched again
    await wait_until_async(lambda: server.client("APPL_DB").exists("VRF_TABLE:Vrf1"))


async def test_foreign_keys_are_never_touched(server: Server, running: Running) -> None:
    appl, state, count = map(server.client, ("APPL_DB", "STATE_DB", "COUNTERS_DB"))
    foreign = "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:b::"
    appl.hset(foreign, mapping={"action": "un"})
    appl.hset("ROUTE_TABLE:10.0.0.0/8", mapping={"ifname": "Ethernet0"})
    appl.set("VRF_TABLE:Vrf1", "no hash at all")
    state.hset("VRF_TABLE|Vrf9", mapping={"state": "ok"})
    count.hset("COUNTERS:oid:0x54000000001111", mapping={"SAI_COUNTER_STAT_PACKETS": "7"})
    count.hset(MAP, mapping={"fcbb::/48": "oid:0x54000000001111", A: "oid:0x54000000002222"})
    before = server.dump()
    running.publisher.publish_counters(counters(A=1, B=2))
    await running.publish(declared(A, B))
    names = count.hgetall(MAP)
    assert (names["fcbb::/48"], names[A]) == ("oid:0x54000000001111", "oid:0x54000000002222")
    assert running.publisher.foreign == {
        RowKey("APPL_DB", foreign),
        RowKey("APPL_DB", "VRF_TABLE:Vrf1"),
        RowKey("COUNTERS_DB", MAP),
    }
    changes = server.changes
    await running.publish(declared(A, B))
    assert server.changes - changes <= 4  # a claim and its withdrawal, on our own list
    await running.publish((Desired(), {}))
    after = server.dump()
    after.pop(("ASIC_DB", "VIDCOUNTER"))
    assert after == before


async def test_a_row_is_ours_once_its_writer_lets_go(server: Server, running: Running) -> None:
    state = server.client("STATE_DB")
    state.hset("VRF_TABLE|Vrf1", mapping={"state": "no"})
    await running.publish(declared(A))
    assert state.hgetall("VRF_TABLE|Vrf1") == {"state": "no"}
    state.delete("VRF_TABLE|Vrf1")
    await wait_until_async(lambda: state.hgetall("VRF_TABLE|Vrf1") == {"state": "ok"})


async def test_changes_by_others_are_put_right(server: Server, running: Running) -> None:
    await running.publish(declared(A, B))
    before = server.dump()
    appl, count = server.client("APPL_DB"), server.client("COUNTERS_DB")
    key = "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:a::"
    for harm in (
        lambda: appl.hset(key, mapping={"action": "un", "adj": "::1", "raw": b"\xff\xfe"}),
        lambda: appl.delete(key),
        lambda: appl.set(key, "text"),
        lambda: appl.rename(key, "elsewhere") and appl.delete("elsewhere"),
        lambda: count.hdel(MAP, A),
        lambda: count.delete(MAP, "SRV6MGR_SID_OID"),
    ):
        harm()
        await wait_until_async(lambda: server.dump() == before)


async def test_identifiers_survive_a_restart_of_the_publisher(
    server: Server, settings: Settings
) -> None:
    async with publisher(settings) as first:
        await first.publish(declared(A, B))
        oids = server.client("COUNTERS_DB").hgetall(MAP)
    async with publisher(settings) as second:
        await second.publish(declared(B, C))
    after = server.client("COUNTERS_DB").hgetall(MAP)
    assert after[B] == oids[B]
    assert after["fc00:0:1:c::1/64"] not in oids.values()
    assert A not in after


async def test_stock_readers_find_the_counters(server: Server, running: Running) -> None:
    client = server.client("COUNTERS_DB")
    assert show_srv6_stats(client) == []
    running.publisher.publish_counters(counters(A=10, C=2**57))
    await running.publish(declared(A, B, C))
    assert show_srv6_stats(client) == [(A, 10, 1000), ("fc00:0:1:c::1/64", 2**57, 2**57 * 100)]
    assert show_srv6_stats(client, A) == [(A, 10, 1000)]
    assert show_srv6_stats(client, "fc00::/64") == []
    gnmi = GnmiSid(client)
    assert gnmi.get(f"SID:{A}")[A]["SAI_COUNTER_STAT_BYTES"] == "1000"
    assert set(gnmi.get("SID*")) == {A, B, "fc00:0:1:c::1/64"}
    # It goes on reading right after others come and go, with the map it read once.
    running.publisher.publish_counters(counters(A=11))
    await running.publish(declared(A))
    assert gnmi.get(f"SID:{A}")[A]["SAI_COUNTER_STAT_PACKETS"] == "11"
    with pytest.raises(LookupError):
        gnmi.get("SID:fc00::/64")


async def test_srv6_orch_finds_the_sids(server: Server, running: Running) -> None:
    await running.publish(declared(A, C))
    row = {"action": "end.dt46", "vrf": "Vrf1"}
    assert srv6_orch(server.client("APPL_DB")) == {
        "fc00:0:1:a::": ((32, 16, 16, 0), row),
        "fc00:0:1:c::1": ((32, 16, 16, 0), row),
    }


async def test_a_password(server: Server, settings: Settings) -> None:
    server.stop()
    server.start("--requirepass", "secret")
    async with publisher(settings) as without:
        without.publisher.publish(*declared(A))
        await wait_until_async(lambda: "uthentication" in (without.publisher.problem or ""))
    secret = replace(settings, password="secret")
    assert "secret" not in repr(secret)
    async with publisher(secret) as with_:
        await with_.publish(declared(A))


async def test_a_redis_that_is_full_is_waited_for(server: Server, running: Running) -> None:
    client = server.client("APPL_DB")
    client.config_set("maxmemory", 1)
    running.publisher.publish(*declared(A))
    await wait_until_async(lambda: "OOM" in (p := running.publisher.problem or "") or "memory" in p)
    client.config_set("maxmemory", 0)
    await running.settled()
    assert srv6_orch(client)


async def test_over_tcp(server: Server, settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server.stop()
    server.start("--port", str(port))
    async with publisher(replace(settings, socket=None, port=port)) as r:
        await r.publish(declared(A))
    assert srv6_orch(server.client("APPL_DB"))


async def test_counters_are_exact(server: Server, running: Running) -> None:
    await running.publish(declared(A))
    count = server.client("COUNTERS_DB")
    # The second goes into a row that exists; a number of Lua would round it.
    for packets in (2**63, 2**64 - 1):
        running.publisher.publish_counters({A: SidCounters(packets, packets - 1, 7)})
        await running.settled()
        row = count.hgetall(f"COUNTERS:{count.hget(MAP, A)}")
        assert [int(value) for value in row.values()] == [packets, packets - 1, 7]


async def test_counters_into_rows_that_are_ours_no_more(server: Server, settings: Settings) -> None:
    """They make none: after a FLUSHALL that we have not heard of it would be nobody's."""
    count = server.client("COUNTERS_DB")
    count.hset("COUNTERS:oid:0x1", mapping={"SAI_COUNTER_STAT_PACKETS": "1"})
    async with connect(settings) as wire:
        await wire.count(["COUNTERS:oid:0x1 2 3 4\n", "COUNTERS:oid:0x2 2 3 4\n"])
    assert count.hgetall("COUNTERS:oid:0x1") == {"SAI_COUNTER_STAT_PACKETS": "1"}
    assert count.keys() == ["COUNTERS:oid:0x1"]


async def test_counters_while_redis_loses_all(server: Server, running: Running) -> None:
    await running.publish(declared(A, B))
    count = server.client("COUNTERS_DB")
    for number in range(1, 60):
        running.publisher.publish_counters(counters(A=number, B=number))
        if number % 20 == 0:
            count.flushall()
        await asyncio.sleep(0.01)
    await wait_until_async(lambda: [p for _, p, _ in show_srv6_stats(count)] == [59, 59])
    assert not running.publisher.foreign
