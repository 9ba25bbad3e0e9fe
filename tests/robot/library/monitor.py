"""Every write to a node's kernel between two moments, as ``ip monitor`` reports it."""

from __future__ import annotations

import select
import subprocess
from typing import Any

from robot.api.deco import library

from lab.waiting import wait_until
from tests.robot.library.network import node

# Neighbours come and go by themselves.
_WATCH = ["ip", "-o", "monitor", "link", "address", "route", "rule", "nexthop"]
_TABLE = "4999"
_BEGIN, _END = "192.0.2.253", "192.0.2.254"


def between(lines: list[str]) -> list[str]:
    """Lines that are not about the marks themselves."""
    return [line for line in lines if line and f"table {_TABLE}" not in line]


def _mark(name: str, address: str) -> None:
    """A route that means nothing comes and goes in a table that nobody reads."""
    route = f"blackhole {address}/32 table {_TABLE}"
    node(name).run(["sh", "-c", f"ip route add {route} && ip route del {route}"])


def _heard_mark(name: str, child: subprocess.Popen[Any]) -> bool:
    _mark(name, _BEGIN)
    assert child.stdout is not None
    readable, _, _ = select.select([child.stdout], [], [], 0.1)
    return bool(readable)


@library(scope="GLOBAL", auto_keywords=True)
class Monitor:
    """Silence of the kernel."""

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[Any]] = {}

    def begin_to_listen(self, name: str) -> None:
        """Listen to all changes of links, addresses, routes, rules and next hops of a node."""
        child = node(name).popen(_WATCH, stdout=subprocess.PIPE, text=True)
        self._running[name] = child
        # That it listens is known when it reports a mark.
        wait_until(lambda: _heard_mark(name, child), f"{name}: ip monitor", 10)

    def changes_heard(self, name: str) -> list[str]:
        """End listening; what was heard."""
        child = self._running.pop(name)
        _mark(name, _END)
        heard = []
        assert child.stdout is not None
        for line in child.stdout:
            if _END in line:
                break
            heard.append(line.strip())
        child.terminate()
        child.communicate()
        return between(heard)

    def nothing_was_written(self, name: str, *leave_out: str) -> None:
        """End listening; there was not one change, but for lines with one of these words."""
        heard = [line for line in self.changes_heard(name) if not any(w in line for w in leave_out)]
        if heard:
            raise AssertionError("\n".join([f"{name}: written were:", *heard]))

    def was_written_before(self, name: str, first: str, second: str) -> None:
        """End listening; a line with ``first`` was heard, and before the first with ``second``."""
        heard = [line for line in self.changes_heard(name) if not line.startswith("Deleted ")]
        places = [[at for at, line in enumerate(heard) if text in line] for text in (first, second)]
        if not all(places) or places[0][0] > places[1][0]:
            what = f"{name}: '{first}' was not before '{second}':"
            raise AssertionError("\n".join([what, *heard]))
