"""What the lab needs of the host: root, a few tools, a Debian mirror, its certificates."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from lab.problem import LabError
from lab.progress import Progress

MIRROR_FORMAT = "$(REPO_URI)|$(ORIGIN)|$(COMPONENT)|$(RELEASE)"
APT_SETTINGS = (
    "Acquire::http::Proxy",
    "Acquire::https::Proxy",
    "Acquire::Check-Valid-Until",
    "Acquire::Check-Date",
    "Acquire::Retries",
)
CA_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
)
MACHINES = ("x86_64", "amd64")
# Before a command: even a SIGKILL of this process must leave nothing running.
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")


def require_host() -> None:
    """LabError with the first thing that this machine lacks, before anything is fetched."""
    system, machine = platform.system(), platform.machine()
    if system != "Linux":
        raise LabError(
            system, "is not Linux, whose namespaces the lab uses", "use a Linux virtual machine"
        )
    if machine not in MACHINES:
        raise LabError(
            f"architecture {machine}",
            "the lab's kernel (User-Mode Linux) and the packages are for amd64 only",
            "use an x86-64 machine, or one that QEMU emulates",
        )
    if os.geteuid() != 0:
        raise LabError(
            f"user {os.geteuid()}", "is not root, which namespaces and mounts need", "use sudo"
        )
    for tool in ("unshare", "setpriv"):
        if shutil.which(tool) is None:
            raise LabError(tool, "is missing", "install util-linux")
    tried = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if tried.returncode:
        raise LabError(
            "namespaces", _last(tried.stderr), "in a container: start it with --privileged"
        )


def require_tools(packages: dict[str, str], progress: Progress) -> None:
    """Have the given programs (name -> Debian package); install what is missing."""
    missing = {tool: pkg for tool, pkg in packages.items() if shutil.which(tool) is None}
    if not missing:
        return
    names = sorted(set(missing.values()))
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise LabError(
            "host tools", f"missing: {' '.join(sorted(missing))}", f"install {' '.join(names)}"
        )
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with progress.step(f"install {' '.join(names)}"):
        for argv in (["apt-get", "-q", "update"], ["apt-get", "-qy", "install", *names]):
            done = subprocess.run(
                argv, env=environment, capture_output=True, text=True, check=False
            )
        if done.returncode:
            raise LabError(
                "host tools",
                f"apt-get could not install {' '.join(names)}: {_last(done.stderr)}",
                "install them by hand",
            )


def debian_mirror() -> str:
    """The mirror this machine already uses; LAB_MIRROR overrides."""
    given = os.environ.get("LAB_MIRROR")
    if given:
        return given
    try:
        listed = subprocess.run(
            ["apt-get", "indextargets", "--format", MIRROR_FORMAT],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
    except FileNotFoundError:
        listed = ""
    return choose_mirror(listed.splitlines())


def choose_mirror(targets: Iterable[str]) -> str:
    """The address of Debian's main archive out of lines in MIRROR_FORMAT."""
    seen: list[str] = []
    for line in targets:
        fields = line.strip().split("|")
        if len(fields) != 4:
            continue
        address, origin, component, release = fields
        # Before the first `apt-get update` the origin is not known: the folder name decides.
        debian = origin == "Debian" or address.rstrip("/").endswith("/debian")
        security = "security" in release or address.rstrip("/").endswith("-security")
        if debian and not security and component == "main":
            seen.append(address)
    if not seen:
        raise LabError(
            "Debian mirror",
            "none in this machine's apt configuration",
            "set LAB_MIRROR to the address of one",
        )
    return max(sorted(set(seen)), key=seen.count)


def apt_settings() -> list[str]:
    """The host's apt settings about fetching, as lines for the new root's apt."""
    if shutil.which("apt-config") is None:
        return []
    dump = subprocess.run(
        ["apt-config", "dump"], capture_output=True, text=True, check=False
    ).stdout
    return [line for line in dump.splitlines() if line.split(" ", 1)[0] in APT_SETTINGS]


def ca_bundle() -> Path | None:
    for name in (os.environ.get("SSL_CERT_FILE"), *CA_BUNDLES):
        if name and Path(name).is_file():
            return Path(name)
    return None


def run_logged(
    argv: Sequence[str],
    log: Path,
    progress: Progress,
    subject: str,
    environment: dict[str, str] | None = None,
) -> None:
    """Run a long command: each line of its output is progress, and goes to the log."""
    tail: list[str] = []
    with (
        log.open("a") as out,
        subprocess.Popen(
            [*DIE_WITH_PARENT, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
        ) as child,
    ):
        assert child.stdout is not None
        try:
            for line in child.stdout:
                out.write(line)
                tail = [*tail[-14:], line.rstrip()]
                progress.line()
        except BaseException:
            child.kill()
            raise
    if child.returncode:
        if (cause := unreachable(tail)) is not None:
            raise LabError(subject, *cause)
        for line in tail:
            progress.say(f"| {line}")
        raise LabError(subject, f"failed with status {child.returncode}", f"all output: {log}")


def unreachable(lines: Iterable[str]) -> tuple[str, str] | None:
    """Cause and remedy, where lines of apt's or pip's output say that a server does not answer."""
    for line in lines:
        if found := re.search(r"Failed to fetch (\S+)\s+(.+)", line):
            return f"{found[1]}: {found[2]}", "check network and proxy, or set LAB_MIRROR"
        if found := re.search(r"Retrying .* after connection broken by '(.*)': (/\S+)", line):
            return f"{found[2]}: {found[1]}", "check network and proxy, or set PIP_INDEX_URL"
    return None


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
