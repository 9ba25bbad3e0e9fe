"""What isisd is configured with, and what it says of the locator."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Network

import pytest

from srv6mgrd.frr import isis
from srv6mgrd.frr.blocks import LOCATORS, block
from srv6mgrd.frr.daemons import absent
from srv6mgrd.frr.limits import limits
from srv6mgrd.frr.render import render
from srv6mgrd.frr.running import parse
from srv6mgrd.frr.script import additions, commands, removals
from srv6mgrd.kinds.frr_block.object import hide_secret, without_secret
from srv6mgrd.model.desired import Desired, Locator
from srv6mgrd.model.isis import Authentication, Isis, IsisInterface, LspTimers, Overload
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.unit.frr.samples import PE1

SPOKEN = Isis(
    "49.0001",
    "0000.0000.0001",
    "MAIN",
    interfaces=(
        IsisInterface("core", point_to_point=True, metric=20),
        IsisInterface("lo", passive=True, metric=10),
    ),
)
LSP = "lsp-timers gen-interval 1 refresh-interval 900 max-lifetime 1200"
SPF = (
    "spf-delay-ietf init-delay 50 short-delay 200 long-delay 5000 holddown 10000 time-to-learn 500"
)
WANTED = replace(PE1, isis=SPOKEN)
CORE = Desired(locators=PE1.locators, isis=SPOKEN)


def test_lines() -> None:
    assert [(b.context, b.lines) for b in isis.blocks(SPOKEN, PE1.locators)] == [
        (
            ("interface core",),
            (
                "ipv6 router isis srv6mgr",
                "isis metric 20",
                "isis network point-to-point",
                "isis hello-multiplier 3",
            ),
        ),
        (("interface lo",), ("ipv6 router isis srv6mgr", "isis passive")),
        (
            ("router isis srv6mgr",),
            ("is-type level-2-only", LSP, SPF, "net 49.0001.0000.0000.0001.00"),
        ),
        (
            ("router isis srv6mgr", "segment-routing srv6"),
            ("locator MAIN", "interface srv6mgr"),
        ),
    ]


@pytest.mark.parametrize(("level", "lines"), [("level-1", ["is-type level-1"]), ("level-1-2", [])])
def test_levels(level: str, lines: list[str]) -> None:
    blocks = {b.context: b for b in isis.blocks(replace(SPOKEN, level=level), PE1.locators)}
    block = blocks["router isis srv6mgr",]
    assert list(block.lines) == [*lines, LSP, SPF, "net 49.0001.0000.0000.0001.00"]


def instance_of(said: Isis) -> tuple[str, ...]:
    return next(
        b.lines for b in isis.blocks(said, PE1.locators) if b.context == ("router isis srv6mgr",)
    )


def test_what_frr_does_anyway_is_not_said() -> None:
    core = IsisInterface("core", hello_interval=3, hello_multiplier=10)
    said = replace(SPOKEN, timers=LspTimers(30, 900, 1200), interfaces=(core,))
    assert instance_of(said)[:2] == ("is-type level-2-only", SPF)
    assert isis.blocks(said, PE1.locators)[0].lines == ("ipv6 router isis srv6mgr",)


def test_the_first_lsp_has_all_that_is_declared() -> None:
    key = Authentication("k e y", "md5", "validate")
    said = replace(
        SPOKEN,
        level="level-1-2",
        overload=Overload(status=True, on_startup=60),
        area_authentication=replace(key, algorithm="clear", snp="none"),
        domain_authentication=key,
    )
    assert instance_of(said) == (
        LSP,
        SPF,
        "set-overload-bit",
        "set-overload-bit on-startup 60",
        "area-password clear k e y",
        "domain-password md5 k e y authenticate snp validate",
        "net 49.0001.0000.0000.0001.00",
    )


def test_an_interface_says_what_is_declared() -> None:
    core = IsisInterface("core", False, False, 30, 1, 4, True, Authentication("key", "md5"))
    assert isis.blocks(replace(SPOKEN, interfaces=(core,)), PE1.locators)[0].lines == (
        "ipv6 router isis srv6mgr",
        "isis metric 30",
        "isis hello-interval 1",
        "isis hello-multiplier 4",
        "isis bfd",
        "isis password md5 key",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("isis password md5 one", "isis password clear two"),
        ("isis hello-interval 1", "isis hello-interval 2"),
        ("isis hello-multiplier 4", "isis hello-multiplier 5"),
        ("area-password md5 one", "area-password md5 one authenticate snp validate"),
        ("domain-password md5 one", "domain-password md5 two"),
        ("set-overload-bit on-startup 5", "set-overload-bit on-startup 6"),
        (LSP, LSP.replace("900", "800")),
        (SPF, SPF.replace("50", "60")),
    ],
)
def test_another_value_replaces_one(before: str, after: str) -> None:
    old, new = (block("isisd", ("interface core",), (line,)) for line in (before, after))
    assert removals([Replace(old, new)], {}) == []
    assert [s.line for s in additions([Replace(old, new)], {})] == [after]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("isis password md5 key", "isis password ..."),
        ("no isis password clear key", "no isis password ..."),
        ("area-password md5 key authenticate snp validate", "area-password ..."),
        ("domain-password clear key", "domain-password ..."),
    ],
)
def test_a_password_is_not_reported(line: str, shown: str) -> None:
    assert without_secret(line) == shown
    message = hide_secret(line, f"Invalid value \"key\" (at '{line}'), not a keyboard")
    assert message == f"Invalid value \"...\" (at '{shown}'), not a keyboard"
    assert "key" not in repr(block("isisd", ("interface core",), (line,)))
    assert "key" not in repr(Authentication("key"))


def test_bfd_needs_its_daemon() -> None:
    watched = isis.blocks(replace(SPOKEN, interfaces=(IsisInterface("core", bfd=True),)), {})[0]
    assert absent(Create(watched), lambda _: True, atomic=True) is None
    assert absent(Create(watched), lambda daemon: daemon != "bfdd", atomic=True) == (
        "bfdd does not run, which BFD needs",
        "set bfdd=yes in /etc/frr/daemons and restart FRR",
    )
    # That it can't be reached is said of it elsewhere.
    assert absent(Create(watched), lambda daemon: daemon == "bfdd", atomic=True) is None


def test_a_router_without_bgp_has_its_locator() -> None:
    daemons = [b.daemon for b in render(CORE)]
    assert daemons == ["zebra", "isisd", "isisd", "isisd", "isisd"]


def test_isis_may_name_another_locator_while_exports_move() -> None:
    assert limits(WANTED) == []
    other = Locator("OTHER", IPv6Network("fcbb:0:9::/48"))
    two = replace(
        WANTED,
        locators={**PE1.locators, "OTHER": other},
        isis=replace(SPOKEN, locator="OTHER"),
    )
    assert limits(two) == []
    names = [b.context[-1] for b in render(two) if b.context[: len(LOCATORS)] == LOCATORS]
    assert names == ["locator MAIN", "locator OTHER"]
    # isisd can't carry what FRR has no words for, be it for a while.
    odd = replace(other, argument_length=8)
    (rejection,) = limits(replace(two, locators={**PE1.locators, "OTHER": odd}))
    assert rejection.object == "locator OTHER"


def test_a_further_locator_is_advertised_as_a_prefix() -> None:
    shared = Locator("SHARED", IPv6Network("fcbb:0:9::/48"))
    said = replace(SPOKEN, level="level-1-2", additional_locators=("SHARED",))
    found = isis.blocks(said, {**PE1.locators, "SHARED": shared})
    assert [(b.daemon, b.context, b.lines) for b in found[:2]] == [
        ("mgmtd", ("ipv6 route fcbb:0:9::/48",), ("blackhole tag 8986",)),
        ("isisd", ("route-map srv6mgr-additional-locators permit 10",), ("match tag 8986",)),
    ]
    lines = [
        f"redistribute ipv6 static {level} route-map srv6mgr-additional-locators"
        for level in ("level-1", "level-2")
    ]
    assert [ln for b in found for ln in b.lines if ln.startswith("redistribute")] == lines
    written = commands(additions([Create(found[0])], {}))
    assert [c.text for c in written] == ["ipv6 route fcbb:0:9::/48 blackhole tag 8986"]
    gone = commands(removals([Delete(found[0])], {}))
    assert [c.text for c in gone] == ["no ipv6 route fcbb:0:9::/48 blackhole tag 8986"]
    shown = "!\nipv6 route fcbb:0:9::/48 blackhole tag 8986\nipv6 route ::/0 fe80::1 lo\n!\n"
    assert parse("mgmtd", shown) == {found[0].key: found[0]}


def test_zebra_has_the_locator_before_isisd_asks_and_keeps_it_longer() -> None:
    blocks = render(WANTED)
    written = [s.daemon for s in additions([Create(b) for b in blocks], {})]
    assert list(dict.fromkeys(written)) == ["zebra", "isisd", "bgpd"]
    running = {b.key: b for b in blocks}
    gone = removals([Delete(b) for b in blocks], running)
    assert list(dict.fromkeys(s.daemon for s in gone)) == ["bgpd", "isisd", "zebra"]
    assert [s.line for s in gone if s.daemon == "isisd"][-1] == "no router isis srv6mgr"


def test_an_instance_with_lines_of_others_stays() -> None:
    running = {b.key: b for b in render(CORE)}
    deletes = [Delete(b) for b in running.values()]
    (key,) = (k for k in running if k.endswith("router isis srv6mgr"))
    running[key] = replace(running[key], lines=(*running[key].lines, "lsp-mtu 1400"))
    lines = [s.line for s in removals(deletes, running) if s.daemon == "isisd"]
    assert "no router isis srv6mgr" not in lines
    assert "no is-type level-2-only" in lines


def test_another_locator_is_taken_after_the_first_is_given_back() -> None:
    before, after = (
        isis.blocks(SPOKEN, PE1.locators)[-1],
        isis.blocks(replace(SPOKEN, locator="NEW"), PE1.locators)[-1],
    )
    texts = [c.text for c in commands(additions([Replace(before, after)], {}))]
    assert texts == [
        "router isis srv6mgr",
        "no segment-routing srv6",
        "segment-routing srv6",
        "locator NEW",
        "interface srv6mgr",
    ]
