"""Record terminals in the lab: the demo, and commands of srv6ctl on a router with its VPN.

Runs in the lab on topology two-pe; writes what each terminal got to ``$LAB_OUT/terminals.json``.
`make terminals` draws them.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lab.guest.nodes import Node
from lab.waiting import wait_until

ROWS, COLUMNS = 400, 112
TOP_ROWS = 22
PING = ("ping", "-q", "-i", "0.02", "10.2.0.10")


def main() -> int:
    terminals = {"demo": terminal([sys.executable, "-m", "examples.demo"])}
    pe1, pe2 = Node("pe1"), Node("pe2")
    for node in (pe1, pe2):
        node.run(["srv6ctl", "apply", f"examples/l3vpn/{node.name}.json"])
        wait_until(partial(has_routes, node), f"{node.name} has routes", timeout=60)
    flows = [Node(ce).popen(PING, stdout=subprocess.DEVNULL) for ce in ("ce-red1", "ce-blue1")]
    errors = pe2.popen(["ping", "-q", "-i", "0.2", "fcbb:0:1:64::"], stdout=subprocess.DEVNULL)
    ctl = ["on", "-t", "pe1", "srv6ctl"]
    terminals["top"] = terminal([*ctl, "top"], rows=TOP_ROWS, seconds=12, key=b"q")
    terminals["explain"] = terminal(
        [*ctl, "explain", "fcbb:0:1:64::"], typed="explain fcbb:0:1:64::"
    )
    for child in (*flows, errors):
        child.terminate()
    terminals["trace"] = terminal(
        [*ctl, "trace", "10.2.0.10", "--vrf", "red"], typed="trace 10.2.0.10 --vrf red"
    )
    pe1.run(["sysctl", "-qw", "net.vrf.strict_mode=0"])
    pe1.run(["ip", "-6", "rule", "add", "pref", "100", "to", "fcbb:0:1:64::/64", "unreachable"])
    terminals["doctor"] = terminal([*ctl, "doctor"], typed="doctor")
    Path(os.environ["LAB_OUT"], "terminals.json").write_text(json.dumps(terminals))
    return 0


def has_routes(node: Node) -> bool:
    routes = node.json(["srv6ctl", "show", "routes", "--json"])["routes"]
    return len(routes) >= 4


def terminal(
    argv: Sequence[str],
    *,
    rows: int = ROWS,
    seconds: float = 600,
    key: bytes = b"",
    typed: str = "",
) -> dict[str, object]:
    """Run a program on a terminal of its own until it ends, or press a key after a time."""
    child, out = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        os.execvp(argv[0], list(argv))
    fcntl.ioctl(out, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))
    os.kill(child, signal.SIGWINCH)
    got = b""
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        if select.select([out], [], [], 0.5)[0]:
            try:
                got += os.read(out, 65536)
            except OSError:
                break
    else:
        os.write(out, key)
    os.waitpid(child, 0)
    prompt = f"\x1b[1mpe1#\x1b[0m srv6ctl {typed}\r\n" if typed else ""
    return {"rows": rows, "columns": COLUMNS, "output": prompt + got.decode(errors="replace")}


if __name__ == "__main__":
    sys.exit(main())
