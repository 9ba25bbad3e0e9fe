"""Runs the command blocks of documentation pages on the nodes that they name."""

from __future__ import annotations

import subprocess
from pathlib import Path

from robot.api import logger
from robot.api.deco import library

from lab.waiting import wait_until
from tests.command_blocks import Block, blocks, same_output
from tests.robot.library.network import node

CHECKOUT = Path(__file__).parents[3]
# Each node has a folder of its own for the files that a page has the reader write.
SHELL = 'set -e; mkdir -p "$0"; cd "$0"; '


@library(scope="GLOBAL", auto_keywords=True)
class Page:
    """Documentation, done as it says."""

    def follow_page(self, name: str) -> None:
        """Run the command blocks of a page exactly as printed."""
        for block in blocks((CHECKOUT / name).read_text()):
            follow(f"{name}:{block.line}", block)


def follow(place: str, block: Block) -> None:
    """Run a block once, or until it prints what the page says."""
    for at in block.nodes:
        if block.output is None or at != block.nodes[-1]:
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
    done = node(at).run(command, check=False, timeout=120)
    logger.info(f"{at}\n{block.commands}\n{said(done)}")
    return done


def said(done: subprocess.CompletedProcess[str]) -> str:
    return f"{done.stdout}{done.stderr}"
