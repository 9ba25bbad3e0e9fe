"""The disk of the virtual machine, and the kernel that boots it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from lab import host, packages, rootfs
from lab.cache import Entry, digest, log_file
from lab.enclosure import private_argv
from lab.problem import LabError
from lab.progress import Progress

# A small server: the network is systemd-networkd's, and root logs in over SSH.
SERVER = (
    "linux-image-amd64", "systemd-sysv", "dbus", "udev", "kmod", "openssh-server", "iproute2",
    "iputils-ping", "procps", "jq", "ca-certificates",
)  # fmt: skip
# What the packages take from Debian, installed by this host: QEMU would translate for minutes.
# The repository has the rest.
REPOSITORY = ("sysrepo", "sysrepo-modules")
TOOLS = {"mke2fs": "e2fsprogs", "ssh-keygen": "openssh-client"}
DISK_MIB = 6144
# Of QEMU's user network: the machine, its gateway, which is this host, and its name server.
ADDRESS, GATEWAY, NAMES = "10.0.2.15", "10.0.2.2", "10.0.2.3"
FILES = {
    "etc/hostname": "router\n",
    "etc/hosts": "127.0.0.1 localhost\n127.0.1.1 router\n::1 localhost\n",
    "etc/resolv.conf": f"nameserver {NAMES}\n",
    "etc/fstab": "/dev/vda / ext4 errors=remount-ro 0 1\n",
    "etc/systemd/network/10-management.network": (
        f"[Match]\nName=eth0\n[Network]\nAddress={ADDRESS}/24\nGateway={GATEWAY}\nIPv6AcceptRA=no\n"
    ),
    # The initial root file system needs no more than the disk's drivers.
    "etc/initramfs-tools/conf.d/disk": "MODULES=list\n",
    "etc/initramfs-tools/modules": "virtio_pci\nvirtio_blk\next4\n",
}
# An ID of its own, because systemd enables all by preset where there is none (machine-id(5)).
FINISH = """set -e
systemd-machine-id-setup
systemctl --quiet enable systemd-networkd.service ssh.service
systemctl --quiet mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \\
    systemd-networkd-wait-online.service
update-initramfs -u
"""
DISK, KERNEL, INITRD, KEY = "disk.raw", "vmlinuz", "initrd.img", "id_ed25519"


def entry() -> Entry:
    """The folder of the disk, the kernel, the initial root file system and root's key."""

    depends = packages.depends((packages.DEBIAN / "control").read_text())
    wanted = [*SERVER, *sorted(depends - set(SERVER) - set(REPOSITORY))]

    def build(target: Path, progress: Progress) -> None:
        host.require_tools(TOOLS, progress)
        with progress.step(f"Debian {rootfs.SUITE} with its kernel"):
            root = rootfs.bootstrap(target, "vm", wanted, progress, plain=True, mount_points=())
        _finish(root, target, progress)
        with progress.step("disk"):
            _make_disk(root, target)

    files = [part for name, text in FILES.items() for part in (name, text)]
    key = digest(rootfs.SUITE, *wanted, str(DISK_MIB), FINISH, *files)
    return Entry("vm", key, DISK_MIB, build, apart=True)


def _finish(root: Path, target: Path, progress: Progress) -> None:
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(text)
    key = target / KEY
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "vm", "-f", str(key))
    keys = root / "root/.ssh"
    keys.mkdir(mode=0o700, exist_ok=True)
    shutil.copy(key.with_suffix(".pub"), keys / "authorized_keys")
    argv = private_argv({}, ["sh", "-c", _IN_ROOT, "sh", str(root), FINISH])
    host.run_logged(argv, log_file("vm"), progress, "virtual machine")


# update-initramfs looks at /proc and /sys.
_IN_ROOT = """set -e
for one in proc sys dev; do mount --rbind /$one "$1/$one"; done
exec chroot "$1" sh -c "$2"
"""


def _make_disk(root: Path, target: Path) -> None:
    for name, pattern in ((KERNEL, "vmlinuz-*"), (INITRD, "initrd.img-*")):
        (found,) = (root / "boot").glob(pattern)
        shutil.copy(found, target / name)
    disk = str(target / DISK)
    _run(
        "mke2fs", "-q", "-t", "ext4", "-E", "root_owner=0:0", "-d", str(root), disk, f"{DISK_MIB}M"
    )
    shutil.rmtree(root)


def _run(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(argv[0], done.stderr.strip() or f"failed with status {done.returncode}")
