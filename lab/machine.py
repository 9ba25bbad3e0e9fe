"""A running lab: its kernel and the agent in it, seen from the host."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import select
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import cpu
from lab.enclosure import CHECKOUT, Enclosure, Part, guest_environment, parts_variable, private_argv
from lab.link import CREDIT, SILENCE, Frame, Kind, Unpacker
from lab.problem import LabError, MachineError

BOOT_DEADLINE = 60.0
HOST_OPTIONS = ("CONFIG_NET_VRF", "CONFIG_IPV6_SEG6_LWTUNNEL", "CONFIG_VETH", "CONFIG_DUMMY")
CONSOLE_LINES = 20


@dataclass(frozen=True, slots=True)
class Image:
    """What a machine is made of."""

    root: Path
    kernel: Path | None  # None: the host's own
    parts: tuple[Part, ...]
    memory_mib: int = 4096


class Machine:
    """One lab, alive as long as this object's process; `close` ends it."""

    def __init__(self, image: Image) -> None:
        self._console = bytearray()
        ours, theirs = socket.socketpair()
        self._link = ours
        self._unpacker = Unpacker()
        self._outgoing = bytearray()
        self._credit = CREDIT
        self._heard = time.monotonic()
        end = theirs.fileno()
        read_end, write_end = os.pipe()
        self._cpu = cpu.claim()
        argv, environment = (_own_kernel if image.kernel else _host_kernel)(image, end)
        self._process = subprocess.Popen(
            argv,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=write_end,
            stderr=write_end,
            pass_fds=(end,),
            start_new_session=True,
        )
        os.sched_setaffinity(self._process.pid, {self._cpu.number})  # fmt: skip
        os.close(write_end)
        theirs.close()
        os.set_blocking(read_end, False)
        self._console_fd = read_end
        try:
            self._wait_for_agent()
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        return self._link.fileno()

    def send(self, frame: Frame) -> None:
        """Never blocks; what the guest has no room for goes out as `receive` learns of room."""
        self._outgoing += frame.packed()
        self._push()

    def receive(self) -> list[Frame]:
        """The next frames; blocks until some bytes are there."""
        try:
            data = self._link.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            raise self.death()
        self._heard = time.monotonic()
        frames = []
        for frame in self._unpacker.feed(data):
            if frame.kind is Kind.CREDIT:
                self._credit += int(frame.fields())
                self._push()
            else:
                frames.append(frame)
        return frames

    def _push(self) -> None:
        ready = self._outgoing[: self._credit]
        if ready:
            try:
                self._link.sendall(ready)
            except OSError as error:
                raise self.death() from error
            self._credit -= len(ready)
            del self._outgoing[: len(ready)]

    def check(self) -> None:
        """To be called every few seconds when nothing came: LabError when the machine hangs."""
        silent = time.monotonic() - self._heard
        if silent > SILENCE and not select.select([self._link], [], [], 0)[0]:
            self._drain_console()
            states = ", ".join(thread_states(self._process.pid)) or "gone"
            raise MachineError(
                "machine", f"hangs: silent for {silent:.0f} s; its processes: {states}"
                f"{last_words(self._console.decode(errors='replace'))}",
                "run it again",
            )  # fmt: skip

    def death(self) -> MachineError:
        """Why the machine is gone, in the words of its console."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._drain_console()
        return death_of(self._console.decode(errors="replace"), self._process.returncode)

    def close(self) -> None:
        """End it; the agent sees the link's end, and what is cached is written back."""
        with contextlib.suppress(OSError):
            self._link.shutdown(socket.SHUT_WR)
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._link.close()
        self._cpu.release()
        if self._console_fd >= 0:
            os.close(self._console_fd)
            self._console_fd = -1

    def _wait_for_agent(self) -> None:
        deadline = time.monotonic() + BOOT_DEADLINE
        while True:
            left = deadline - time.monotonic()
            watched = [self.fileno(), self._console_fd]
            ready, _, _ = select.select(watched, [], [], max(left, 0))
            if not ready:
                raise MachineError("machine", f"no sign of life for {BOOT_DEADLINE:.0f} s")
            if self.fileno() in ready:
                if any(frame.kind is Kind.HELLO for frame in self.receive()):
                    return
            elif not self._drain_console() and self._process.poll() is not None:
                raise self.death()

    def _drain_console(self) -> bool:
        """Take what the console said, so that it never blocks the machine; False at its end."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._console_fd, 65536):
                self._console += data
                del self._console[:-65536]
            return False
        return True

    @property
    def console_fd(self) -> int:
        return self._console_fd

    def console_ready(self) -> bool:
        """To be called when `console_fd` is readable; False when it will not be again."""
        return self._drain_console()


def death_of(console: str, status: int | None) -> MachineError:
    """The reason first, then the end of the console."""
    lines = [line.rstrip() for line in console.splitlines() if line.strip()]
    panic = next((line for line in lines if "Kernel panic" in line), None)
    reason = panic or f"its process ended with status {status}"
    return MachineError("machine", f"died: {reason}{last_words(console)}")


def last_words(console: str) -> str:
    """The end of a console, a line each."""
    lines = [line.rstrip() for line in console.splitlines() if line.strip()]
    return "".join(f"\n| {line}" for line in lines[-CONSOLE_LINES:])


def thread_states(root: int) -> list[str]:
    """State and CPU seconds of a process, of its threads and of its children: "linux R 12"."""
    states = []
    waiting = [str(root)]
    while waiting:
        process = waiting.pop()
        for task in Path(f"/proc/{process}/task").glob("*"):
            with contextlib.suppress(OSError):
                name, rest = (task / "stat").read_text().split("(", 1)[1].rsplit(") ", 1)
                fields = rest.split()
                ticks = int(fields[11]) + int(fields[12])
                states.append(f"{name} {fields[0]} {ticks // os.sysconf('SC_CLK_TCK')}")
                waiting += (task / "children").read_text().split()
    return states


def _own_kernel(image: Image, end: int) -> tuple[list[str], dict[str, str]]:
    assert image.kernel is not None
    links = {"root": image.root, "src": CHECKOUT, **{p.name: p.folder for p in image.parts}}
    arguments = [
        f"mem={image.memory_mib}M", "seccomp=on",
        "rootfstype=hostfs", "rw", "init=/lab/init", "quiet", "loglevel=4", "noreboot",
        "con=null", "con0=null,fd:1", "ssl=null", f"ssl0=fd:{end}",
    ]  # fmt: skip
    # $LAB_JOB is known to the launcher only; what the kernel does not know of its arguments
    # becomes the environment of its first process.
    # Not exec: a kernel that panics aborts, and SIGABRT does not end a first process.
    start = '"$0" "$@" uml_dir="$LAB_BASE/" rootflags="$LAB_JOB/root" LAB_JOB="$LAB_JOB"; exit $?'
    variables = {**guest_environment(), "LAB_PARTS": parts_variable(image.parts)}
    settings = [f"{key}={value}" for key, value in variables.items() if key != "HOME"]
    command = ["sh", "-c", start, str(image.kernel), *arguments, *map(_quoted, settings)]
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else "/tmp"
    # Kernels before 6.13 begin their processes as clones of this one, whose rseq area is no longer
    # mapped then: the host's kernel kills them.
    tunables = "glibc.pthread.rseq=0"
    environment = {**os.environ, "TMPDIR": memory, "GLIBC_TUNABLES": tunables}
    return private_argv(links, command), environment


def _quoted(setting: str) -> str:
    key, _, value = setting.partition("=")
    return f'{key}="{value}"' if " " in value else setting


def _host_kernel(image: Image, end: int) -> tuple[list[str], dict[str, str]]:
    missing = host_kernel_lacks()
    if missing:
        raise LabError(
            "LAB_KERNEL=host",
            f"this kernel ({os.uname().release}) lacks {', '.join(missing)}",
            "leave LAB_KERNEL unset: the lab then brings its own kernel",
        )
    inside = Enclosure(image.root, image.parts, source="overlay", network="none")
    command = ["tini", "-s", "--", "python3", "-S", "-m", "lab.guest.agent", f"fd:{end}"]
    return inside.argv(["sh", "-c", f"ip link set lo up; exec {' '.join(command)}"]), (
        inside.variables()
    )


def host_kernel_lacks() -> list[str]:
    """Needed parts of the running kernel that are not there, as far as it is known."""
    for text in _kernel_configs():
        return [name for name in HOST_OPTIONS if not re.search(rf"^{name}=[ym]$", text, re.M)]
    return [name for name, device in (("CONFIG_NET_VRF", "vrf"),) if not _can_create(device)]


def _kernel_configs() -> list[str]:
    found = []
    with contextlib.suppress(OSError):
        found.append(gzip.decompress(Path("/proc/config.gz").read_bytes()).decode())
    with contextlib.suppress(OSError):
        found.append(Path(f"/boot/config-{os.uname().release}").read_text())
    return found


def _can_create(device: str) -> bool:
    command = f"ip link add probe type {device} {'table 10' if device == 'vrf' else ''}"
    argv: Sequence[str] = ["unshare", "--net", "sh", "-c", command]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0
