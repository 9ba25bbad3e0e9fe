"""The protocol of ProducerStateTable and ConsumerStateTable, as our scripts speak it.

What is expected was written from the behavior of sonic-swss-common (common/producerstatetable.cpp,
common/consumer_state_table_pops.lua).
"""

from __future__ import annotations

import json

import pytest
import redis

from lab.waiting import wait_until_async
from srv6mgrd.redis.schema import script
from srv6mgrd.redis.wire import Settings
from tests.contract.redis.conftest import Running, Server, publisher
from tests.contract.redis.test_publish import A, B, declared

pytestmark = pytest.mark.contract

T = "SRV6_MY_SID_TABLE"
KEY = "32:16:16:0:fc00:0:1:e000::"
ROW = f"{T}:{KEY}"


class Table:
    """Both sides of the table, and somebody who listens to its channel."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        self.channel = client.pubsub()
        self.channel.subscribe(f"{T}_CHANNEL@0")
        assert self.channel.get_message(timeout=5)["type"] == "subscribe"

    def produce(self, *operations: list[object]) -> None:
        self.client.eval(script("produce"), 0, 0, json.dumps(operations))

    def set(self, *flat: str, key: str = KEY) -> None:
        self.produce(["set", f"{T}:{key}", list(flat)])

    def drop(self, key: str = KEY) -> None:
        self.produce(["del", f"{T}:{key}"])

    def pop(self, count: int = 128) -> dict[str, dict[str, str]]:
        popped = json.loads(self.client.eval(script("pop"), 0, T, count))
        return {key: dict(fields) for key, fields in popped}

    def messages(self) -> list[str]:
        out = []
        while message := self.channel.get_message(timeout=0.05):
            out.append(message["data"])
        return out

    def left(self) -> set[str]:
        return set(self.client.keys("*"))


@pytest.fixture
def table(server: Server) -> Table:
    return Table(server.client("APPL_DB"))


def test_a_set_waits_until_it_is_popped(table: Table) -> None:
    table.set("action", "end")
    assert table.left() == {f"{T}_KEY_SET", f"_{ROW}"}
    assert table.pop() == {KEY: {"action": "end"}}
    assert table.left() == {ROW}
    assert table.client.hgetall(ROW) == {"action": "end"}
    assert table.pop() == {}


def test_sets_merge_and_are_reported_once(table: Table) -> None:
    table.set("action", "end.dt46")
    table.set("vrf", "Vrf1")
    assert table.messages() == ["G"]
    assert table.pop() == {KEY: {"action": "end.dt46", "vrf": "Vrf1"}}
    table.set("vrf", "Vrf2")
    assert table.messages() == ["G"]


def test_stale_fields_stay_in_the_row_but_are_not_handed_over(table: Table) -> None:
    table.set("action", "end.dt46", "vrf", "Vrf1")
    table.pop()
    table.set("action", "end")
    assert table.pop() == {KEY: {"action": "end"}}
    assert table.client.hgetall(ROW) == {"action": "end", "vrf": "Vrf1"}


def test_a_del_and_a_set_collapse_into_a_set(table: Table) -> None:
    table.set("action", "end.dt46", "vrf", "Vrf1")
    table.pop()
    table.drop()
    table.set("action", "end")
    assert table.pop() == {KEY: {"action": "end"}}
    assert table.client.hgetall(ROW) == {"action": "end"}
    assert table.left() == {ROW}


def test_a_set_and_a_del_are_a_del(table: Table) -> None:
    table.set("action", "end")
    table.drop()
    assert table.pop() == {KEY: {}}
    assert table.left() == set()


def test_pops_are_bounded(table: Table) -> None:
    for n in range(5):
        table.set("action", "end", key=f"32:16:16:0:fc00:{n}::")
    assert [len(table.pop(2)) for _ in range(4)] == [2, 2, 1, 0]


def test_what_waits_outlives_both_sides(table: Table, server: Server) -> None:
    table.set("action", "end")
    again = Table(server.client("APPL_DB"))
    assert again.pop() == {KEY: {"action": "end"}}


def test_a_key_of_another_type_harms_nobody(table: Table) -> None:
    table.client.set(ROW, "text")
    table.drop()
    table.set("action", "end")
    assert table.pop() == {KEY: {"action": "end"}}


# srv6mgrd is such a producer while somebody consumes, and only then.

SIDS = {f"{T}:32:16:16:0:{p.partition('/')[0]}" for p in (A, B)}


async def test_srv6mgrd_produces_for_a_consumer(server: Server, running: Running) -> None:
    table = Table(server.client("APPL_DB"))
    await running.publish(declared(A))
    row = f"{T}:32:16:16:0:fc00:0:1:a::"
    assert not table.client.exists(row)
    assert list(table.pop().values()) == [{"action": "end.dt46", "vrf": "Vrf1"}]
    assert table.client.hgetall(row) == {"action": "end.dt46", "vrf": "Vrf1"}
    # The same again, and another: only that is reported.
    await running.publish(declared(A, B))
    assert list(table.pop()) == ["32:16:16:0:fc00:0:1:b::"]
    await running.publish(declared(B))
    assert table.pop() == {"32:16:16:0:fc00:0:1:a::": {}}


async def test_what_waits_for_a_consumer_that_is_gone(server: Server, settings: Settings) -> None:
    table = Table(server.client("APPL_DB"))
    async with publisher(settings) as first:
        await first.publish(declared(A, B))
        table.pop(1)
        await first.publish(declared(A, B))
    table.channel.close()
    await wait_until_async(lambda: table.client.pubsub_numsub(f"{T}_CHANNEL@0")[0][1] == 0)
    async with publisher(settings) as second:
        await second.publish(declared(B))
        assert table.pop() == {}
        assert {k for k in table.left() if T in k} == {f"{T}:32:16:16:0:fc00:0:1:b::"}
        await second.publish(declared())
    assert not {k for k in table.left() if T in k}


async def test_rows_that_wait_are_not_written_again(server: Server, settings: Settings) -> None:
    table = Table(server.client("APPL_DB"))
    async with publisher(settings) as first:
        await first.publish(declared(A, B))
    async with publisher(settings) as second:
        await second.publish(declared(A, B))
        assert second.publisher.writes == 0
        await second.publish(declared(B))
    # A removal that nobody took is not forgotten over a restart.
    async with publisher(settings) as third:
        await third.publish(declared(B))
    popped = table.pop()
    assert {key: bool(fields) for key, fields in popped.items()} == {
        "32:16:16:0:fc00:0:1:a::": False,
        "32:16:16:0:fc00:0:1:b::": True,
    }
