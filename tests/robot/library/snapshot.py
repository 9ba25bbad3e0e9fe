"""The whole network state of a node, so that two moments can be compared."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from robot.api import logger
from robot.api.deco import library

from lab.waiting import wait_until
from tests.robot.library import gnmi, sonic
from tests.robot.library.network import node

# Section -> lines in order.
Snapshot = dict[str, list[str]]

_IP = {
    "links": ["ip", "-j", "-d", "link"],
    "addresses": ["ip", "-j", "address"],
    "rules": ["ip", "-j", "-4", "rule"],
    "rules6": ["ip", "-j", "-6", "rule"],
    "routes": ["ip", "-j", "-4", "route", "show", "table", "all"],
    "routes6": ["ip", "-j", "-6", "route", "show", "table", "all"],
    "nexthops": ["ip", "-j", "nexthop"],
}
_TEXTS = {
    "nftables": ["nft", "-s", "list", "ruleset"],
    "encapsulation source": ["ip", "sr", "tunsrc", "show"],
    "FRR": ["vtysh", "-c", "show running-config"],
    "sysctls": [
        "sysctl", "-e", "net.vrf.strict_mode", "net.ipv4.ip_forward",
        "net.ipv6.conf.all.forwarding", "net.ipv6.conf.all.seg6_enabled",
        "net.ipv4.tcp_l3mdev_accept",
        "net.ipv4.udp_l3mdev_accept", "net.ipv4.raw_l3mdev_accept",
    ],
}  # fmt: skip
_SERVICE = "SRV6MGR_SERVICE"
# Raised by what happens to the node, whatever is configured.
_ALARM = "SRV6MGR_ALARM"
# Between the outputs of two commands.
_END = "\f"
# What moves although nobody changes the configuration.
_MOVING = frozenset(
    {"expires", "valid_life_time", "preferred_life_time", "used", "age", "stats64", "stats"}
)


def still(value: Any) -> Any:
    """A value of ``ip -j`` without what moves by itself."""
    if isinstance(value, dict):
        return {k: still(v) for k, v in value.items() if k not in _MOVING}
    if isinstance(value, list):
        return [still(v) for v in value]
    return value


def shelved(entry: Any) -> bool:
    """A next hop object of zebra: it drops one 180 s after its last route went (``zebra
    nexthop-group keep``), in the midst of any test. One in use is seen by its routes, which name
    its id and what it does."""
    return "id" in entry and entry.get("protocol") == "zebra"


def lines_of(entries: Iterable[Any]) -> list[str]:
    """Entries of ``ip -j`` as lines in an order that does not depend on theirs."""
    return sorted(json.dumps(still(entry), sort_keys=True) for entry in entries)


def kernel_lines(shown: str) -> list[str]:
    """What a command of ``ip -j`` showed, as lines, but for what others drop by themselves."""
    return lines_of(entry for entry in json.loads(shown or "[]") if not shelved(entry))


def differences(before: Snapshot, after: Snapshot, leave_out: Iterable[str] = ()) -> list[str]:
    """What is gone (-) and what is new (+), each as ``SECTION: LINE``; those with one of the words
    to leave out in them are passed over."""
    out = []
    for section in before:
        old, new = before[section], after[section]
        out += [f"- {section}: {line}" for line in old if line not in new]
        out += [f"+ {section}: {line}" for line in new if line not in old]
    return [line for line in out if not any(word in line for word in leave_out)]


def rows_as_lines(rows: Mapping[str, Any]) -> list[str]:
    """A Redis that lost all counts identifiers again, and a service that was down is up since
    then."""
    return [
        f"{key} {json.dumps(_lasting(key, value), sort_keys=True)}"
        for key, value in rows.items()
        if "VIDCOUNTER" not in key and _ALARM not in key
    ]


def _lasting(key: str, value: Any) -> Any:
    if _SERVICE in key:
        return {field: member for field, member in value.items() if field != "since"}
    if isinstance(value, list):  # names of our rows
        return [name for name in value if not str(name).startswith(_ALARM)]
    return value


def read(name: str) -> Snapshot:
    commands = [shlex.join(argv) for argv in (*_IP.values(), *_TEXTS.values())]
    shown = node(name).run(["sh", "-ec", f" && printf '{_END}' && ".join(commands)]).stdout
    parts = iter(shown.split(_END))
    taken = {section: kernel_lines(next(parts)) for section in _IP}
    taken |= {section: next(parts).splitlines() for section in _TEXTS}
    taken["Redis"] = rows_as_lines(sonic.dump(name))
    taken["configuration"] = json.dumps(gnmi.declared(name), indent=1, sort_keys=True).splitlines()
    return taken


@library(scope="GLOBAL", auto_keywords=True)
class Snapshots:
    """Proof that nothing has changed."""

    def __init__(self) -> None:
        self._taken: dict[str, Snapshot] = {}

    def remember_the_network(self, name: str) -> None:
        """Remember links, addresses, rules, routes of all tables, nftables, sysctls, FRR's
        configuration, Redis and the configuration of a node."""
        self._taken[name] = read(name)

        def at_rest() -> bool:
            """What a restart or a commit sets in motion has come to an end."""
            before, self._taken[name] = self._taken[name], read(name)
            return not differences(before, self._taken[name])

        wait_until(at_rest, f"{name} is at rest", 30, 0.1)

    def the_network_is_unchanged(self, name: str, *leave_out: str) -> None:
        """All of it is as it was remembered, but for lines with one of these words."""
        if found := differences(self._taken[name], read(name), leave_out):
            raise AssertionError("\n".join([f"{name} has changed:", *found]))

    def the_network_comes_back(self, name: str, *leave_out: str, timeout: float = 20) -> None:
        """Wait until all of it is as it was remembered, but for lines with one of these words."""
        found: list[str] = []

        def same() -> bool:
            found[:] = differences(self._taken[name], read(name), leave_out)
            return not found

        try:
            wait_until(same, f"{name} is as before", timeout, 0.1)
        except Exception:
            raise AssertionError("\n".join([f"{name} still differs:", *found])) from None
        logger.info(f"{name} is as before")
