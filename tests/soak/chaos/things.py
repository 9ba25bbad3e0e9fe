"""Objects that a campaign declares and removes, each in the forms that northbounds take. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

OURS_NS = "urn:srv6mgr:yang"
SRV6_NS = f"{OURS_NS}:srv6mgr-srv6"
NETCONF_NS = "urn:ietf:params:xml:ns:netconf:base:1.0"
# VRFs of the campaign, beside those of examples/l3vpn, and the VLANs of their ports.
TABLE, RD = 200, 2000
PARENT = "to-ce-red"
Leaves = Mapping[str, Any]
# Of the lists that a campaign changes: the container, and the key.
LISTS = {
    "interface": ("interfaces", "name"),
    "vrf": ("vrfs", "name"),
    "sid": ("local-sids", "prefix"),
}


@dataclass(frozen=True, slots=True)
class Thing:
    """A SID, and where ``vrf`` names one of the campaign's VRFs, that with a port and a route."""

    name: str
    sid: str
    leaves: Leaves
    vrf: str = ""
    number: int = 0
    # A row of CONFIG_DB: objects of rows are changed through rows alone.
    row: str = ""

    @property
    def port(self) -> str:
        return f"{self.vrf}-port" if self.vrf else ""

    @property
    def address(self) -> str:
        """Of the port."""
        return f"10.77.{self.number}.1"

    @property
    def route(self) -> str:
        return f"10.78.{self.number}.0/24"

    def entries(self) -> dict[str, list[dict[str, Any]]]:
        """Entries of the lists, RFC 7951."""
        sid = {"prefix": self.sid, **self.leaves}
        if not self.vrf:
            return {"sid": [sid]}
        return {"interface": [self._port()], "vrf": [self._vrf()], "sid": [sid]}

    def _port(self) -> dict[str, Any]:
        vlan = {"parent-interface": PARENT, "vlan-id": TABLE + self.number}
        address = {"ip": self.address, "prefix-length": 24}
        return {
            "name": self.port,
            "srv6mgr-interfaces:vlan": vlan,
            "srv6mgr-interfaces:ipv4": {"address": [address]},
        }

    def _vrf(self) -> dict[str, Any]:
        target = f"65000:{RD + self.number}"
        bgp = {"rd": target, "import-rt": [target], "export-rt": [target], "export-sid": self.sid}
        hop = {"index": 1, "special-next-hop": "blackhole"}
        return {
            "name": self.vrf,
            "table-id": TABLE + self.number,
            "interface": [self.port],
            "srv6mgr-bgp:bgp": bgp,
            "srv6mgr-routing:static-routes": {"route": [{"prefix": self.route, "next-hop": [hop]}]},
        }

    def paths(self) -> list[str]:
        """Of each entry, below ``srv6``."""
        return [entry_path(name, e) for name, all_ in self.entries().items() for e in all_]


def entry_path(name: str, entry: Mapping[str, Any]) -> str:
    container, key = LISTS[name]
    return f"{container}/{name}[{key}={entry[key]}]"


def _sid(number: int) -> Thing:
    behaviors: tuple[Leaves, ...] = (
        {"behavior": "End"},
        {"behavior": "End.X", "next-hop": "2001:db8:1::2"},
        {"behavior": "End.DT46", "vrf": "red"},
    )
    leaves = {"locator": "MAIN", **behaviors[number % len(behaviors)]}
    return Thing(f"sid-{number}", f"fcbb:0:1:{0x1000 + number:x}::/64", leaves)


def _vrf(number: int) -> Thing:
    name = f"v{number}"
    leaves = {"locator": "MAIN", "behavior": "End.DT46", "vrf": name}
    return Thing(f"vrf-{number}", f"fcbb:0:1:{0x2000 + number:x}::/64", leaves, name, number)


def _row(number: int) -> Thing:
    prefix = f"fcbb:0:1:{0x3000 + number:x}::/64"
    return Thing(
        f"row-{number}", prefix, {"locator": "MAIN", "behavior": "End.DT46", "vrf": "red"},
        row=f"SRV6_MY_SIDS|MAIN|{prefix}",
    )  # fmt: skip


THINGS: dict[str, Thing] = {
    thing.name: thing
    for thing in (
        *(_sid(number) for number in range(9)),
        *(_vrf(number) for number in range(4)),
        *(_row(number) for number in range(4)),
    )
}


@dataclass(frozen=True, slots=True)
class Change:
    """One commit: these are declared, those removed."""

    add: tuple[Thing, ...] = ()
    remove: tuple[Thing, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.add and not self.remove

    def after(self, declared: Iterable[str]) -> frozenset[str]:
        """Names of what is declared once it is done."""
        removed = {thing.name for thing in self.remove}
        return frozenset({*declared, *(thing.name for thing in self.add)} - removed)

    def __str__(self) -> str:
        words = [*(f"+{t.name}" for t in self.add), *(f"-{t.name}" for t in self.remove)]
        return " ".join(words) or "nothing"


def toggle(names: Iterable[str], declared: Iterable[str]) -> Change:
    """What is declared is removed, what is not is added."""
    there = set(declared)
    things = [THINGS[name] for name in names]
    return Change(
        tuple(thing for thing in things if thing.name not in there),
        tuple(thing for thing in things if thing.name in there),
    )


def merged(tree: dict[str, Any], change: Change) -> dict[str, Any]:
    """The configuration ``tree`` (content of ``srv6``) after a change."""
    gone = {path for thing in change.remove for path in thing.paths()}
    made = dict(tree)
    for name, (container, _) in LISTS.items():
        kept = [e for e in tree[container][name] if entry_path(name, e) not in gone]
        added = [e for thing in change.add for e in thing.entries().get(name, [])]
        made[container] = {**tree[container], name: kept + added}
    return made


def as_xml(change: Change) -> str:
    """``<config>`` of an edit-config."""
    parts = ""
    for name, (container, key) in LISTS.items():
        added = [e for thing in change.add for e in thing.entries().get(name, [])]
        gone = [e for thing in change.remove for e in thing.entries().get(name, [])]
        inner = "".join(_xml(name, entry) for entry in added)
        inner += "".join(
            f'<{name} nc:operation="remove"><{key}>{e[key]}</{key}></{name}>' for e in gone
        )
        parts += f"<{container}>{inner}</{container}>" if inner else ""
    return (
        f'<config xmlns="{NETCONF_NS}"><srv6 xmlns="{SRV6_NS}" xmlns:nc="{NETCONF_NS}">'
        f"{parts}</srv6></config>"
    )


def _xml(member: str, value: Any) -> str:
    """A member of an object of RFC 7951."""
    if isinstance(value, list):
        return "".join(_xml(member, one) for one in value)
    module, _, name = member.rpartition(":")
    space = f' xmlns="{OURS_NS}:{module}"' if module else ""
    inner = "".join(_xml(m, v) for m, v in value.items()) if isinstance(value, dict) else value
    return f"<{name}{space}>{inner}</{name}>"
