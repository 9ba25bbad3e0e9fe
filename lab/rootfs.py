"""The lab's root file system: Debian trixie, with sysrepo and libyang from its backports."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from lab import host
from lab.cache import Entry, digest, log_file
from lab.enclosure import private_argv
from lab.progress import Progress

SUITE = "trixie"
BACKPORTS = f"{SUITE}-backports"
FROM_BACKPORTS = "sysrepo sysrepo-* libsysrepo* libyang* libnetconf2*"
PACKAGES = (
    # the services under test and what they are built with
    "frr", "frr-pythontools", "redis-server", "sysrepo", "libsysrepo-dev", "libyang-dev",
    "libyang3-tools", "libnetconf2-dev", "libssh-dev", "libcurl4-openssl-dev",
    "openssh-server", "openssh-client", "python3", "python3-venv", "python3-dev",
    "gcc", "g++", "libc6-dev", "make", "cmake", "pkgconf",
    "clang", "llvm", "libbpf-dev", "bpftool",
    # the network and how it is looked at
    "iproute2", "iputils-ping", "nftables", "ethtool", "iperf3", "tcpdump", "netcat-openbsd",
    "jq", "procps", "less", "strace", "tini", "ca-certificates", "openssl",
    # the kernel's own build
    "flex", "bison", "bc", "libelf-dev", "libssl-dev", "xz-utils",
)  # fmt: skip
PLAIN = ("ca-certificates",)
DPKG_OPTIONS = (
    "path-exclude=/usr/share/man/*",
    "path-exclude=/usr/share/locale/*",
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
)
MOUNT_POINTS = ("src", "build", "lab/out", "lab/run", "opt/srv6mgr", "opt/pygnmi", "opt/sysrepo")
# The kernel can only start a program of its root; this one goes on in the checkout.
INIT = """#!/bin/sh
mount -t tmpfs -o mode=755 lab /lab
mkdir /lab/src
mount -t hostfs -o "hostfs=$LAB_JOB/src" src /lab/src
exec /bin/sh /lab/src/lab/guest/boot.sh
"""
# mmdebstrap shows the host's /dev in the root: sysrepo, as a package installs modules, would leave
# its shared memory on the host, and find that of others.
OWN_MEMORY = 'mount -t tmpfs -o mode=1777 shm /dev/shm && exec "$@"'
PREFERENCES = f"""Package: {FROM_BACKPORTS}
Pin: release n={BACKPORTS}
Pin-Priority: 990
"""


def entry() -> Entry:
    key = digest(SUITE, *PACKAGES, *DPKG_OPTIONS, *MOUNT_POINTS, PREFERENCES, INIT)
    return Entry("root", key, 2500, build)


def build(target: Path, progress: Progress) -> None:
    with progress.step(f"Debian {SUITE}, {len(PACKAGES)} packages"):
        root = bootstrap(target, "root", PACKAGES, progress)
    init = root / "lab/init"
    init.write_text(INIT)
    init.chmod(0o755)
    shutil.rmtree(root / "var/cache/apt", ignore_errors=True)


def plain_entry() -> Entry:
    """A bare Debian, to install the packages in from a repository."""

    def build(target: Path, progress: Progress) -> None:
        bootstrap(target, "plain", PLAIN, progress, plain=True)

    return Entry("plain", digest(SUITE, *PLAIN), 400, build)


def bootstrap(
    target: Path,
    kind: str,
    packages: Sequence[str],
    progress: Progress,
    variant: str = "minbase",
    *,
    plain: bool = False,
    sources: Sequence[str] = (),
    mount_points: Sequence[str] = MOUNT_POINTS,
) -> Path:
    """Debian with the given packages in a folder of target, some from further ``sources``. A
    ``plain`` one is as Debian's installer leaves it: without backports, and with documentation."""
    host.require_tools({"mmdebstrap": "mmdebstrap"}, progress)
    mirror = host.debian_mirror()
    root = target / "root"
    preferences = target / "preferences"
    preferences.write_text(PREFERENCES)
    argv = [
        "mmdebstrap",
        "--verbose",
        f"--variant={variant}",
        "--mode=root",
        f"--include={','.join(packages)}",
    ]
    argv += [f"--aptopt={line}" for line in host.apt_settings()]
    suites = [f"deb {mirror} {SUITE} main"]
    if not plain:
        smaller = ('Acquire::Languages "none";', 'APT::Install-Recommends "false";')
        argv += [f"--aptopt={line}" for line in smaller]
        argv += [f"--dpkgopt={line}" for line in DPKG_OPTIONS]
        argv += [
            '--setup-hook=mkdir -p "$1/etc/apt/preferences.d"',
            f"--setup-hook=copy-in {preferences} /etc/apt/preferences.d",
        ]
        suites.append(f"deb {mirror} {BACKPORTS} main")
    argv += [SUITE, str(root), *suites, *sources]
    argv = ["sh", "-c", OWN_MEMORY, "sh", *argv]
    host.run_logged(private_argv({}, argv), log_file(kind), progress, "root file system")
    for name in mount_points:
        (root / name).mkdir(parents=True, exist_ok=True)
    preferences.unlink()
    return root
