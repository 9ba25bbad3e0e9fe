"""``show running-config`` to blocks."""

from pathlib import Path

from srv6mgrd.frr.render import render
from srv6mgrd.frr.running import parse, tree
from tests.unit.frr.samples import PE1

CAPTURES = Path(__file__).parent / "captures"

ZEBRA = """\
frr version 10.3
frr defaults traditional
!
hostname pe1
no ipv6 forwarding
!
vrf red
exit-vrf
!
interface eth0
 ipv6 address fcbb::1/64
exit
!
segment-routing
 srv6
  encapsulation
   source-address fcbb:0:1::1
  locators
   locator MAIN
    prefix fcbb:0:1::/48 block-len 32 node-len 16 func-bits 16
   exit
   !
   locator OTHER
    prefix fcbb:0:9::/48 block-len 32 node-len 16 func-bits 16
    behavior usid
   exit
   !
  exit
  !
  formats
   format usid-f3216
   format uncompressed-f4024
   exit
   !
  exit
  !
 exit
 !
exit
!
"""

BGPD = """\
Current configuration:
!
frr version 10.3
frr defaults datacenter
!
router bgp 65000 as-notation plain
 bgp router-id 10.0.0.1
 !
 segment-routing srv6
  locator MAIN
 exit
 !
 address-family ipv4 vpn
  neighbor fcbb:0:2::1 activate
 exit-address-family
exit
!
router bgp 65000 vrf empty
exit
!
end
"""


def test_zebra() -> None:
    blocks = parse("zebra", ZEBRA)
    srv6 = "frr zebra segment-routing / srv6"
    assert blocks[f"{srv6} / encapsulation"].lines == ("source-address fcbb:0:1::1",)
    assert blocks[f"{srv6} / locators / locator OTHER"].lines[1] == "behavior usid"
    assert blocks[f"{srv6} / locators"].lines == ()
    assert blocks["frr zebra vrf red"].lines == ()
    assert blocks["frr zebra interface eth0"].lines == ("ipv6 address fcbb::1/64",)


def test_bgpd() -> None:
    blocks = parse("bgpd", BGPD)
    assert set(blocks) == {
        "frr bgpd router bgp 65000",
        "frr bgpd router bgp 65000 / segment-routing srv6",
        "frr bgpd router bgp 65000 / address-family ipv4 vpn",
        "frr bgpd router bgp 65000 vrf empty",
    }


def test_line_that_a_profile_implies() -> None:
    speaker = parse("bgpd", BGPD)["frr bgpd router bgp 65000"]
    assert speaker.lines == ("bgp router-id 10.0.0.1", "no bgp ebgp-requires-policy")
    traditional = BGPD.replace("datacenter", "traditional")
    assert parse("bgpd", traditional)[speaker.key].lines == ("bgp router-id 10.0.0.1",)


def test_nonsense_is_tolerated() -> None:
    assert parse("bgpd", "") == {}
    assert parse("bgpd", "exit\nexit\n  odd\n exit-foo\nline\n") == {}
    assert [n.line for n in tree("a\n  b\n c\n")] == ["a"]


def test_what_frr_prints_of_our_blocks_is_our_blocks() -> None:
    """The captures are of FRR 10.3 after it took the sample's blocks."""
    for daemon in ("zebra", "bgpd"):
        printed = parse(daemon, (CAPTURES / f"{daemon}.conf").read_text())
        for wanted in (b for b in render(PE1) if b.daemon == daemon):
            assert printed[wanted.key] == wanted
