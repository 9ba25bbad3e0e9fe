"""Programs and maps of an object file in the kernel: loaded once, pinned in a folder of ours, taken
over after a restart.

Network namespaces may share one BPF file system, so each has a folder of its own (ADR 0055).

FOLDER/maps/NAME       configuration and counters; they outlive the programs
FOLDER/DIGEST/NAME     programs, under a digest of the object file that they are from
FOLDER/links/PLACE     what has them run on interfaces
"""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.hooks import Hooks
from srv6mgrd.ebpf.libbpf import Map
from srv6mgrd.netlink.errors import Failure

# linux/socket.h (asm-generic), from Linux 5.14 on: eight bytes, which no other network namespace
# gets before the next boot. The initial one is the first that gets one (net_ns_init).
_SO_NETNS_COOKIE, _COOKIE_SIZE = 71, 8
_INITIAL_NAMESPACE = 1


def folder_of_namespace(folder: str) -> Path:
    """Where the network namespace of this thread has its pins, given the initial one's folder."""
    with socket.socket(socket.AF_UNIX) as probe:
        found = probe.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, _COOKIE_SIZE)
    cookie = int.from_bytes(found, sys.byteorder)
    return Path(folder if cookie == _INITIAL_NAMESPACE else f"{folder}-{cookie}")


class PinnedPrograms:
    """``path`` is the object file, ``folder`` where all is pinned, ``programs`` are those that are
    used, and ``sizes`` says what each map's value takes when it is read."""

    def __init__(
        self,
        path: Path,
        folder: Path,
        programs: Sequence[str],
        sizes: Callable[[], Mapping[str, int]],
    ) -> None:
        self._path = path
        self.folder = folder
        self._names = programs
        self._sizes = sizes
        self.hooks = Hooks(self.folder / "links")
        self._fds: dict[str, int] = {}
        # Version of the file, and the digest of that.
        self._digest: tuple[tuple[int, ...], str] = ((), "")

    @property
    def digest(self) -> str:
        """Of the object file; empty when there is none."""
        try:
            status = self._path.stat()
            version = (status.st_ino, status.st_mtime_ns, status.st_size)
            if self._digest[0] != version:
                content = self._path.read_bytes()
                self._digest = version, hashlib.sha256(content).hexdigest()[:16]
        except OSError:
            return ""
        return self._digest[1]

    @property
    def present(self) -> bool:
        """Whether anything of ours is pinned."""
        return self.folder.is_dir()

    @property
    def intact(self) -> bool:
        """Whether all maps and the programs of this object file are pinned."""
        here = self._programs()
        if here is None:
            return False
        pins = [here / name for name in self._names]
        pins += [self.folder / "maps" / name for name in self._sizes()]
        return all(pin.exists() for pin in pins)

    def load_only(self) -> Failure | None:
        """Whether the kernel takes the programs, and can have them run; nothing stays."""
        if not self._path.exists():
            return Failure(errno.ENOENT, f"{self._path} is not installed")
        loaded = libbpf.load(self._path, None)
        if isinstance(loaded, Failure):
            return loaded
        # There is no such interface, and a kernel without tcx does not come as far as that.
        rejected = libbpf.link(loaded[self._names[0]], 0, libbpf.INGRESS)
        for fd in loaded.values():
            os.close(fd)
        if isinstance(rejected, Failure) and rejected.errno == errno.EINVAL:
            return Failure(errno.EINVAL, "the kernel has no tcx, which Linux 6.6 brought")
        return None

    def install(self) -> Failure | None:
        """Load and pin. Maps that are there, pinned or still held open, are kept, unless another
        version laid them out differently."""
        here = self._programs()
        if here is None:
            return Failure(errno.ENOENT, f"{self._path} is not installed")
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            if failure := libbpf.mount(self.folder.parent):
                return failure
            self._unpin(keep=("maps", "links"))
            (self.folder / "maps").mkdir(parents=True, exist_ok=True)
            here.mkdir()
        except OSError as error:
            return Failure(error.errno or 0, f"{self.folder}: {error.strerror}")
        lost = {n: fd for n, fd in self._fds.items() if not (self.folder / "maps" / n).exists()}
        if failure := libbpf.pin(lost, self.folder / "maps"):
            return failure
        for name in libbpf.changed_maps(self._path, self.folder / "maps"):
            (self.folder / "maps" / name).unlink()
            if (fd := self._fds.pop(name, None)) is not None:
                os.close(fd)
        loaded = libbpf.load(self._path, self.folder / "maps")
        if isinstance(loaded, Failure):
            return loaded
        try:
            return libbpf.pin({name: loaded[name] for name in self._names}, here)
        finally:
            for fd in loaded.values():
                os.close(fd)

    def remove(self) -> None:
        """Unpin all: no program runs anywhere any more."""
        self.close()
        self._unpin()

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds = {}

    def program(self, name: str) -> int | None:
        """A descriptor of a program, which the caller closes; None when it is not pinned."""
        here = self._programs()
        return None if here is None else libbpf.pinned(here / name)

    def ids(self) -> dict[int, str]:
        """The kernel's numbers of the pinned programs, and their names."""
        found = {}
        for name in self._names:
            if (fd := self.program(name)) is not None:
                found[libbpf.program_id(fd)] = name
                os.close(fd)
        return found

    def opened(self) -> dict[str, Map] | None:
        """All maps; None when one of them is not pinned, or another version's."""
        sizes = self._sizes()
        for name in sizes.keys() - self._fds.keys():
            if (fd := libbpf.pinned(self.folder / "maps" / name)) is None:
                continue
            if libbpf.read_size(fd) != sizes[name]:
                os.close(fd)
                continue
            self._fds[name] = fd
        if sizes.keys() - self._fds.keys():
            return None
        return {name: Map(self._fds[name], size) for name, size in sizes.items()}

    def _programs(self) -> Path | None:
        """Folder of the programs of this object file; None when there is no such file."""
        digest = self.digest
        return self.folder / digest if digest else None

    def _unpin(self, keep: Sequence[str] = ()) -> None:
        if not self.folder.is_dir():
            return
        for folder in list(self.folder.iterdir()):
            if folder.name not in keep:
                for pin in list(folder.iterdir()):
                    pin.unlink()
                folder.rmdir()
        if not keep:
            self.folder.rmdir()
