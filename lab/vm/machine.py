"""The running virtual machine: commands over SSH, and reboots."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lab import host
from lab.cache import make_folder
from lab.problem import LabError, MachineError
from lab.progress import Progress
from lab.vm import image
from lab.waiting import wait_until

TOOLS = {"qemu-system-x86_64": "qemu-system-x86", "ssh": "openssh-client"}
MEMORY_MIB = 3072
BOOT = 1500.0
SSH = (
    "ssh", "-q", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
    "-o", "BatchMode=yes",
    # On a busy host translated code answers late.
    "-o", "ConnectTimeout=120", "-o", "ServerAliveInterval=60", "-o", "ServerAliveCountMax=20",
)  # fmt: skip


class VirtualMachine:
    """One machine; what it writes to its disk is gone when it ends, and kept over its reboots."""

    def __init__(self, made: Path, out: Path) -> None:
        self._made = made
        self.console = out / "console.log"
        self._port = _free_port()
        # ssh takes no key that others could read.
        self._keys = Path(tempfile.mkdtemp(prefix="srv6mgr-vm-"))
        self._key = Path(shutil.copy(made / image.KEY, self._keys))
        self._key.chmod(0o600)
        with (out / "qemu.log").open("w") as log:
            self._qemu = subprocess.Popen(
                [*host.DIE_WITH_PARENT, *self._argv()], stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def _argv(self) -> list[str]:
        network = f"user,id=net,hostfwd=tcp:127.0.0.1:{self._port}-:22"
        disk = f"file={self._made / image.DISK},if=virtio,format=raw,snapshot=on"
        return [
            "qemu-system-x86_64", "-no-user-config", "-nodefaults", "-display", "none",
            "-machine", "q35", "-accel", accelerator(), "-cpu", "max", "-smp", "2",
            "-m", str(MEMORY_MIB),
            "-kernel", str(self._made / image.KERNEL), "-initrd", str(self._made / image.INITRD),
            "-append", "root=/dev/vda rw console=ttyS0 net.ifnames=0 mitigations=off",
            "-drive", disk, "-netdev", network, "-device", "virtio-net-pci,netdev=net",
            "-device", "virtio-rng-pci", "-serial", f"file:{self.console}",
        ]  # fmt: skip

    def run(
        self, command: str, *, stdin: str | None = None, timeout: float = 600, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """A shell line as root. LabError with what it said, where it fails."""
        address = ("-i", str(self._key), "-p", str(self._port), "root@127.0.0.1")
        try:
            done = subprocess.run(
                [*SSH, *address, command], input=stdin if stdin is not None else "", text=True,
                capture_output=True, timeout=timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            raise LabError(command, f"did not end within {late.timeout:g} s") from None
        if check and done.returncode:
            said = f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
            raise LabError(command, f"status {done.returncode}: {said}")
        return done

    def wait_for_boot(self, before: str = "") -> str:
        """Wait until all is started; the ID of this boot, which is not that of ``before``."""
        found = ""

        def is_up() -> bool:
            nonlocal found
            self._require()
            done = self.run(
                "cat /proc/sys/kernel/random/boot_id; systemctl is-system-running", check=False
            )
            found, state, *_ = [*done.stdout.split(), "", ""]
            return found not in ("", before) and state in ("running", "degraded")

        wait_until(is_up, "boot of the virtual machine", BOOT, 1.0, seen=self._last_lines)
        return found

    def boot_id(self) -> str:
        """Another one after each boot."""
        return self.run("cat /proc/sys/kernel/random/boot_id").stdout.strip()

    def reboot(self) -> None:
        """``systemctl reboot``, and wait until all is started again."""
        before = self.boot_id()
        self.run("systemctl reboot", check=False)
        self.wait_for_boot(before)

    def close(self) -> None:
        """End it at once."""
        self._qemu.kill()
        self._qemu.wait()
        shutil.rmtree(self._keys, ignore_errors=True)

    def _require(self) -> None:
        if self._qemu.poll() is not None:
            raise MachineError("QEMU", f"ended with status {self._qemu.returncode}")

    def _last_lines(self) -> str:
        with contextlib.suppress(OSError):
            lines = self.console.read_text(errors="replace").splitlines()
            return " | ".join(lines[-5:])
        return "no console"


@contextlib.contextmanager
def started(made: Path, out: Path) -> Iterator[VirtualMachine]:
    """A machine that has booted."""
    host.require_tools(TOOLS, Progress())
    running = VirtualMachine(made, make_folder(out, "set LAB_OUT to another folder"))
    try:
        running.wait_for_boot()
        yield running
    finally:
        running.close()


def accelerator() -> str:
    """QEMU translates the code of the machine where the processor does not virtualize: a boot takes
    minutes. A /dev/kvm alone proves nothing: it may be there without the processor's part."""
    flags = set(Path("/proc/cpuinfo").read_text().split())
    return "kvm" if os.access("/dev/kvm", os.W_OK) and flags & {"vmx", "svm"} else "tcg"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
