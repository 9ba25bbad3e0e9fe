"""GoBGP in the place of a router's FRR: one more implementation of RFC 9252."""

from __future__ import annotations

import json

from robot.api.deco import library

from lab.guest.catalogue import Service
from lab.guest.nodes import Node
from lab.waiting import wait_until
from tests.robot.library.exabgp import Route
from tests.robot.library.frr import transposed
from tests.robot.library.network import node, router

SERVICE = "gobgp"
RECEIVED = "/tmp/gobgp"
# Made of tests/robot/gobgp by `make build/bin/gobgp_peer`.
PROGRAM = "/src/build/bin/gobgp_peer"


def routes(text: str) -> dict[tuple[str, str], Route]:
    """Route distinguisher and prefix -> route, after all that the program wrote."""
    found: dict[tuple[str, str], Route] = {}
    for line in text.splitlines():
        said = json.loads(line)
        key = said["rd"], said["prefix"]
        if said["withdrawn"]:
            found.pop(key, None)
            continue
        *_, length, offset = said["structure"]
        sid = transposed(said["sid"], said["label"], offset, length)
        (target,) = said["targets"]
        found[key] = Route(sid, f"{said['behavior']:#x}", said["next-hop"], f"target:{target}")
    return found


@library(scope="GLOBAL", auto_keywords=True)
class Gobgp:
    """A speaker that announces given routes, and what it has learned."""

    def start_speaker(self, name: str, peer: str, *announcements: str) -> None:
        """Start it on a node, in AS 65000; each announcement is ``PREFIX RD TARGET NEXT-HOP SID
        LABEL STRUCTURE``."""
        words = [a.split() for a in announcements]
        address = words[0][3]
        lines = [",".join([*w[:6], w[6].replace(",", ".")]) for w in words]
        command = " ".join([PROGRAM, address, peer, "192.0.2.2", "65000", *lines])
        router(name).start_service(
            Service(SERVICE, ("/bin/sh", "-c", f"exec {command} >{RECEIVED}"), ready=_is_up)
        )

    def end_speaker(self, name: str) -> None:
        """It goes without a word; nothing happens when it does not run."""
        if router(name).is_running(SERVICE):
            router(name).kill(SERVICE)

    def speaker_has_decoded(self, name: str, rd: str, prefix: str, timeout: float = 60) -> Route:
        """Wait until GoBGP has learned a VPN route; the route as it understood it."""
        there = node(name)

        def reported() -> Route | None:
            return routes(_whole_lines(there.read_file(RECEIVED))).get((rd, prefix))

        wait_until(reported, f"{name}: route {rd}:{prefix} at GoBGP", timeout, 0.1)
        found = reported()
        assert found is not None
        return found


def _whole_lines(text: str) -> str:
    """Without a last line that is being written."""
    return text[: text.rfind("\n") + 1]


def _is_up(at: Node) -> bool:
    return at.path(RECEIVED).exists()
