"""Readers as stock SONiC has them, written from their documented lookups."""

from __future__ import annotations

import redis


def show_srv6_stats(client: redis.Redis, sid: str | None = None) -> list[tuple[str, int, int]]:
    """`show srv6 stats [SID]`: name map, then COUNTERS:<oid>; SIDs without counters are left out
    (sonic-utilities utilities_common/srv6stat.py)."""
    if not client.exists("COUNTERS_SRV6_NAME_MAP"):
        return []
    if sid is not None:
        oid = client.hget("COUNTERS_SRV6_NAME_MAP", sid)
        names = {sid: oid} if oid else {}
    else:
        names = client.hgetall("COUNTERS_SRV6_NAME_MAP")
    table = []
    for name, oid in names.items():
        stats = client.hgetall(f"COUNTERS:{oid}")
        if stats:
            packets, octets = stats["SAI_COUNTER_STAT_PACKETS"], stats["SAI_COUNTER_STAT_BYTES"]
            table.append((name, int(packets), int(octets)))
    return sorted(table)


def show_dropcounters_counts(client: redis.Redis, switch: str) -> dict[str, int]:
    """`show dropcounters counts` of the switch: fields by name, then its row; ``switch`` is its
    identifier in ASIC_DB (sonic-utilities scripts/dropstat, show_switch_drop_counts)."""
    stats = client.hgetall("COUNTERS_DEBUG_NAME_SWITCH_STAT_MAP")
    names = {stat: name for name, stat in stats.items() if "SWITCH_ID" not in name}
    row = f"COUNTERS:{switch}"
    return {name: int(client.hget(row, stat) or 0) for stat, name in names.items()}


class GnmiSid:
    """sonic-gnmi's COUNTERS/SID*: the map is read once (sonic_data_client/virtual_db.go)."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._names: dict[str, str] = client.hgetall("COUNTERS_SRV6_NAME_MAP")

    def get(self, element: str) -> dict[str, dict[str, str]]:
        """``SID*`` for all, ``SID:<sid>`` for one; LookupError as its NotFound."""
        if element == "SID*":
            return {n: self._client.hgetall(f"COUNTERS:{o}") for n, o in self._names.items()}
        name = element.removeprefix("SID:")
        return {name: self._client.hgetall(f"COUNTERS:{self._names[name]}")}


def srv6_orch(client: redis.Redis) -> dict[str, tuple[tuple[int, ...], dict[str, str]]]:
    """SRV6_MY_SID_TABLE as Srv6Orch cuts its keys: four lengths, the rest is the SID
    (sonic-swss orchagent/srv6orch.cpp, doTaskMySidTable)."""
    out = {}
    for key in client.keys("SRV6_MY_SID_TABLE:*"):
        *lengths, sid = key.split(":", 5)[1:]
        out[sid] = (tuple(map(int, lengths)), client.hgetall(key))
    return out
