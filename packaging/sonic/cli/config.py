"""``config srv6`` of SONiC with srv6mgr: a plug-in of sonic-utilities.

Each command writes or removes one row of CONFIG_DB; what became of it, ``show srv6 config-status``
says. One file that imports nothing of srv6mgr: SONiC copies it to the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

# Tables, what their keys consist of, and the fields that may be given; names of lists end with '@'.
TABLES: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "locator": (
        "SRV6_MY_LOCATORS",
        ("name",),
        ("prefix", "block_len", "node_len", "func_len", "arg_len"),
    ),
    "sid": (
        "SRV6_MY_SIDS",
        ("locator", "prefix"),
        ("action", "decap_vrf", "decap_dscp_mode", "interface", "adj"),
    ),
    "source": ("SRV6_MY_SOURCE", ("name",), ("source-address",)),
    "segment-list": ("SRV6MGR_SEGMENT_LIST", ("name",), ("path",)),
    "steering": (
        "SRV6MGR_STEERING",
        ("vrf", "prefix"),
        ("segment_list", "behavior", "seg_src", "interface"),
    ),
    "proxy": (
        "SRV6MGR_PROXY",
        ("locator", "prefix"),
        (
            "behavior",
            "inner_type",
            "interface",
            "return_interface",
            "adj",
            "segment_list",
            "seg_src",
        ),
    ),
    "interface": ("SRV6MGR_INTERFACE", ("interface",), ("role",)),
    "vpn": ("SRV6MGR_VPN", ("vrf",), ("rd", "rt_import", "rt_export", "export_sid")),
    "accounting": ("SRV6MGR_ACCOUNTING", ("name",), ("enabled",)),
    "service-function": (
        "SRV6MGR_SERVICE_FUNCTION",
        ("name",),
        (
            "locator",
            "sid_function",
            "inner_type@",
            "interface",
            "return_interface",
            "ipv4_next_hop",
            "ipv6_next_hop",
            "return_ipv4_next_hop",
            "return_ipv6_next_hop",
            "mtu",
            "weight",
            "drain",
            "health_check",
            "health_interval",
            "health_failures",
            "health_successes",
        ),
    ),
    "function-sid": (
        "SRV6MGR_FUNCTION_SID",
        ("function", "address"),
        ("inner_type@", "direction@"),
    ),
    "service-function-group": ("SRV6MGR_SERVICE_FUNCTION_GROUP", ("name",), ("functions@",)),
    "service-function-chain": (
        "SRV6MGR_SERVICE_FUNCTION_CHAIN",
        ("name",),
        ("forward_vrf", "forward_segments@", "reverse_vrf", "reverse_segments@", "fallback_chain"),
    ),
    "chain-hop": (
        "SRV6MGR_CHAIN_HOP",
        ("chain", "index"),
        ("service_function", "service_function_group", "on_failure"),
    ),
    "classifier": ("SRV6MGR_CLASSIFIER", ("name",), ("vrf", "interfaces@")),
    "classifier-rule": (
        "SRV6MGR_CLASSIFIER_RULE",
        ("classifier", "priority"),
        (
            "inner_type",
            "source_prefix",
            "destination_prefix",
            "protocol",
            "source_port",
            "destination_port",
            "dscp",
            "mark",
            "service_function_chain",
            "direction",
        ),
    ),
}

Write = Callable[[str, str, Mapping[str, str] | None], None]


def _connect() -> Write:
    """CONFIG_DB, by swsscommon, which is on SONiC's host alone."""
    from swsscommon.swsscommon import ConfigDBConnector

    config = ConfigDBConnector()
    config.connect()

    def write(table: str, key: str, fields: Mapping[str, str] | None) -> None:
        config.set_entry(table, key, fields)

    return write


def _add(table: str, parts: tuple[str, ...], fields: tuple[str, ...]) -> click.Command:
    def add(**given: Any) -> None:
        key = "|".join(given[f"key_{part}"] for part in parts)
        found = {name: given[_parameter(name)] for name in fields}
        row = {name: value for name, value in found.items() if value is not None}
        (click.get_current_context().obj or _connect())(table, key, row or {"NULL": "NULL"})

    options = [click.Option([_option(name), _parameter(name)]) for name in fields]
    return click.Command("add", callback=add, params=[*_arguments(parts), *options])


def _remove(table: str, parts: tuple[str, ...]) -> click.Command:
    def remove(**given: Any) -> None:
        key = "|".join(given[f"key_{part}"] for part in parts)
        (click.get_current_context().obj or _connect())(table, key, None)

    return click.Command("del", callback=remove, params=list(_arguments(parts)))


def _arguments(parts: tuple[str, ...]) -> list[click.Argument]:
    return [click.Argument([f"key_{part}"], metavar=f"<{part}>") for part in parts]


def _option(field: str) -> str:
    return f"--{field.rstrip('@').replace('_', '-')}"


def _parameter(field: str) -> str:
    return f"field_{field.rstrip('@').replace('-', '_')}"


def register(cli: click.Group) -> None:
    """Called by sonic-utilities with the group ``config``."""
    group = cli.commands.get("srv6")
    if not isinstance(group, click.Group):
        group = click.Group("srv6", help="SRv6 configuration")
        cli.add_command(group)
    for name, (table, parts, fields) in TABLES.items():
        commands = [_add(table, parts, fields), _remove(table, parts)]
        if name not in group.commands:
            group.add_command(click.Group(name, commands=commands, help=f"Rows of {table}"))
