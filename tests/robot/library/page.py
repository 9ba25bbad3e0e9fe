"""Runs the command blocks of documentation pages on the nodes that they name."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from robot.api import logger
from robot.api.deco import library

from lab.guest.catalogue import SERVICES
from lab.guest.services import Router
from lab.waiting import wait_until
from tests.command_blocks import Block, blocks, same_output
from tests.robot.library import systemctl
from tests.robot.library.network import node, router

ROUTERS = ("pe1", "pe2")
MODULE = "srv6mgr-srv6"
RESTARTED = re.compile(r"^ *systemctl restart (\S+)$", re.M)
KEEP_SETTINGS = "mkdir -p /etc/srv6mgr && rm -rf /tmp/settings && cp -a /etc/srv6mgr /tmp/settings"
RESTORE_SETTINGS = (
    "rm -rf /etc/srv6mgr && mv /tmp/settings /etc/srv6mgr; rmdir /etc/srv6mgr 2>/dev/null || true"
)
CHECKOUT = Path(__file__).parents[3]
# Machines that pages speak of and the lab does not have, each with the node in its place.
ROLES = {"collector": "p"}
# Each node has a folder of its own for the files that a page has the reader write.
SHELL = f'set -e; export HOME=/root; mkdir -p "$0"; cd "$0"; {systemctl.SHELL}'


@library(scope="GLOBAL", auto_keywords=True)
class Page:
    """Documentation, done as it says."""

    def follow_page(self, name: str) -> None:
        """Run the command blocks of a page exactly as printed."""
        for block in blocks((CHECKOUT / name).read_text()):
            follow(f"{name}:{block.line}", block)

    def follow_and_restore(self, name: str) -> None:
        """The same; configuration, settings and services are as before afterwards."""
        befores = [Before(router(one)) for one in ROUTERS]
        self.follow_page(name)
        page = (CHECKOUT / name).read_text()
        for before in befores:
            before.restore(RESTARTED.findall(page))


class Before:
    """What a router was like before a page was followed on it."""

    def __init__(self, of: Router) -> None:
        self.router = of
        self.services = {service for service in SERVICES if of.is_running(service)}
        self.configuration = configuration(of)
        of.node.run(["sh", "-c", KEEP_SETTINGS])

    def restore(self, restarted: Sequence[str]) -> None:
        of = self.router
        of.node.run(["srv6ctl", "apply", "--replace", "-"], input=self.configuration)
        of.node.run(["sh", "-c", RESTORE_SETTINGS])
        for service in set(SERVICES) - self.services:
            if of.is_running(service):
                of.stop(service)
        for service in self.services & set(restarted):
            of.restart(service)


def configuration(of: Router) -> str:
    """The running configuration, secrets included."""
    return of.node.run(["sysrepocfg", "-X", "-d", "running", "-f", "json", "-m", MODULE]).stdout


def follow(place: str, block: Block) -> None:
    """Run a block once, or until it prints what the page says."""
    nodes = [ROLES.get(name, name) for name in block.nodes]
    for at in nodes:
        if block.output is None or at != nodes[-1]:
            done = run(at, block)
            if done.returncode:
                raise AssertionError(f"{place} on {at}: {done.returncode}\n{said(done)}")
        else:
            wait_for_output(place, at, block, block.output)


def wait_for_output(place: str, at: str, block: Block, printed: str) -> None:
    last = ""

    def prints_it() -> bool:
        nonlocal last
        done = run(at, block)
        last = said(done)
        return done.returncode == 0 and same_output(printed, done.stdout)

    what = f"{place}: {at} prints what the page says"
    wait_until(prints_it, what, timeout=60, period=1, seen=lambda: last)


def run(at: str, block: Block) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", SHELL + block.commands, f"/tmp/page-{at}"]
    needs = systemctl.served(router(at)) if "systemctl " in block.commands else nullcontext()
    with needs:
        done = node(at).run(command, check=False, timeout=120)
    logger.info(f"{at}\n{block.commands}\n{said(done)}")
    return done


def said(done: subprocess.CompletedProcess[str]) -> str:
    return f"{done.stdout}{done.stderr}"
