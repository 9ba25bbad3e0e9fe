"""How the demo speaks: numbered steps, commands, their output, and checks that can fail."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable

from lab.guest.nodes import Node


class FailedError(Exception):
    """Something was not as it should be."""


class Narration:
    """Prints to the terminal; colours only where there is one."""

    def __init__(self) -> None:
        self._step = 0
        self._started = time.monotonic()
        self._colour = sys.stdout.isatty()

    def step(self, title: str) -> None:
        self._step += 1
        print(f"\n{self._paint('1;36', f'{self._step}. {title}')}", flush=True)

    def say(self, text: str) -> None:
        print(f"   {text}", flush=True)

    def command(self, node: str, line: str) -> None:
        print(f"   {self._paint('1', f'{node}$')} {line}", flush=True)

    def output(self, lines: Iterable[str]) -> None:
        for line in lines:
            print(f"     {line}", flush=True)

    def ok(self, text: str) -> None:
        print(f"   {self._paint('32', 'ok')} {text}", flush=True)

    def shell(self, node: Node, line: str, keep: Callable[[str], bool] = bool) -> str:
        """Run a shell line on a node and show what it prints (the lines to keep)."""
        self.command(node.name, line)
        out = node.run(["sh", "-c", line]).stdout
        self.output(line for line in out.splitlines() if keep(line))
        return out

    def check(self, holds: object, claim: str) -> None:
        """The claim must hold; else the demo fails with it."""
        if not holds:
            raise FailedError(claim)
        self.ok(claim)

    def end(self) -> None:
        print(f"\n{self._paint('1;32', 'Done')} in {time.monotonic() - self._started:.0f} s. Next:")

    def _paint(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self._colour else text
