"""srv6ctl on a node, as somebody at its terminal runs it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from typing import Any

from robot.api.deco import library

from lab.guest.nodes import Node
from lab.waiting import wait_until
from tests.robot.library.network import node

_CTL = "/opt/srv6mgr/bin/srv6ctl"
_DONE = 0
_LONGEST = 120.0
# ECMA-48: what moves the cursor or colours.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def run(name: str, line: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a line of srv6ctl; ``given`` is its standard input."""
    return node(name).run(
        ["sh", "-c", f"{_CTL} {line}"], check=False, input=given, timeout=_LONGEST
    )


@library(scope="GLOBAL", auto_keywords=True)
class Cli:
    """Lines of srv6ctl, what they print, and how they end."""

    def __init__(self) -> None:
        self._sending: subprocess.Popen[Any] | None = None

    def ctl(self, name: str, line: str, given: str = "") -> str:
        """What a line prints; it has to end with 0 and without a word on standard error."""
        done = run(name, line, given)
        if done.returncode != _DONE or done.stderr:
            raise AssertionError(
                f"srv6ctl {line}: status {done.returncode}: {done.stdout}{done.stderr}"
            )
        return done.stdout

    def ctl_shows(self, name: str, line: str) -> Any:
        """The document that a line prints with ``--json``."""
        return json.loads(self.ctl(name, f"{line} --json"))

    def ctl_ends_with(self, name: str, status: int, line: str, given: str = "") -> str:
        """What a line says, on standard output and standard error, that ends with ``status``."""
        done = run(name, line, given)
        said = done.stdout + done.stderr
        if done.returncode != status:
            raise AssertionError(f"srv6ctl {line}: status {done.returncode}, not {status}: {said}")
        return said

    def ctl_whatever(self, name: str, line: str) -> str:
        """What a line prints, however it ends."""
        return run(name, line).stdout

    def wait_for_packets_shown(self, name: str, prefix: str, packets: int) -> None:
        """Wait until so many packets are shown, no more."""

        def shown() -> bool:
            (reported,) = self.ctl_shows(name, f"show counters {prefix} --no-rates")["counters"]
            assert reported["in-pkts"] <= packets, f"{reported} is more than {packets}"
            return bool(reported["in-pkts"] == packets)

        wait_until(shown, f"{name}: {packets} packets on {prefix}", 30)

    def wait_for_rate(self, name: str, prefix: str, least: float) -> None:
        """Wait until a SID is shown to get ``least`` packets each second."""

        def fast() -> bool:
            (reported,) = self.ctl_shows(name, f"show counters {prefix}")["counters"]
            return bool(reported.get("rates", {}).get("packets", 0) >= least)

        wait_until(fast, f"{name}: {least} packets/s on {prefix}", 30)

    def begin_errors(self, name: str, address: str) -> None:
        """Ping an address from a node, until ``end_errors``."""
        argv = ["ping", "-q", "-i0.05", address]
        self._sending = node(name).popen(argv, stdout=subprocess.DEVNULL)

    def end_errors(self) -> None:
        if self._sending is not None:
            self._sending.kill()
            self._sending.wait()
            self._sending = None

    def wait_for_cause(self, name: str, prefix: str, words: str) -> None:
        """Wait until ``explain`` names what was seen as the first cause."""

        def named() -> bool:
            reported = self.ctl_shows(name, f"explain {prefix}")
            first = (reported["causes"] or [{"how": "", "what": ""}])[0]
            return first["how"] == "certain" and words in first["what"]

        wait_until(named, f"{name}: explain {prefix}: {words}", 30)

    def top_on_a_terminal(self, name: str, samples: int) -> str:
        """What ``top`` draws on a terminal of 120 columns."""
        return _drawn(node(name), f"stty cols 120 rows 30; {_CTL} top -n {samples}")


def _drawn(on: Node, line: str) -> str:
    ours, theirs = pty.openpty()
    child = on.popen(
        ["sh", "-c", line], stdin=theirs, stdout=theirs, stderr=theirs, env={"TERM": "xterm"},
        new_session=True,
    )  # fmt: skip
    os.close(theirs)
    drawn = b""
    try:
        while chunk := os.read(ours, 1 << 16):
            drawn += chunk
    except OSError:  # EIO: the last who had the terminal open is gone
        pass
    finally:
        os.close(ours)
    status = child.wait()
    text = _CONTROL.sub("", drawn.decode(errors="replace"))
    assert status == _DONE, f"{line}: status {status}: {text}"
    return text
