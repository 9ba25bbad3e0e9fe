"""``systemctl`` on nodes of the lab, which have no systemd: pages print it, and tests run them.

A shell function passes the words through a pipe to the test, which starts or restarts the services
of the lab.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

from lab.guest.services import Router
from lab.problem import LabError

ASK, ANSWER = "/tmp/systemctl.ask", "/tmp/systemctl.answer"
SHELL = (
    f'systemctl() {{ echo "$*" >{ASK}; read -r failure <{ANSWER};'
    ' [ -z "$failure" ] || { echo "$failure" >&2; return 1; }; }; '
)
# Names of the lab's services, where they differ from those of the units.
UNITS = {"srv6-netconf-sshd": "sshd"}


@contextlib.contextmanager
def served(router: Router) -> Iterator[None]:
    """Answer ``systemctl`` on a node meanwhile."""
    ask, answer = router.node.path(ASK), router.node.path(ANSWER)
    for pipe in (ask, answer):
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)

    def serve() -> None:
        # Open for writing too, so that there is no end of file between two commands.
        with open(os.open(ask, os.O_RDWR), encoding="utf-8") as asked:
            for line in asked:
                if line == "end\n":
                    return
                answer.write_text(f"{act(router, line.split())}\n")

    thread = threading.Thread(target=serve, name="systemctl")
    thread.start()
    try:
        yield
    finally:
        ask.write_text("end\n")
        thread.join()


def act(router: Router, words: list[str]) -> str:
    """Carry out a command line; returns why it failed."""
    verb, *rest = words
    names = [UNITS.get(word, word) for word in rest if not word.startswith("--")]
    try:
        for name in names:
            if verb == "restart" and router.is_running(name):
                router.stop(name)
            if verb not in ("start", "restart", "enable"):
                return f"systemctl {verb}: the lab has no such command"
            if not router.is_running(name):
                router.start(name)
    except LabError as error:
        return " ".join(str(error).split())
    return ""
