"""The publisher against a Redis in memory."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.waiting import wait_until_async
from srv6mgrd.model.active_alarm import ActiveAlarm
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.proxy_state import ProxyCounts, ProxyState
from srv6mgrd.model.service import ServiceReport, ServiceState
from srv6mgrd.model.status import Kind, ObjectRef, SidCounters
from srv6mgrd.redis import publisher, rows
from srv6mgrd.redis.counterpoll import poll
from srv6mgrd.redis.publisher import Publisher
from srv6mgrd.redis.rows import project
from srv6mgrd.redis.schema import RowKey
from srv6mgrd.redis.wire import Settings
from tests.unit.redis.fake import FakeRedis
from tests.unit.redis.states import State, all_installed, desired, sid, states

A, B = "fc00:0:1:a::/64", "fc00:0:1:b::/64"
FAST = Settings(backoff_first=0.001, backoff_last=0.002, counter_interval=0.01)
MAP = "COUNTERS_SRV6_NAME_MAP"


def declared(*prefixes: str) -> State:
    state = desired(*map(sid, prefixes))
    return state, all_installed(state)


class Running:
    """A publisher that runs."""

    def __init__(self, redis: FakeRedis) -> None:
        self.redis = redis
        self.is_writing, self.asked = False, 0
        self.publisher = Publisher(FAST, redis.connect, is_writing=self._is_writing)
        self._task = asyncio.create_task(self.publisher.run())

    def _is_writing(self) -> bool:
        self.asked += 1
        return self.is_writing

    async def publish(self, wanted: State) -> int:
        """Publish; how many writes that took."""
        before = self.publisher.writes
        self.publisher.publish(*wanted)
        await self.settled()
        return self.publisher.writes - before

    async def settled(self) -> None:
        await asyncio.wait_for(self.publisher.settled(), 5)

    async def stop(self) -> None:
        self._task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await self._task


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    r = Running(FakeRedis())
    yield r
    await r.stop()


def rows_in(redis: FakeRedis) -> dict[tuple[str, str], dict[str, str]]:
    return {(db, k): f for db, rows in redis.rows.items() for k, f in rows.items()}


async def test_rows_arrive_and_the_same_again_writes_nothing(running: Running) -> None:
    wanted = declared(A)
    assert await running.publish(wanted) == 7
    found = rows_in(running.redis)
    for key, fields in project(*wanted).rows.items():
        assert found[key] == fields
    oid = found["COUNTERS_DB", MAP][A]
    assert found["COUNTERS_DB", "SRV6MGR_SID_OID"] == {A: oid}
    assert await running.publish(declared(A)) == 0


async def test_rows_give_way_to_a_commit(running: Running) -> None:
    await running.publish(declared(A))
    running.is_writing = True
    before = running.asked
    running.publisher.publish(*declared(A, B))
    await wait_until_async(lambda: running.asked > before + 2)
    assert f"SRV6MGR_SID|{B}" not in running.redis.rows["STATE_DB"]
    running.is_writing = False
    await running.settled()
    assert f"SRV6MGR_SID|{B}" in running.redis.rows["STATE_DB"]


async def test_the_garbage_collector_does_not_wait_for_redis(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "_SLOW", 0.01)
    running.redis.answers.clear()
    running.publisher.publish(*declared(A))
    await wait_until_async(lambda: not gc.isenabled())
    await wait_until_async(gc.isenabled)
    running.redis.answers.set()
    await running.settled()
    assert f"SRV6MGR_SID|{A}" in running.redis.rows["STATE_DB"]
    await wait_until_async(gc.isenabled)


async def test_they_do_not_wait_for_ever(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "_ALL_LATE", 0.01)
    monkeypatch.setattr(publisher, "_BATCH_LATE", 0.01)
    running.is_writing = True
    await running.publish(declared(A))
    assert f"SRV6MGR_SID|{A}" in running.redis.rows["STATE_DB"]


async def test_only_what_differs_is_written(running: Running) -> None:
    await running.publish(declared(A))
    del running.redis.log[:]
    state = desired(sid(A, Behavior.END, None))
    assert await running.publish((state, all_installed(state))) == 1
    assert running.redis.log == [
        (
            "APPL_DB",
            ("put", "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:a::", 0, ["action", "end"], ["vrf"]),
        )
    ]


async def test_a_vrf_before_its_sid_and_the_sid_gone_before_the_vrf(running: Running) -> None:
    await running.publish(declared(A))
    await running.publish((Desired(), {}))
    keys = [str(operation[1]) for _, operation in running.redis.log]
    vrf, entry = "VRF_TABLE:Vrf1", "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:a::"
    order = [k for k in keys if k in (vrf, entry, MAP, "SRV6MGR_SID_OID")]
    assert order == ["SRV6MGR_SID_OID", vrf, entry, MAP, MAP, entry, vrf, "SRV6MGR_SID_OID"]
    assert rows_in(running.redis) == {}
    assert not any(running.redis.lists.values())


async def test_nothing_is_touched_before_the_first_publish() -> None:
    redis = FakeRedis()
    first = Running(redis)
    await first.publish(declared(A))
    await first.stop()
    before = rows_in(redis)
    second = Running(redis)
    await wait_until_async(lambda: redis.connections == 2)
    assert rows_in(redis) == before
    assert await second.publish(declared(A)) == 0
    assert await second.publish(declared(B)) > 0
    assert list(redis.db("COUNTERS_DB")[MAP]) == [B]
    await second.stop()


async def test_identifiers_survive_a_flush_and_are_not_reused(running: Running) -> None:
    await running.publish(declared(A, B))
    before = dict(running.redis.db("COUNTERS_DB")[MAP])
    running.redis.flush()
    await asyncio.sleep(0)
    await running.publish(declared(A, B))
    await running.settled()
    assert running.redis.db("COUNTERS_DB")[MAP] == before
    await running.publish(declared(A))
    running.redis.flush()
    await running.publish(declared(A, "fc00:0:1:c::/64"))
    now = running.redis.db("COUNTERS_DB")[MAP]
    assert now[A] == before[A]
    assert now["fc00:0:1:c::/64"] not in before.values()


async def test_a_lost_connection_is_made_again(running: Running) -> None:
    await running.publish(declared(A))
    before = rows_in(running.redis)
    running.redis.down = True
    running.redis.lose()
    running.publisher.publish(*declared(A))
    await wait_until_async(lambda: running.publisher.problem in ("connection lost", "refused"))
    running.redis.flush()
    running.redis.down = False
    await running.settled()
    assert running.publisher.problem is None
    assert rows_in(running.redis) == before
    assert running.redis.connections == 2


async def test_a_change_by_somebody_else_is_put_right(running: Running) -> None:
    await running.publish(declared(A))
    before = rows_in(running.redis)
    key = "SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:a::"
    running.redis.rows["APPL_DB"][key] = {"action": "un", "adj": "::1"}
    del running.redis.rows["COUNTERS_DB"][MAP]
    running.redis.invalidate([key, MAP, "unknown"])
    await wait_until_async(lambda: rows_in(running.redis) | before == before)


async def test_a_name_that_somebody_takes_away_stays_remembered(running: Running) -> None:
    await running.publish(declared(A, B))
    names = running.redis.rows["COUNTERS_DB"][MAP]
    oid = names.pop(A)
    running.redis.invalidate([MAP])
    await running.publish(declared(A, B, "fc00:0:1:c::/64"))
    now = running.redis.rows["COUNTERS_DB"][MAP]
    assert (now[A], len(now)) == (oid, 3)
    assert running.redis.rows["COUNTERS_DB"]["SRV6MGR_SID_OID"] == now


async def test_rows_of_others_are_left_alone_until_they_go(running: Running) -> None:
    redis = running.redis
    redis.db("STATE_DB")["VRF_TABLE|Vrf1"] = {"state": "ok", "theirs": "1"}
    redis.db("APPL_DB")["ROUTE_TABLE:10.0.0.0/8"] = {"ifname": "Ethernet0"}
    redis.db("COUNTERS_DB")[MAP] = {A: "oid:0x54000000999999", "x": "oid:0x1"}
    await running.publish(declared(A))
    assert redis.db("STATE_DB")["VRF_TABLE|Vrf1"] == {"state": "ok", "theirs": "1"}
    assert redis.db("COUNTERS_DB")[MAP] == {A: "oid:0x54000000999999", "x": "oid:0x1"}
    assert running.publisher.foreign == {
        RowKey("STATE_DB", "VRF_TABLE|Vrf1"),
        RowKey("COUNTERS_DB", MAP),
    }
    assert await running.publish(declared(A)) == 0
    del redis.db("STATE_DB")["VRF_TABLE|Vrf1"]
    redis.invalidate(["VRF_TABLE|Vrf1"])
    await wait_until_async(lambda: redis.db("STATE_DB").get("VRF_TABLE|Vrf1") == {"state": "ok"})
    await running.publish((Desired(), {}))
    assert rows_in(redis) == {
        ("APPL_DB", "ROUTE_TABLE:10.0.0.0/8"): {"ifname": "Ethernet0"},
        ("COUNTERS_DB", MAP): {A: "oid:0x54000000999999", "x": "oid:0x1"},
    }
    assert running.publisher.foreign == frozenset()


async def test_counters_latest_wins_and_equal_ones_are_not_written(running: Running) -> None:
    await running.publish(declared(A, B))
    for packets in range(1, 6):
        running.publisher.publish_counters({A: SidCounters(packets, packets * 100, 1)})
    await running.settled()
    oid = running.redis.db("COUNTERS_DB")[MAP][A]
    assert running.redis.db("COUNTERS_DB")[f"COUNTERS:{oid}"] == {
        "SAI_COUNTER_STAT_PACKETS": "5",
        "SAI_COUNTER_STAT_BYTES": "500",
        "SRV6MGR_STAT_ERRORS": "1",
    }
    before = running.publisher.writes
    running.publisher.publish_counters({A: SidCounters(5, 500, 1)})
    await running.settled()
    assert running.publisher.writes == before
    # The first sample has brought one row only: B has none before its own.
    assert len([k for k in running.redis.db("COUNTERS_DB") if k.startswith("COUNTERS:")]) == 1


async def test_counters_are_written_once_per_interval(running: Running) -> None:
    await running.publish(declared(A))
    before = running.publisher.writes
    loop = asyncio.get_running_loop()
    start = loop.time()
    for packets in range(40):
        running.publisher.publish_counters({A: SidCounters(packets)})
        await asyncio.sleep(0.002)
    await running.settled()
    assert running.publisher.writes - before <= (loop.time() - start) / 0.01 + 1


async def test_counterpoll_srv6(running: Running) -> None:
    """``counterpoll srv6 disable`` takes counters and their names away, ``enable`` brings them."""
    config, counters = running.redis.db("CONFIG_DB"), running.redis.db("COUNTERS_DB")
    await running.publish(declared(A))
    running.publisher.publish_counters({A: SidCounters(1, 2, 3)})
    await running.settled()
    oid = counters[MAP][A]
    assert f"COUNTERS:{oid}" in counters
    config["FLEX_COUNTER_TABLE|SRV6"] = {"FLEX_COUNTER_STATUS": "disable", "POLL_INTERVAL": "1000"}
    running.redis.invalidate(["FLEX_COUNTER_TABLE|SRV6"])
    await wait_until_async(lambda: MAP not in counters and f"COUNTERS:{oid}" not in counters)
    running.publisher.publish_counters({A: SidCounters(4, 5, 6)})
    await running.settled()
    assert f"COUNTERS:{oid}" not in counters
    # The SID itself stays.
    assert running.redis.db("APPL_DB")["SRV6_MY_SID_TABLE:32:16:16:0:fc00:0:1:a::"]
    config["FLEX_COUNTER_TABLE|SRV6"] = {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "10"}
    running.redis.invalidate(["FLEX_COUNTER_TABLE|SRV6"])
    await wait_until_async(lambda: A in counters.get(MAP, {}))
    running.publisher.publish_counters({A: SidCounters(7, 8, 9)})
    await running.settled()
    assert counters[f"COUNTERS:{counters[MAP][A]}"]["SAI_COUNTER_STAT_PACKETS"] == "7"


async def test_the_interval_of_counterpoll_is_that_of_sids_alone(running: Running) -> None:
    """States of services do not wait for it, and a shorter one counts at once."""
    config, counters = running.redis.db("CONFIG_DB"), running.redis.db("COUNTERS_DB")
    config["FLEX_COUNTER_TABLE|SRV6"] = {"POLL_INTERVAL": "600000"}
    await running.publish(declared(A))
    running.publisher.publish_counters({A: SidCounters(1, 2, 3)})
    await running.settled()
    vrf = ObjectRef(Kind.VRF, "Vrf1")
    running.publisher.publish_services({vrf: ServiceReport(ServiceState.UP, 0)})
    await running.settled()
    assert ("STATE_DB", "SRV6MGR_SERVICE|vrf|Vrf1") in rows_in(running.redis)
    running.publisher.publish_counters({A: SidCounters(4, 5, 6)})
    config["FLEX_COUNTER_TABLE|SRV6"] = {"POLL_INTERVAL": "100"}
    running.redis.invalidate(["FLEX_COUNTER_TABLE|SRV6"])
    await running.settled()
    assert counters[f"COUNTERS:{counters[MAP][A]}"]["SAI_COUNTER_STAT_PACKETS"] == "4"


@pytest.mark.parametrize(
    ("text", "interval"), [("", None), ("x", None), ("10000", 10.0), ("0", 0.1), ("9" * 30, None)]
)
def test_the_interval_of_counterpoll(text: str, interval: float | None) -> None:
    assert poll({"POLL_INTERVAL": text}).interval == interval


async def test_counters_stand_until_the_first_sample_after_a_restart() -> None:
    redis = FakeRedis()
    first = Running(redis)
    first.publisher.publish_counters({A: SidCounters(9, 900, 0)})
    await first.publish(declared(A))
    await first.stop()
    before = rows_in(redis)
    second = Running(redis)
    assert await second.publish(declared(A)) == 0
    assert rows_in(redis) == before
    await second.stop()


@settings(max_examples=50, deadline=None)
@given(st.lists(states(), min_size=1, max_size=4))
def test_redis_holds_what_was_published_last(steps: list[State]) -> None:
    async def play() -> None:
        redis = FakeRedis()
        r = Running(redis)
        for state in steps:
            wanted = project(*state)
            r.publisher.publish_counters({p: SidCounters(1, 2, 3) for p in wanted.counted})
            await r.publish(state)
            found = rows_in(redis)
            own = {k: f for k, f in found.items() if k[0] != "COUNTERS_DB"}
            assert own == dict(wanted.rows)
            names = found.get(("COUNTERS_DB", MAP), {})
            assert set(names) == set(wanted.counted.values())
            assert len(set(names.values())) == len(names)
            counted = {k for db, k in found if k.startswith("COUNTERS:")}
            assert counted == {f"COUNTERS:{oid}" for oid in names.values()}
            assert await r.publish(state) == 0
        await r.stop()

    asyncio.run(play())


async def test_a_proxy_is_shown_as_long_as_it_stands(running: Running) -> None:
    await running.publish(declared(A))
    counts = ProxyCounts(to_packets=7, nothing_learned=2)
    source, segments = IPv6Address("fc00::1"), (IPv6Address("fc00:2::"), IPv6Address("fc00:3::"))
    state = ProxyState(counts, source, segments, learned=1_800_000_000_000_000_000, mtu=1446)

    running.publisher.publish_proxies({IPv6Network(A): state})
    await running.settled()

    row = rows_in(running.redis)["STATE_DB", f"SRV6MGR_PROXY|{A}"]
    assert rows.PROXY.faults(f"SRV6MGR_PROXY|{A}", row) == []
    assert (row["to_packets"], row["nothing_learned"], row["mtu"]) == ("7", "2", "1446")
    assert (row["source"], row["segments"]) == ("fc00::1", "fc00:2::,fc00:3::")
    assert row["learned"] == "2027-01-15T08:00:00.000000Z"
    # It stays through a commit, and through a Redis that lost all.
    await running.publish(declared(A, B))
    assert rows_in(running.redis)["STATE_DB", f"SRV6MGR_PROXY|{A}"] == row
    running.publisher.publish_proxies({})
    await running.settled()
    assert ("STATE_DB", f"SRV6MGR_PROXY|{A}") not in rows_in(running.redis)


async def test_active_alarms(running: Running) -> None:
    await running.publish(declared(A))
    at = 1_800_000_000_000_000_000
    path = "/srv6mgr-srv6:srv6/vrfs/vrf[name='red|blue']"
    one = ActiveAlarm("bgp-session-down", path, Severity.MAJOR, "idle; see its peer", at)
    running.publisher.publish_alarms([one])
    await running.settled()
    key = "STATE_DB", f"SRV6MGR_ALARM|bgp-session-down|{path}"
    row = rows_in(running.redis)[key]
    assert rows.ALARM.faults(key[1], row) == []
    assert row == {
        "type-id": "bgp-session-down",
        "resource": path,
        "text": "idle; see its peer",
        "severity": "MAJOR",
        "time-created": str(at),
        "acknowledged": "false",
        "owner": "srv6mgr",
    }
    running.publisher.publish_alarms([replace(one, acknowledged=at + 1)])
    await running.settled()
    row = rows_in(running.redis)[key]
    assert (row["acknowledged"], row["acknowledge-time"]) == ("true", str(at + 1))
    running.publisher.publish_alarms([])
    await running.settled()
    assert key not in rows_in(running.redis)


async def test_state_of_services(running: Running) -> None:
    await running.publish(declared(A))
    condition = Condition(
        ConditionType.VRF_INTERFACE_DOWN, "/path", Severity.MAJOR, "eth1 is down", "set it up"
    )
    at = 1_800_000_000_000_000_000
    vrf, sid = ObjectRef(Kind.VRF, "Vrf1"), ObjectRef(Kind.SID, A)
    down = ServiceReport(ServiceState.DOWN, at, condition)
    running.publisher.publish_services({vrf: down, sid: down})
    await running.settled()

    for name in (f"SRV6MGR_SERVICE|vrf|{vrf.name}", f"SRV6MGR_SERVICE|sid|{A}"):
        row = rows_in(running.redis)["STATE_DB", name]
        assert rows.SERVICE.faults(name, row) == []
        assert row == {
            "state": "down",
            "condition": "vrf-interface-down",
            "severity": "major",
            "cause": "eth1 is down",
            "remedy": "set it up",
            "since": "2027-01-15T08:00:00.000000Z",
            "owner": "srv6mgr",
        }
    running.publisher.publish_services({vrf: ServiceReport(ServiceState.UP, at)})
    await running.settled()
    found = rows_in(running.redis)
    assert found["STATE_DB", "SRV6MGR_SERVICE|vrf|Vrf1"] == {
        "state": "up",
        "since": "2027-01-15T08:00:00.000000Z",
        "owner": "srv6mgr",
    }
    assert ("STATE_DB", f"SRV6MGR_SERVICE|sid|{A}") not in found
