"""A lab inside the lab, on the kernel that runs here."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from robot.api.deco import library

from lab.guest.nodes import Node, names
from lab.waiting import wait_until

_ENVIRONMENT = {"LAB_ROOT": "/", "LAB_KERNEL": "host"}


def new(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """What is there now and was not before."""
    known = set(before)
    return [trace for trace in after if trace not in known]


def traces() -> list[str]:
    """What a lab could leave behind: processes, mounts, links, named namespaces, sockets, files."""
    nodes = {_pid_namespace(Node(name).pid) for name in names()}
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if _pid_namespace(int(folder.name)) in nodes:
                continue  # of the network around
            started = (folder / "stat").read_text().rpartition(")")[2].split()[19]
        except OSError:
            continue
        # Threads of the kernel have no command line; they come and go by themselves.
        if words:
            processes.append(f"process {folder.name} {started} {words}")
    mounts = [
        f"mount {line.split()[4]}" for line in Path("/proc/self/mountinfo").read_text().splitlines()
    ]
    sockets = {line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines()}
    folders = ("/sys/class/net", "/run/netns", "/lab/run", "/lab/run/nodes", "/tmp")
    files = [f"file {f}/{name}" for f in folders if os.path.isdir(f) for name in os.listdir(f)]
    return [*processes, *mounts, *(f"socket {s}" for s in sockets if s[0] in "@/"), *files]


def _pid_namespace(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/ns/pid")


@library(scope="GLOBAL", auto_keywords=True)
class InnerLab:
    """Commands of ``lab`` and what is left of them."""

    def __init__(self) -> None:
        self._before: list[str] = []
        self._running: subprocess.Popen[Any] | None = None

    def lab(self, *arguments: str) -> dict[str, Any]:
        """Run ``lab ARGUMENTS``; its ``status``, ``out`` and ``err``."""
        done = subprocess.run(
            ["lab/lab", *arguments], env={**os.environ, **_ENVIRONMENT}, cwd="/src",
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return {"status": done.returncode, "out": done.stdout.strip(), "err": done.stderr.strip()}

    def begin_lab(self, *arguments: str) -> None:
        """Run ``lab ARGUMENTS`` beside this; on return the command in it has said ``running``."""
        child = subprocess.Popen(
            ["lab/lab", *arguments], env={**os.environ, **_ENVIRONMENT}, cwd="/src",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._running = child
        assert child.stdout is not None
        said = child.stdout.readline().strip()
        assert said == "running", said

    def signal_lab(self, name: str) -> int:
        """Send a signal to the running lab; the status that it ends with."""
        assert self._running is not None
        self._running.send_signal(signal.Signals[name])
        self._running.communicate()
        return self._running.returncode

    def remember_traces(self) -> None:
        """Remember processes, mounts, links, namespaces, sockets and files."""
        self._before = traces()

    def nothing_is_left_behind(self, timeout: float = 10) -> None:
        """Wait until there is nothing that was not remembered."""
        try:
            wait_until(lambda: not new(self._before, traces()), "", timeout, 0.05)
        except Exception:
            left = new(self._before, traces())
            raise AssertionError("\n".join(["left behind:", *left])) from None
