"""Routes that the kernel flushed are installed again, and what an operator filters stays so."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pytest

from srv6mgrd.frr.flushed_routes import FlushedRoutes
from srv6mgrd.frr.vty import SUCCESS, Answer, VtyError

RUNNING = """
vrf red
 ip protocol bgp route-map MINE
exit-vrf
!
vrf green
 ip protocol ospf route-map OTHER
 ipv6 protocol bgp route-map srv6mgr-install-again
exit-vrf
!
vrf blue
exit-vrf
!
"""
MAP = "route-map srv6mgr-install-again"


@dataclass
class Mgmtd:
    answer: Answer = field(default_factory=lambda: Answer(SUCCESS, ""))
    away: bool = False
    batches: list[list[str]] = field(default_factory=list)

    def show(self, daemon: str, command: str) -> str:
        assert (daemon, command) == ("mgmtd", "show running-config")
        if self.away:
            raise VtyError(errno.ENOENT, "mgmtd can't be reached")
        return RUNNING

    def configure(self, daemon: str, lines: Sequence[str]) -> list[Answer]:
        assert daemon == "mgmtd"
        self.batches.append(list(lines))
        return [self.answer] * len(lines)


@pytest.mark.parametrize("vrf", ["blue", "green"])
def test_a_map_that_permits_all_comes_and_goes(vrf: str) -> None:
    """What is left of an attempt that was cut short is in nobody's way."""
    mgmtd = Mgmtd()
    FlushedRoutes(mgmtd, set).install_again([vrf])
    lines = [f"ip protocol bgp {MAP}", f"ipv6 protocol bgp {MAP}"]
    assert mgmtd.batches == [
        [f"{MAP} permit 10", "exit", f"vrf {vrf}", *lines, "exit"],
        [f"vrf {vrf}", *(f"no {line}" for line in lines), "exit", f"no {MAP}"],
    ]


def test_a_map_of_the_operator_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    mgmtd = Mgmtd()
    FlushedRoutes(mgmtd, set).install_again(["red"])
    assert mgmtd.batches == []
    assert "'ip protocol bgp' is in use in VRF red" in caplog.text


def test_mgmtd_rejects(caplog: pytest.LogCaptureFixture) -> None:
    FlushedRoutes(Mgmtd(Answer(2, "% Unknown command.")), set).install_again(["blue"])
    assert f"mgmtd: {MAP} permit 10: Unknown command." in caplog.messages


def test_mgmtd_is_away(caplog: pytest.LogCaptureFixture) -> None:
    mgmtd = Mgmtd(away=True)
    with caplog.at_level(logging.INFO):
        FlushedRoutes(mgmtd, set).install_again(["blue"])
    assert (mgmtd.batches, caplog.messages) == ([], [])


def test_attempts_become_rare_and_begin_anew() -> None:
    lacking: set[str] = {"red"}
    flushed = FlushedRoutes(Mgmtd(), lambda: lacking)
    found = []
    for second in range(40):
        lacking = set() if second == 20 else {"red"}
        found += [second for _ in flushed.due(second)]
    assert found == [0, 2, 6, 14, 21, 23, 27, 35]


def test_it_follows_what_is_lacking() -> None:
    async def batches() -> int:
        mgmtd = Mgmtd()
        lacking: Collection[str] = {"blue"}
        running = asyncio.create_task(FlushedRoutes(mgmtd, lambda: lacking, look=0.001).run())
        while not mgmtd.batches:
            await asyncio.sleep(0.001)
        running.cancel()
        return len(mgmtd.batches)

    assert asyncio.run(batches()) == 2
