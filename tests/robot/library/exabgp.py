"""ExaBGP in the place of a router's FRR: a second implementation of RFC 9252."""

from __future__ import annotations

import re
from dataclasses import dataclass

from robot.api.deco import library

from lab.guest.catalogue import Service
from lab.guest.nodes import Node
from lab.waiting import wait_until
from tests.robot.library.frr import transposed
from tests.robot.library.network import node, router

SERVICE = "exabgp"
HOME = "/tmp/exabgp"
RECEIVED = f"{HOME}/received"
# The loopbacks of the two-PE network are the ends of the session.
CONFIGURATION = """process received {{
  run {home}/receive;
  encoder text;
}}
neighbor {peer} {{
  router-id {router_id};
  local-address {address};
  local-as {asn};
  peer-as {asn};
  capability {{ nexthop; }}
  family {{ ipv4 mpls-vpn; ipv6 mpls-vpn; }}
  nexthop {{ ipv4 mpls-vpn ipv6; }}
  api {{ processes [ received ]; receive {{ parsed; update; }} }}
  static {{
    {routes}
  }}
}}
"""
# What ExaBGP writes of a VPN route. Its JSON leaves placeholders where the SID belongs.
ROUTE = re.compile(
    r"receive update announced (?P<prefix>\S+) label (?P<label>\d+) next-hop (?P<next_hop>\S+)"
    r" rd (?P<rd>\S+) .*extended-community (?P<target>target:\S+) .*sid:(?P<sid>\S+)"
    r" flags:0 endpoint_behavior:(?P<behavior>\S+) .*sid-structure \[(?P<structure>[\d,]+)\]"
)
WITHDRAWN = re.compile(r"receive update withdrawn (?P<prefix>\S+) label \d+ rd (?P<rd>\S+)")


@dataclass(frozen=True, slots=True)
class Route:
    """A VPN route as ExaBGP decoded it; ``sid`` is the one that packets have to be sent to."""

    sid: str
    behavior: str
    next_hop: str
    target: str


def routes(text: str) -> dict[tuple[str, str], Route]:
    """Route distinguisher and prefix -> route, after all that ExaBGP's text encoder wrote."""
    found: dict[tuple[str, str], Route] = {}
    for line in text.splitlines():
        if match := ROUTE.search(line):
            *_, length, offset = map(int, match["structure"].split(","))
            sid = transposed(match["sid"], int(match["label"]), offset, length)
            found[match["rd"], match["prefix"]] = Route(
                sid, match["behavior"], match["next_hop"], match["target"]
            )
        elif match := WITHDRAWN.search(line):
            found.pop((match["rd"], match["prefix"]), None)
    return found


def announcement(words: str) -> str:
    """``PREFIX RD TARGET NEXT-HOP SID LABEL STRUCTURE`` as a route of the configuration, for
    End.DT46 (0x14)."""
    prefix, rd, target, next_hop, sid, label, structure = words.split()
    return (
        f"route {prefix} next-hop {next_hop} rd {rd} label {label}"
        f" extended-community target:{target}"
        f" bgp-prefix-sid-srv6 ( l3-service {sid} 0x14 [{structure}] );"
    )


@library(scope="GLOBAL", auto_keywords=True)
class Exabgp:
    """A speaker that announces given routes, and what it has learned."""

    def start_speaker(self, name: str, peer: str, *announcements: str) -> None:
        """Start it on a node, in AS 65000; each announcement is ``PREFIX RD TARGET NEXT-HOP SID
        LABEL STRUCTURE``."""
        there = node(name)
        lines = [announcement(words) for words in announcements]
        # Its standard output stays open: ExaBGP takes the end of that for the end of the program.
        there.write_file(f"{HOME}/receive", f"#!/bin/sh\nexec cat 3>&1 >{RECEIVED}\n", 0o755)
        address = announcements[0].split()[3]
        text = CONFIGURATION.format(
            home=HOME, peer=peer, router_id="192.0.2.2", address=address, asn=65000,
            routes="\n    ".join(lines),
        )  # fmt: skip
        there.write_file(f"{HOME}/exabgp.conf", text)
        router(name).start_service(
            Service(
                SERVICE,
                ("/opt/srv6mgr/bin/exabgp", f"{HOME}/exabgp.conf"),
                ready=_is_up,
                env={"exabgp_daemon_user": "root", "exabgp_api_cli": "false"},
            ),
        )

    def end_speaker(self, name: str) -> None:
        """It goes without a word; nothing happens when it does not run."""
        if router(name).is_running(SERVICE):
            router(name).kill(SERVICE)

    def speaker_has_decoded(self, name: str, rd: str, prefix: str, timeout: float = 60) -> Route:
        """Wait until ExaBGP has learned a VPN route; the route as it understood it."""
        there = node(name)

        def reported() -> Route | None:
            return routes(there.read_file(RECEIVED)).get((rd, prefix))

        wait_until(reported, f"{name}: route {rd}:{prefix} at ExaBGP", timeout, 0.1)
        found = reported()
        assert found is not None
        return found


def _is_up(at: Node) -> bool:
    return at.path(RECEIVED).exists()
