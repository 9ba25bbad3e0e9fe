"""Random declarations, all of them valid, over few names so that they meet each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_interface

from hypothesis import strategies as st

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired, Role, Sid
from srv6mgrd.model.interfaces import Address, Interface, Vlan
from tests.builders import DECAPSULATE_TO_VRF, desired, locator, sid, speaker, vpn, vrf

LOCATORS = {"A": "fcbb:0:1::/48", "B": "fcbb:0:2::/48"}
VRFS = ("blue", "green", "red")
TABLES = (10, 20, 30, 40)
# eth3 comes and goes.
INTERFACES = ("eth1", "eth2", "eth3")
VLANS = ("a", "b", "c")
# On each other: c on a or b.
PARENTS = {"a": ("eth1", "eth3"), "b": ("eth1", "eth2"), "c": ("a", "b", "lo1")}
FUNCTIONS = ("10", "11", "12")
SOURCES = ("fcbb:0:1::1", "fcbb:0:1::2")

# Those that need nothing but a VRF.
BEHAVIORS = [Behavior.END, *DECAPSULATE_TO_VRF]


def sid_prefix(name: str, function: str) -> str:
    return LOCATORS[name].replace("::/48", f":{function}::/64")


@st.composite
def desireds(draw: st.DrawFn) -> Desired:
    locators = draw(st.sets(st.sampled_from(sorted(LOCATORS)), min_size=1))
    names = draw(st.lists(st.sampled_from(VRFS), unique=True))
    tables = draw(st.permutations(TABLES))
    ports = {i: draw(st.sampled_from([None, *names])) for i in INTERFACES}
    sids = [
        draw(_sid(name, function, names))
        for name in sorted(locators)
        for function in draw(st.sets(st.sampled_from(FUNCTIONS)))
    ]
    speaks = draw(st.booleans())
    vrfs = []
    for name, table in zip(names, tables, strict=False):
        mine = [i for i, owner in ports.items() if owner == name]
        exports = [str(s.prefix) for s in sids if (s.behavior, s.vrf) == ("End.DT46", name)]
        bgp = draw(
            st.none() | st.builds(vpn, st.just(f"65000:{table}"), st.sampled_from([None, *exports]))
        )
        vrfs.append(vrf(name, table, *mine, bgp=bgp if speaks else None))
    state = desired(
        *(locator(name, LOCATORS[name]) for name in sorted(locators)),
        *vrfs,
        *sids,
        *([speaker("fcbb:0:9::1")] if speaks else []),
        source=draw(st.none() | st.sampled_from(SOURCES)),
    )
    roles = draw(st.dictionaries(st.sampled_from((*INTERFACES, "eth9")), st.sampled_from(Role)))
    return replace(state, roles=roles, interfaces=draw(interfaces(ports)))


LINK_LOCAL = "fe80::5/64"


@st.composite
def interfaces(draw: st.DrawFn, ports: Mapping[str, str | None]) -> dict[str, Interface]:
    """Of those that exist by themselves, VLANs on them and on each other, a loopback, a VRF."""
    found = []
    mtus = st.sampled_from([None, None, 9000])
    states = st.sampled_from([None, None, True, False])
    for name in sorted(draw(st.sets(st.sampled_from(INTERFACES)))):
        found.append(Interface(name, enabled=draw(states), mtu=draw(mtus)))
    for name in sorted(draw(st.sets(st.sampled_from(VLANS)))):
        parent = draw(st.sampled_from(PARENTS[name]))
        number = draw(st.sampled_from([5, 6])) + 10 * VLANS.index(name)
        found.append(Interface(name, vlan=Vlan(parent, number), enabled=draw(states)))
    if draw(st.booleans()):
        found.append(Interface("lo1", loopback=True))
    for name in sorted({name for name in ports.values() if name is not None}):
        found.append(Interface(name))
    return {one.name: replace(one, addresses=draw(_addresses(i))) for i, one in enumerate(found)}


def _addresses(number: int) -> st.SearchStrategy[tuple[Address, ...]]:
    """Of one interface; the prefix length may change."""
    choices = [f"10.0.{number}.1/24", f"10.0.{number}.1/32", f"fd00:{number}::1/64"]
    some = st.lists(st.sampled_from([*choices, f"fd00:{number}::1/128", LINK_LOCAL]), max_size=3)
    one_each = some.map(lambda found: {ip_interface(text).ip: ip_interface(text) for text in found})
    return one_each.map(lambda found: tuple(found.values()))


@st.composite
def _sid(draw: st.DrawFn, name: str, function: str, vrfs: list[str]) -> Sid:
    behavior = draw(st.sampled_from(BEHAVIORS if vrfs else [Behavior.END]))
    into = draw(st.sampled_from(vrfs)) if behavior in DECAPSULATE_TO_VRF else None
    return sid(sid_prefix(name, function), behavior, into, name)
