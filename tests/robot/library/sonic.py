"""SONiC's tables in Redis, read as stock SONiC reads them."""

from __future__ import annotations

import functools
from typing import Any

import redis
from robot.api.deco import library

from lab.waiting import wait_until
from tests.contract.redis.readers import show_srv6_stats, srv6_orch
from tests.robot.library import traffic
from tests.robot.library.network import node

APPL_DB, COUNTERS_DB, STATE_DB = 0, 2, 6


@functools.cache
def client(name: str, db: int) -> redis.Redis:
    path = node(name).path("/run/redis/redis.sock")
    return redis.Redis(unix_socket_path=str(path), db=db, decode_responses=True, protocol=2)


def dump(name: str) -> dict[str, Any]:
    """All keys of all databases with their values; counters, which change, left out."""
    out: dict[str, Any] = {}
    for db in range(16):
        reader = client(name, db)
        for key in sorted(reader.scan_iter()):
            kind = reader.type(key)
            if key.startswith("COUNTERS:"):
                out[f"{db} {key}"] = "..."
            elif kind == "hash":
                out[f"{db} {key}"] = reader.hgetall(key)
            elif kind == "set":
                out[f"{db} {key}"] = sorted(reader.smembers(key))
            else:
                out[f"{db} {key}"] = reader.get(key)
    return out


@library(scope="GLOBAL", auto_keywords=True)
class Sonic:
    """Rows that SONiC's readers find."""

    def orchagent_sees(self, name: str, sid: str) -> dict[str, str]:
        """Row of a SID in APPL_DB, its key cut as orchagent cuts it."""
        found = srv6_orch(client(name, APPL_DB))
        if sid not in found:
            raise AssertionError(f"{name}: no row of {sid}; there are {', '.join(found)}")
        lengths, row = found[sid]
        return {"lengths": " ".join(map(str, lengths)), **row}

    def state_row(self, name: str, key: str) -> dict[str, str]:
        """A row of STATE_DB."""
        row: dict[str, str] = client(name, STATE_DB).hgetall(key)
        return row

    def sonic_tells_the_same_counters(self, name: str, prefix: str) -> None:
        """``show srv6 stats`` shows packets and bytes as gNMI reports them."""

        def same() -> bool:
            reported = traffic.counters(name, prefix)
            shown = show_srv6_stats(client(name, COUNTERS_DB), prefix)
            return shown == [(prefix, reported.packets, reported.octets)]

        wait_until(same, f"{name}: SONiC's counters of {prefix} as gNMI's", 3, 0.05)

    def rows_naming(self, name: str, *words: str) -> list[str]:
        """Keys with one of the words in them or in their values (``DB KEY``)."""
        return naming(dump(name), *words)

    def wait_for_no_row_naming(self, name: str, *words: str, timeout: float = 5) -> None:
        """Wait until no key and no value has one of the words."""
        wait_until(lambda: not naming(dump(name), *words), f"{name}: no row of {words}", timeout)

    def redis_rows(self, name: str) -> dict[str, Any]:
        """All keys with their values, counters left out."""
        return dump(name)

    def wait_for_redis_rows(self, name: str, rows: dict[str, Any], timeout: float = 10) -> None:
        """Wait until Redis holds exactly these keys and values, but for the counter that object
        identifiers are taken from."""

        def wrong() -> list[str]:
            now = _safely(name)
            differ = [k for k in now.keys() | rows.keys() if now.get(k) != rows.get(k)]
            return sorted(k for k in differ if "VIDCOUNTER" not in k)

        try:
            wait_until(lambda: not wrong(), f"{name}: rows in Redis", timeout, 0.05)
        except Exception:
            raise AssertionError(f"{name}: rows differ: {wrong()}") from None

    def flush_redis(self, name: str) -> None:
        """FLUSHALL."""
        client(name, APPL_DB).flushall()


def naming(rows: dict[str, Any], *words: str) -> list[str]:
    """Keys of rows that have one of the words in key or value. Pure."""
    return [key for key, value in rows.items() if any(w in f"{key} {value}" for w in words)]


def _safely(name: str) -> dict[str, Any]:
    try:
        return dump(name)
    except redis.ConnectionError:
        return {}
