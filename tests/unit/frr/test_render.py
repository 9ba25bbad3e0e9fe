"""Desired state to FRR's words."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from pathlib import Path

import pytest

from srv6mgrd.frr.blocks import ENCAPSULATION
from srv6mgrd.frr.limits import limits
from srv6mgrd.frr.neighbors import address
from srv6mgrd.frr.render import render, route_targets
from srv6mgrd.frr.running import parse
from srv6mgrd.kinds.frr_block.object import without_secret
from srv6mgrd.model.bgp import Bgp, Neighbor
from srv6mgrd.model.desired import Desired, Locator
from tests.unit.frr.samples import PE1, RED_SID, RED_SIDS, with_export, with_families

GOLDEN = Path(__file__).parent / "golden"


def text_of(desired: Desired) -> str:
    lines = []
    for b in render(desired):
        lines.append(f"{b.daemon}: {' / '.join(b.context)}")
        lines += [f"    {line}" for line in b.lines]
    return "\n".join(lines) + "\n"


def test_golden() -> None:
    assert text_of(PE1) == (GOLDEN / "pe1.txt").read_text()


def test_no_speaker_leaves_frr_alone() -> None:
    """But for the source, which is written only where it was before (``plan.target``)."""
    (source,) = render(replace(PE1, bgp=None))
    assert source.context == ENCAPSULATION
    assert render(replace(PE1, bgp=None, encapsulation_source=None)) == []


def test_blocks_come_in_the_order_of_writing() -> None:
    blocks = render(PE1)
    assert [b.order for b in blocks] == sorted(b.order for b in blocks if b.daemon == "zebra") + [
        b.order for b in blocks if b.daemon == "bgpd" and " vrf " not in b.context[0]
    ] + [b.order for b in blocks if " vrf " in b.context[0]]
    assert len({b.key for b in blocks}) == len(blocks)


def test_external_neighbor_needs_no_policy() -> None:
    outside = replace(PE1, bgp=Bgp(65000, IPv4Address("10.0.0.1"), (Neighbor("fc00::2", 65001),)))
    speaker = next(b for b in render(outside) if b.context == ("router bgp 65000",))
    assert "no bgp ebgp-requires-policy" in speaker.lines


def test_locator_of_micro_segments() -> None:
    main = replace(PE1.locators["MAIN"], micro_segment=True)
    blocks = render(replace(PE1, locators={"MAIN": main}))
    (lines,) = [b.lines for b in blocks if b.context[-1] == "locator MAIN"]
    assert lines[0].startswith("prefix ")
    assert lines[1:] == ("behavior usid",)


def test_neighbor_by_ipv4_has_no_extended_nexthop() -> None:
    v4 = replace(PE1, bgp=Bgp(65000, IPv4Address("10.0.0.1"), (Neighbor("192.0.2.1", 65000),)))
    assert not any("extended-nexthop" in line for b in render(v4) for line in b.lines)


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        (("65000:10", "65000:9"), "65000:9 65000:10"),
        (("065000:010",), "65000:10"),
        (("65536:1", "10.0.0.1:5", "1:99999"), "1:99999 10.0.0.1:5 65536:1"),
        (("1:1", "01:1"), "1:1"),
    ],
)
def test_route_targets_as_frr_orders_them(given: tuple[str, ...], printed: str) -> None:
    assert route_targets(given) == printed


def test_addresses_as_the_c_library_prints_them() -> None:
    assert address(IPv6Address("::ffff:192.0.2.1")) == "::ffff:192.0.2.1"
    assert address(IPv6Address("fcbb:0:0:1::")) == "fcbb:0:0:1::"


def test_what_is_rendered_is_what_is_read_back() -> None:
    """Our own text, nested as FRR nests it, parses to the very blocks."""
    lines: list[str] = []
    for b in (b for b in render(PE1) if b.daemon == "bgpd"):
        if len(b.context) == 1:
            lines += ["exit", b.context[0]] if lines else [b.context[0]]
        else:
            lines.append(f" {b.context[1]}")
        lines += [" " * len(b.context) + line for line in b.lines]
        if len(b.context) > 1:
            lines.append(" exit")
    parsed = parse("bgpd", "\n".join([*lines, "exit"]))
    assert parsed == {b.key: b for b in render(PE1) if b.daemon == "bgpd"}


def test_limits_accept_the_sample() -> None:
    assert limits(PE1) == []


def test_two_export_locators_are_rejected_by_name() -> None:
    second = Locator("OTHER", IPv6Network("fcbb:0:9::/48"))
    both = replace(PE1, locators={**PE1.locators, "OTHER": second})
    both = with_export(both, "watch", IPv6Network("fcbb:0:9:1::/64"), "OTHER")
    (rejection,) = limits(both)
    assert rejection.object == "VRF watch, export SID fcbb:0:9:1::/64"
    assert "MAIN" in rejection.cause
    assert "MAIN" in rejection.remedy


def test_what_a_neighbor_may_have() -> None:
    assert PE1.bgp is not None
    neighbor = replace(
        PE1.bgp.neighbors[0],
        description="the other edge",
        password="secret",
        keepalive=3,
        hold_time=9,
        bfd=True,
        route_reflector_client=True,
    )
    state = replace(PE1, bgp=replace(PE1.bgp, neighbors=(neighbor,)))
    peer = f"neighbor {neighbor.address}"
    by_context = {b.context: b.lines for b in render(state)}
    speaker = by_context[("router bgp 65000",)]
    assert {
        f"{peer} description the other edge",
        f"{peer} password secret",
        f"{peer} bfd",
        f"{peer} timers 3 9",
    } <= {*speaker}
    for family in ("ipv4", "ipv6"):
        assert by_context["router bgp 65000", f"address-family {family} vpn"] == (
            f"{peer} activate",
            f"{peer} route-reflector-client",
        )


def test_a_description_that_frr_takes_for_a_filter() -> None:
    assert PE1.bgp is not None
    neighbor = replace(PE1.bgp.neighbors[0], description="edge | left")
    (rejection,) = limits(replace(PE1, bgp=replace(PE1.bgp, neighbors=(neighbor,))))
    assert rejection.object == f"BGP neighbor {neighbor.address}"
    assert "filter" in rejection.cause


def test_a_password_is_not_reported() -> None:
    assert without_secret("neighbor fd00::1 password s p") == "neighbor fd00::1 password ..."
    assert without_secret("neighbor fd00::1 bfd") == "neighbor fd00::1 bfd"


def test_neighbors_in_a_vrf() -> None:
    red = PE1.vrfs["red"]
    assert red.bgp is not None
    edges = (Neighbor("10.1.0.10", 65100), Neighbor("fd00:1::10", 65100))
    state = replace(PE1, vrfs={"red": replace(red, bgp=replace(red.bgp, neighbors=edges))})
    root = "router bgp 65000 vrf red"
    by_context = {b.context: b.lines for b in render(state)}
    assert {
        "no bgp ebgp-requires-policy",
        "no bgp default ipv4-unicast",
        "neighbor 10.1.0.10 remote-as 65100",
        "neighbor fd00:1::10 remote-as 65100",
    } <= {*by_context[(root,)]}
    for family, peer in (("ipv4", "10.1.0.10"), ("ipv6", "fd00:1::10")):
        lines = by_context[root, f"address-family {family} unicast"]
        assert [line for line in lines if "neighbor" in line] == [f"neighbor {peer} activate"]


def test_wide_functions_are_rejected() -> None:
    wide = replace(PE1.locators["MAIN"], function_length=32)
    assert any("1 to 20 bits" in r.cause for r in limits(replace(PE1, locators={"MAIN": wide})))


def test_import_only_vrf_exports_nothing() -> None:
    lines = [ln for b in render(PE1) if "vrf watch" in b.context[0] for ln in b.lines]
    assert "import vpn" in lines
    assert not [ln for ln in lines if ln.startswith(("export vpn", "sid", "redistribute"))]
    assert RED_SID in PE1.sids


def family_of(desired: Desired, family: str) -> tuple[str, ...]:
    return next(
        b.lines
        for b in render(desired)
        if b.context == ("router bgp 65000 vrf red", f"address-family {family} unicast")
    )


def test_a_sid_for_each_family() -> None:
    both = with_families(4, 6)
    assert "sid vpn export 4" in family_of(both, "ipv4")
    assert "sid vpn export 6" in family_of(both, "ipv6")
    assert not any("per-vrf" in line for b in render(both) for line in b.lines)
    assert limits(both) == []


def test_a_family_without_a_sid_only_imports() -> None:
    lines = family_of(with_families(6), "ipv4")
    assert not {"export vpn", "redistribute static", "redistribute connected"} & set(lines)
    assert "import vpn" in lines
    assert "export vpn" in family_of(with_families(6), "ipv6")


def test_a_sid_of_a_family_in_another_locator() -> None:
    both = with_families(4, 6)
    far = replace(both.sids[RED_SIDS[6]], locator="FAR")
    locators = {**both.locators, "FAR": Locator("FAR", IPv6Network("fcbb:0:9::/48"))}
    (found,) = limits(replace(both, locators=locators, sids={**both.sids, RED_SIDS[6]: far}))
    assert found.path.endswith("/vrf[name='red']/srv6mgr-bgp:bgp/export-sid-ipv6")
    assert "bgpd exports from MAIN alone" in found.cause
