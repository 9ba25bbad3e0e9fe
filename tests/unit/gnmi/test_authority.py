"""Who may change anything is asked without holding up who reads."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from srv6mgrd.gnmi.authority import MODULE, Authority
from srv6mgrd.lookups import NoAnswerError
from srv6mgrd.name_service import system_groups

MAY = {
    "groups": {"group": [{"name": "staff", "user-name": ["bob"]}]},
    "rule-list": [
        {"name": "l", "group": ["staff"], "rule": [{"name": "r", "action": "permit"}]},
    ],
}


@pytest.fixture(autouse=True)
def _module(monkeypatch: pytest.MonkeyPatch) -> None:
    """What of libsysrepo's binding is imported, where it is not installed."""
    module = types.ModuleType("sysrepo")
    module.SysrepoNotFoundError = KeyError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sysrepo", module)


class Sysrepo:
    """A connection and its session; a read waits while a commit is under way."""

    def __init__(self) -> None:
        self.nacm: dict[str, Any] = {}
        self.reads = 0
        self.free = threading.Event()
        self.free.set()

    def session(self) -> Sysrepo:
        return self

    @contextmanager
    def get_data_ly(self, _path: str) -> Iterator[Sysrepo]:
        self.reads += 1
        self.free.wait(5)
        yield self

    def print_mem(self, *_: Any, **__: Any) -> str:
        return json.dumps({f"{MODULE}:nacm": self.nacm})


def authority(
    sysrepo: Sysrepo, groups: Callable[[str], frozenset[str]] = lambda _: frozenset()
) -> Authority:
    return Authority(sysrepo, lambda _: None, system_groups(groups))  # type: ignore[arg-type]


async def test_those_who_may_change_nothing_share_one_read() -> None:
    sysrepo = Sysrepo()
    asked = authority(sysrepo)
    await asked.know("guest")
    sysrepo.free.clear()
    waiting = [asyncio.create_task(asked.may_change("guest")) for _ in range(50)]
    await asyncio.sleep(0)
    assert await asyncio.wait_for(asked.may_change("root"), 1)
    sysrepo.free.set()
    assert not any(await asyncio.gather(*waiting))
    # That of the start, the first one's, and one for all who came behind it at most.
    assert sysrepo.reads <= 3
    asked.close()


async def test_a_rule_of_a_moment_ago_counts_though_another_client_left() -> None:
    sysrepo = Sysrepo()
    asked = authority(sysrepo)
    await asked.know("bob")
    sysrepo.free.clear()
    leaves = asyncio.create_task(asked.may_change("bob"))
    stays = asyncio.create_task(asked.may_change("bob"))
    while sysrepo.reads < 2:
        await asyncio.sleep(0.001)
    leaves.cancel()
    await asyncio.sleep(0)
    assert not stays.done()
    sysrepo.nacm = MAY
    sysrepo.free.set()
    assert await stays
    asked.close()


def down(_user: str) -> frozenset[str]:
    raise OSError("the directory is down")


async def test_without_an_answer_rules_by_group_deny_rather_than_permit() -> None:
    sysrepo = Sysrepo()
    sysrepo.nacm = {"write-default": "permit"}
    asked = authority(sysrepo, down)
    with pytest.raises(NoAnswerError, match="user bob: groups: the directory is down; try again"):
        await asked.know("bob")
    assert not asked.permit("bob")(())
    assert not await asked.may_change("bob")
    # The recovery session needs no directory.
    await asked.know("root")
    assert asked.permit("root")(())
    assert await asked.may_change("root")
    asked.close()


async def test_where_groups_of_the_system_do_not_count_nobody_needs_an_answer() -> None:
    sysrepo = Sysrepo()
    sysrepo.nacm = {"enable-external-groups": False}
    asked = authority(sysrepo, down)
    await asked.know("bob")
    assert asked.permit("bob")(())
    asked.close()
