"""``show srv6`` of SONiC with srv6mgr: a plug-in of sonic-utilities.

``show srv6 locators``, ``static-sids`` and ``stats`` are SONiC's own, and read the tables that
srv6mgr writes; on an image without them this has them, with the same columns. One file that imports
nothing of srv6mgr: SONiC copies it to the host.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import click

Fields = Mapping[str, str]
Rows = list[list[Any]]

LOCATORS = ["Locator", "Prefix", "Block Len", "Node Len", "Func Len"]
STATIC_SIDS = ["SID", "Locator", "Action", "Decap DSCP Mode", "Decap VRF", "Offloaded"]
STATS = ["MySID", "Packets", "Bytes"]
STATUS = ["Row", "Status", "Reason"]
SIDS = ["SID", "Status", "ASIC", "Reason"]
ACCOUNTING = ["Direction", "VRF", "Family", "Remote", "Packets", "Inner Bytes", "Outer Bytes"]
SID_LIST_STATS = ["SID List", "Packets", "Bytes"]
DROPS = ["SID", "VRF", "Reason", "Certainty", "Packets"]


def locators(table: Mapping[str, Fields]) -> Rows:
    """Of SRV6_MY_LOCATORS in CONFIG_DB."""
    return [
        [
            name,
            f.get("prefix"),
            f.get("block_len", 32),
            f.get("node_len", 16),
            f.get("func_len", 16),
        ]
        for name, f in sorted(table.items())
    ]


def offloaded(keys: Iterable[str]) -> set[str]:
    """SIDs in ASIC_DB, by the keys of their entries."""
    found = set()
    for key in keys:
        kind, _, entry = key.partition("{")
        if not kind.endswith("SAI_OBJECT_TYPE_MY_SID_ENTRY:"):
            continue
        sid = json.loads("{" + entry)
        lengths = ("locator_block_len", "locator_node_len", "function_len")
        found.add(f"{sid['sid']}/{sum(int(sid[name]) for name in lengths)}")
    return found


def static_sids(table: Mapping[tuple[str, str], Fields], asic: Iterable[str]) -> Rows:
    """Of SRV6_MY_SIDS in CONFIG_DB, by locator and prefix."""
    there = offloaded(asic)
    return [
        [
            prefix,
            locator,
            f.get("action", "N/A"),
            f.get("decap_dscp_mode", "N/A"),
            f.get("decap_vrf", "N/A"),
            prefix in there,
        ]
        for (locator, prefix), f in sorted(table.items(), key=lambda item: item[0][1])
    ]


def stats(names: Fields, counters: Mapping[str, Fields]) -> Rows:
    """Of COUNTERS_SRV6_NAME_MAP and COUNTERS in COUNTERS_DB."""
    rows = []
    for sid, oid in sorted(names.items()):
        if counted := counters.get(f"COUNTERS:{oid}"):
            packets = counted.get("SAI_COUNTER_STAT_PACKETS", "0")
            rows.append([sid, int(packets), int(counted.get("SAI_COUNTER_STAT_BYTES", "0"))])
    return rows


def status(table: Mapping[str, Fields], prefix: str) -> Rows:
    """Of SRV6MGR_CONFIG in STATE_DB: what became of rows of CONFIG_DB."""
    return [
        [key.removeprefix(prefix), f.get("status", ""), f.get("reason", "")]
        for key, f in sorted(table.items())
    ]


def sids(table: Mapping[str, Fields], prefix: str) -> Rows:
    """Of SRV6MGR_SID in STATE_DB."""
    return [
        [
            key.removeprefix(prefix),
            f.get("status", ""),
            f.get("asic", "supported"),
            f.get("reason", ""),
        ]
        for key, f in sorted(table.items())
    ]


def accounting(table: Mapping[str, Fields], prefix: str) -> Rows:
    """Of SRV6MGR_ACCOUNTING in STATE_DB."""
    counts = ("packets", "inner_octets", "outer_octets")
    return [
        # An IPv6 address may be the last part.
        [*key.removeprefix(prefix).split("|", 3), *(int(f.get(name, 0)) for name in counts)]
        for key, f in sorted(table.items())
    ]


def sid_list_stats(table: Mapping[str, Fields], prefix: str) -> Rows:
    """Of SRV6MGR_SIDLIST_COUNTERS in COUNTERS_DB."""
    counts = ("SAI_SRV6_SIDLIST_STAT_OUT_PACKETS", "SAI_SRV6_SIDLIST_STAT_OUT_OCTETS")
    return [
        [key.removeprefix(prefix), *(int(f.get(name, 0)) for name in counts)]
        for key, f in sorted(table.items())
    ]


def drops(table: Mapping[str, Fields], prefix: str) -> Rows:
    """Of SRV6MGR_DROPS in STATE_DB."""
    rows = []
    for key, f in sorted(table.items()):
        sid, _, reason = key.removeprefix(prefix).rpartition("|")
        rows.append([sid, f.get("vrf", ""), reason, f.get("certainty"), int(f.get("packets", 0))])
    return rows


class _Databases:
    """Tables of a namespace, by swsscommon, which is on SONiC's host alone."""

    def __init__(self, namespace: str | None) -> None:
        from swsscommon.swsscommon import ConfigDBConnector, SonicV2Connector

        self._connector = SonicV2Connector(namespace=namespace or "")
        self._config = ConfigDBConnector(namespace=namespace or "")

    def config(self, name: str) -> Any:
        self._config.connect()
        return self._config.get_table(name)

    def keys(self, db: str, pattern: str) -> list[str]:
        self._connector.connect(db)
        return self._connector.keys(db, pattern) or []

    def rows(self, db: str, pattern: str) -> dict[str, Fields]:
        return {key: self.row(db, key) for key in self.keys(db, pattern)}

    def row(self, db: str, key: str) -> Fields:
        self._connector.connect(db)
        return self._connector.get_all(db, key) or {}


def _print(rows: Rows, header: list[str]) -> None:
    from tabulate import tabulate

    click.echo(tabulate(rows, header))


_NAMESPACE = click.option("-n", "--namespace", help="namespace of an ASIC")


@click.command("locators")
@_NAMESPACE
def _locators(namespace: str | None) -> None:
    """Locators that are configured."""
    _print(locators(_Databases(namespace).config("SRV6_MY_LOCATORS")), LOCATORS)


@click.command("static-sids")
@_NAMESPACE
def _static_sids(namespace: str | None) -> None:
    """SIDs that are configured, and whether the ASIC has them."""
    databases = _Databases(namespace)
    asic = databases.keys("ASIC_DB", "*MY_SID_ENTRY*")
    _print(static_sids(databases.config("SRV6_MY_SIDS"), asic), STATIC_SIDS)


@click.command("stats")
@_NAMESPACE
def _stats(namespace: str | None) -> None:
    """Packets and bytes of each SID."""
    databases = _Databases(namespace)
    names = databases.row("COUNTERS_DB", "COUNTERS_SRV6_NAME_MAP")
    keys = [f"COUNTERS:{oid}" for oid in names.values()]
    counters = {key: databases.row("COUNTERS_DB", key) for key in keys}
    _print(stats(names, counters), STATS)


@click.command("config-status")
@_NAMESPACE
def _status(namespace: str | None) -> None:
    """What became of rows of CONFIG_DB, and why."""
    rows = _Databases(namespace).rows("STATE_DB", "SRV6MGR_CONFIG|*")
    _print(status(rows, "SRV6MGR_CONFIG|"), STATUS)


@click.command("sids")
@_NAMESPACE
def _sids(namespace: str | None) -> None:
    """SIDs that srv6mgr serves, static or not."""
    rows = _Databases(namespace).rows("STATE_DB", "SRV6MGR_SID|*")
    _print(sids(rows, "SRV6MGR_SID|"), SIDS)


@click.command("accounting")
@_NAMESPACE
def _accounting(namespace: str | None) -> None:
    """Packets and bytes to and from each remote router, by VRF."""
    rows = _Databases(namespace).rows("STATE_DB", "SRV6MGR_ACCOUNTING|*")
    _print(accounting(rows, "SRV6MGR_ACCOUNTING|"), ACCOUNTING)


@click.command("sid-list-stats")
@_NAMESPACE
def _sid_list_stats(namespace: str | None) -> None:
    """Packets and bytes that left by each segment list."""
    rows = _Databases(namespace).rows("COUNTERS_DB", "SRV6MGR_SIDLIST_COUNTERS:*")
    _print(sid_list_stats(rows, "SRV6MGR_SIDLIST_COUNTERS:"), SID_LIST_STATS)


@click.command("drops")
@_NAMESPACE
def _drops(namespace: str | None) -> None:
    """Why packets to SIDs are dropped."""
    rows = _Databases(namespace).rows("STATE_DB", "SRV6MGR_DROPS|*")
    _print(drops(rows, "SRV6MGR_DROPS|"), DROPS)


_COMMANDS = (
    _locators,
    _static_sids,
    _stats,
    _status,
    _sids,
    _accounting,
    _sid_list_stats,
    _drops,
)


def register(cli: click.Group) -> None:
    """Called by sonic-utilities with the group ``show``."""
    group = cli.commands.get("srv6")
    if not isinstance(group, click.Group):
        group = click.Group("srv6", help="SRv6 information")
        cli.add_command(group)
    for command in _COMMANDS:
        if command.name not in group.commands:
            group.add_command(command)
