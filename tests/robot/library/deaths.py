"""srv6mgrd killed inside large commits, over each northbound."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from robot.api import logger
from robot.api.deco import library

from examples.gnmi import GnmiError
from lab.guest.nodes import Node
from lab.waiting import wait_until
from tests.robot.library.gnmi import CONFIGURATIONS, SRV6
from tests.robot.library.gnmi import Session as GnmiSession
from tests.robot.library.netconf import ADDRESSES, NetconfError, as_xml
from tests.robot.library.netconf import Session as NetconfSession
from tests.robot.library.network import node, router
from tests.robot.library.sonic import client as redis_client

LARGE = 5_000
CONFIG_DB = 4
# Seconds until a client has its answer, and from the start until the next change is accepted, while
# other labs keep all CPUs busy. On an idle machine it is 0.1 s and 1 s (docs/adr/0024).
NOTICED, WRITABLE = 5.0, 30.0
_LOCATOR = "fcbb:0:1"
# A row owns its locator: that of the example is gNMI's.
_OF_ROWS = "fcbb:0:77"


def _sids(count: int, first: int = 0x1000, locator: str = _LOCATOR) -> list[str]:
    return [f"{locator}:{first + n:x}::/64" for n in range(count)]


def _tree(prefixes: Sequence[str]) -> str:
    entries = [{"prefix": p, "locator": "MAIN", "behavior": "End"} for p in prefixes]
    return json.dumps({"srv6mgr-srv6:srv6": {"local-sids": {"sid": entries}}})


class Northbound(Protocol):
    """A client of a node. ``add`` raises Failed when the SIDs were not accepted."""

    def add(self, prefixes: Sequence[str]) -> None: ...

    def end(self) -> None: ...


class Failed(Exception):
    """A change that was answered with an error."""


class OverGnmi:
    def __init__(self, name: str) -> None:
        self._session = GnmiSession(node(name))

    def add(self, prefixes: Sequence[str]) -> None:
        tree = json.loads(_tree(prefixes))["srv6mgr-srv6:srv6"]["local-sids"]
        try:
            self._session.set(update=[(f"{SRV6}/local-sids", tree)])
        except GnmiError as error:
            raise Failed(str(error)) from error

    def end(self) -> None:
        self._session.end()


class OverNetconf:
    def __init__(self, name: str) -> None:
        self._session = NetconfSession(node("p"), ADDRESSES[name])

    def add(self, prefixes: Sequence[str]) -> None:
        try:
            self._session.call("edit_config", target="running", config=as_xml(_tree(prefixes)))
        except NetconfError as error:
            raise Failed(str(error)) from error

    def end(self) -> None:
        self._session.end()


class OverCtl:
    def __init__(self, name: str) -> None:
        self._node: Node = node(name)

    def add(self, prefixes: Sequence[str]) -> None:
        self._node.write_file("/tmp/deaths.json", _tree(prefixes))
        done = self._node.run(["srv6ctl", "apply", "/tmp/deaths.json"], check=False)
        if done.returncode:
            raise Failed(done.stderr)

    def end(self) -> None: ...


class OverConfigDb:
    """Rows are accepted by Redis at once; srv6-configdbd goes on until they are carried out."""

    def __init__(self, name: str) -> None:
        self._redis = redis_client(name, CONFIG_DB)
        self._name = name

    def add(self, prefixes: Sequence[str]) -> None:
        pipeline = self._redis.pipeline()
        # Else an empty database is taken for one that was lost.
        pipeline.set("CONFIG_DB_INITIALIZED", "1")
        pipeline.hset("SRV6_MY_LOCATORS|ROWS", mapping={"prefix": f"{_OF_ROWS}::"})
        for prefix in prefixes:
            pipeline.hset(f"SRV6_MY_SIDS|ROWS|{prefix}", mapping={"action": "uN"})
        pipeline.execute()

    def wait(self, prefixes: Sequence[str], timeout: float) -> None:
        """Until all of them are configured."""
        wanted = set(prefixes)
        wait_until(lambda: wanted <= _configured(self._name), "all rows configured", timeout)

    def remove(self, prefixes: Sequence[str]) -> None:
        rows = (f"SRV6_MY_SIDS|ROWS|{prefix}" for prefix in prefixes)
        self._redis.delete("SRV6_MY_LOCATORS|ROWS", *rows)

    def end(self) -> None:
        self._redis.delete("CONFIG_DB_INITIALIZED")


_OVER: dict[str, Callable[[str], Northbound]] = {
    "gNMI": OverGnmi,
    "NETCONF": OverNetconf,
    "srv6ctl": OverCtl,
}


@library(scope="SUITE", auto_keywords=True)
class Deaths:
    """Kills of srv6mgrd."""

    def only_the_example_is_configured(self, name: str) -> None:
        """Without SIDs of a case before."""
        _remove_all(name)

    def kill_at_each_stage(self, name: str, northbound: str, *stages: str) -> None:
        """Kill srv6mgrd at each stage (0 to 1) of a commit of 5,000 SIDs.

        The client has its answer, the next change is accepted, and the commit is there whole or
        not at all."""
        client = _OVER[northbound](name)
        large = _sids(LARGE)
        begun = time.monotonic()
        client.add(large)
        lasted = time.monotonic() - begun
        logger.console(f"\n  {northbound}: {LARGE} SIDs in {lasted:.1f} s without a kill")
        for number, stage in enumerate(stages):
            _remove_all(name)
            said = _killed_after(name, client, large, lasted * float(stage), number)
            there = _configured(name)
            assert len(there & set(large)) in (0, LARGE), f"{len(there)} of {LARGE} SIDs"
            _wait_for_kernel(name, there)
            logger.console(f"  {northbound}: killed at {stage}: {said}, {len(there)} SIDs")
        _remove_all(name)
        client.end()

    def kill_while_config_db_is_read(self, name: str, count: int = LARGE) -> None:
        """Kill srv6mgrd while rows are carried out: all of them are in the end."""
        database, rows = OverConfigDb(name), _sids(int(count), locator=_OF_ROWS)
        database.add(rows)
        try:
            wait_until(lambda: len(_in_kernel(name)) > 100, f"{name}: the commit has begun", 60)
            router(name).kill("srv6mgrd")
            router(name).start("srv6mgrd")
            database.wait(rows, 90)
        finally:
            database.remove(rows)
        wait_until(lambda: not _configured(name) & set(rows), "no row configured", 90)
        database.end()


def _killed_after(
    name: str, client: Northbound, large: Sequence[str], seconds: float, number: int
) -> str:
    """What the client was answered. The next change is made by another client of the kind."""
    with ThreadPoolExecutor(1) as pool:
        adding: Future[None] = pool.submit(client.add, large)
        time.sleep(seconds)
        router(name).kill("srv6mgrd")
        killed = time.monotonic()
        try:
            adding.result(30)
            said = "done"
        except Failed as failed:
            said = str(failed).splitlines()[-1][:60]
        noticed = time.monotonic() - killed
        assert noticed < NOTICED, f"the client had its answer after {noticed:.1f} s: {said}"
    router(name).start("srv6mgrd")
    ready = time.monotonic()
    small = _sids(1, 0xF00 + number)
    wait_until(lambda: _accepted(client, small), f"{name}: a change is accepted", 30)
    writable = time.monotonic() - ready
    assert writable < WRITABLE, f"a change was accepted {writable:.1f} s after the start"
    return f"answered in {noticed:.1f} s ({said}), writable in {writable:.1f} s"


def _accepted(client: Northbound, prefixes: Sequence[str]) -> bool:
    try:
        client.add(prefixes)
    except Failed:
        return False
    return True


def _remove_all(name: str) -> None:
    """The SIDs of the example alone."""
    example = json.loads((CONFIGURATIONS / f"{name}.json").read_text())
    session = GnmiSession(node(name))
    local = example["srv6mgr-srv6:srv6"]["local-sids"]
    session.set(replace=[(f"{SRV6}/local-sids", local)])
    session.end()


def _configured(name: str) -> set[str]:
    session = GnmiSession(node(name))
    found = session.get(f"{SRV6}/local-sids", kind="config")
    session.end()
    return {sid["prefix"] for sid in found[0]["srv6mgr-srv6:sid"]}


def _wait_for_kernel(name: str, wanted: set[str]) -> None:
    wait_until(lambda: _in_kernel(name) >= wanted, f"{name}: the kernel as configured", 60)


def _in_kernel(name: str) -> set[str]:
    said = node(name).run(["ip", "-6", "-j", "route", "show", "table", "8986"]).stdout
    return {route["dst"] for route in json.loads(said or "[]")}
