"""sysrepo's diffs of SIDs: what srv6mgrd and its history make of them is what runs."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.datastore.history import Origin
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.parse import parse
from srv6mgrd.model.sid_changes import SidChange, declared_with, is_same
from tests.contract.datastore.coordinator_world import Manager, World

BASE: dict[str, dict[str, Any]] = {
    "srv6mgr-srv6:srv6": {
        "locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]},
        "vrfs": {"vrf": [{"name": "red", "table-id": 10}, {"name": "blue", "table-id": 20}]},
    }
}


class Following(Manager):
    """Knows what is declared, from the changes where it can."""

    def __init__(self) -> None:
        super().__init__()
        self.declared = Desired()
        self.from_changes = 0

    def change(self, tree: Mapping[str, Any], *, rollback: bool = False) -> int:
        self.declared = parse(tree)
        return super().change(tree, rollback=rollback)

    def change_sids(self, changes: Sequence[SidChange], *, rollback: bool = False) -> int | None:
        after = declared_with(self.declared, changes)
        if after is None:
            return None
        self.declared = after
        self.from_changes += 1
        return 1


@pytest.fixture
async def world(place: Path) -> AsyncIterator[World]:
    made = World(manager=Following())
    yield made
    await asyncio.to_thread(made.running.replace, "{}", Origin("test"))
    await made.close()


def entry(n: int, draw: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"prefix": f"fcbb:0:1:{n:x}::/64", "locator": "MAIN"}
    match draw.randrange(4):
        case 0:
            made["behavior"] = "End"
        case 1:
            made |= {"behavior": "End.DT46", "vrf": draw.choice(["red", "blue"])}
        case 2:
            made |= {"behavior": "End.X", "next-hop": draw.choice(["2001:db8::1", "2001:db8::2"])}
        case _:
            made |= {"behavior": "End", "flavor": ["psp"]}
    if draw.randrange(2):
        made["counters"] = draw.choice([True, False])
    return made


async def test_one_change_after_the_other_is_what_runs(world: World) -> None:
    manager = world.manager
    assert isinstance(manager, Following)
    draw, sids = random.Random(1), dict[int, dict[str, Any]]()
    await world.edit(BASE)
    for _ in range(40):
        n = draw.randrange(1, 8)
        if sids.pop(n, None) is None or draw.randrange(3):
            sids[n] = entry(n, draw)
        listed = {"local-sids": {"sid": [*sids.values()]}} if sids else {}
        await world.edit({"srv6mgr-srv6:srv6": BASE["srv6mgr-srv6:srv6"] | listed})

        running = await world.read()
        assert manager.declared == parse(running)
        (latest, *_) = world.history.transactions()
        recorded = await asyncio.wrap_future(world.history.configuration(latest.id))
        assert recorded is not None
        assert is_same(json.loads(recorded), running), (recorded, json.dumps(running))
    assert manager.from_changes > 20


async def test_what_changes_more_than_sids_is_read(world: World) -> None:
    manager = world.manager
    assert isinstance(manager, Following)
    await world.edit(BASE)
    before = manager.from_changes

    srv6 = BASE["srv6mgr-srv6:srv6"]
    more = {**srv6, "local-sids": {"sid": [entry(1, random.Random(3))]}, "segment-lists": {}}
    more["vrfs"] = {"vrf": [{"name": "red", "table-id": 11}]}
    await world.edit({"srv6mgr-srv6:srv6": more})

    assert manager.from_changes == before
    assert manager.declared == parse(await world.read())
