"""libbpf, reached by dlopen: loading the programs, pins, and maps as bytes.

From 1.0 on it answers with a negative errno, or NULL and errno.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cffi

from srv6mgrd.netlink.errors import Failure, KernelError

_LIBRARY = "libbpf.so.1"
_DECLARATIONS = """
typedef int (*libbpf_print_fn_t)(int level, const char *format, void *arguments);
libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t print);
int libbpf_num_possible_cpus(void);
struct bpf_object_open_opts {
    size_t sz;
    const char *object_name;
    bool relaxed_maps;
    const char *pin_root_path;
    uint32_t unused;
    const char *kconfig;
    const char *btf_custom_path;
    char *kernel_log_buf;
    size_t kernel_log_size;
    uint32_t kernel_log_level;
    size_t padding;
};
void *bpf_object__open_file(const char *path, const struct bpf_object_open_opts *options);
int bpf_object__load(void *object);
void bpf_object__close(void *object);
void *bpf_object__next_map(const void *object, const void *map);
const char *bpf_map__name(const void *map);
int bpf_map__fd(const void *map);
int bpf_map__reuse_fd(void *map, int fd);
int bpf_map__set_pin_path(void *map, const char *path);
int bpf_map__type(const void *map);
uint32_t bpf_map__key_size(const void *map);
uint32_t bpf_map__value_size(const void *map);
uint32_t bpf_map__max_entries(const void *map);
void *bpf_object__next_program(const void *object, void *program);
const char *bpf_program__name(const void *program);
int bpf_program__fd(const void *program);
int bpf_raw_tracepoint_open(const char *name, int program);
int bpf_obj_pin(int fd, const char *path);
int bpf_obj_get(const char *path);
int bpf_map_lookup_elem_flags(int fd, const void *key, void *value, uint64_t flags);
int bpf_map_update_elem(int fd, const void *key, const void *value, uint64_t flags);
int bpf_map_delete_elem(int fd, const void *key);
int bpf_map_get_next_key(int fd, const void *key, void *next);
int bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, uint32_t *count,
                         const void *options);
int bpf_map_get_info_by_fd(int fd, void *info, uint32_t *length);
int bpf_prog_get_info_by_fd(int fd, void *info, uint32_t *length);
int bpf_link_create(int program, int target, int type, const void *options);
int bpf_link_update(int link, int program, const void *options);
int bpf_link_detach(int link);
int bpf_link_get_info_by_fd(int fd, void *info, uint32_t *length);
"""
# Elements that are not preallocated come from a small pool that the kernel refills from an
# interrupt (bpf_mem_refill): a burst of writes may find it empty.
_TRIES, _REFILL = 20, 0.005
# linux/bpf.h: struct bpf_prog_info begins with type and id, struct bpf_link_info with type, id and
# that of the program; from byte 16 on a link to tcx has ifindex and side. struct bpf_map_info
# begins with type, id, sizes of key and value, and the number of entries.
_INFO = 256
# BPF_TCX_INGRESS and BPF_TCX_EGRESS: the sides of an interface.
INGRESS, EGRESS = 46, 47
_BPF_F_LOCK = 4
_PERCPU_HASH, _PERCPU_ARRAY = 5, 6
# Elements read at once: more than a bucket of a hash map has (__htab_map_lookup_and_delete_batch).
_BATCH = 4096
# Room for the verifier's log; how it traces instructions (print_insn_state), and what follows the
# reason.
_LOG = 1 << 20
_INSTRUCTION = re.compile(r"\d+: |from \d+ to \d+|;")
_REST = re.compile(r"processed \d+ insns|verification time|Verification failed")


@cache
def _library() -> tuple[cffi.FFI, Any]:
    """Raises KernelError when it is not installed."""
    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    try:
        library: Any = ffi.dlopen(_LIBRARY)
    except OSError as error:
        raise KernelError("libbpf", str(error), "install libbpf1") from None
    # It writes to stderr; failures are reported by errno.
    library.libbpf_set_print(ffi.NULL)
    return ffi, library


def possible_cpus() -> int:
    """How many values an element of a per-CPU map has."""
    count: int = _library()[1].libbpf_num_possible_cpus()
    return count


class Map:
    """A map by its descriptor, which it owns. Keys and values are packed bytes."""

    def __init__(self, fd: int, value_size: int) -> None:
        self._ffi, self._library = _library()
        self._fd = fd
        self.value_size = value_size
        self._value = self._ffi.new("char[]", value_size)

    def close(self) -> None:
        os.close(self._fd)

    def get(self, key: bytes, *, locked: bool = False) -> bytes | None:
        """``locked`` holds the element's lock meanwhile. Of a per-CPU map all values."""
        flags = _BPF_F_LOCK if locked else 0
        code = self._library.bpf_map_lookup_elem_flags(self._fd, key, self._value, flags)
        if code:
            self._check(code, errno.ENOENT)
            return None
        return bytes(self._ffi.buffer(self._value))

    def put(self, key: bytes, value: bytes, *, locked: bool = False) -> Failure | None:
        """Why the kernel rejects it; ``locked`` writes an element in place, under its lock."""
        flags = _BPF_F_LOCK if locked else 0
        for _ in range(_TRIES):
            code = self._library.bpf_map_update_elem(self._fd, key, value, flags)
            if code != -errno.ENOMEM:
                break
            time.sleep(_REFILL)
        return Failure.of(-code) if code else None

    def delete(self, key: bytes) -> None:
        self._check(self._library.bpf_map_delete_elem(self._fd, key), errno.ENOENT)

    def keys(self, size: int) -> Iterator[bytes]:
        """All keys of this size; don't change the map meanwhile."""
        key, following = self._ffi.NULL, self._ffi.new("char[]", size)
        while not (code := self._library.bpf_map_get_next_key(self._fd, key, following)):
            key = self._ffi.new("char[]", bytes(self._ffi.buffer(following)) + b"\0")
            yield bytes(self._ffi.buffer(following))
        self._check(code, errno.ENOENT)

    def items(self, size: int) -> Iterator[tuple[bytes, bytes]]:
        """All keys of this size of a hash map and their values, many at once: one that is written
        or goes meanwhile may be among them or not."""
        taken = self._ffi.sizeof(self._value)
        keys = self._ffi.new("char[]", _BATCH * size)
        values = self._ffi.new("char[]", _BATCH * taken)
        place, count = self._ffi.new("uint32_t *"), self._ffi.new("uint32_t *")
        begin = self._ffi.NULL
        while True:
            count[0] = _BATCH
            code = self._library.bpf_map_lookup_batch(
                self._fd, begin, place, keys, values, count, self._ffi.NULL
            )
            self._check(code, errno.ENOENT)
            found = count[0]
            raw_keys = bytes(self._ffi.buffer(keys, found * size))
            raw_values = bytes(self._ffi.buffer(values, found * taken))
            for n in range(found):
                yield (
                    raw_keys[n * size : n * size + size],
                    raw_values[n * taken : n * taken + taken],
                )
            if code:
                return
            begin = place

    @staticmethod
    def _check(code: int, expected: int) -> None:
        if code not in (0, -expected):
            raise KernelError("BPF map", os.strerror(-code), "check the kernel log")


def changed_maps(path: Path, folder: Path) -> list[str]:
    """Maps pinned in this folder that the object file lays out in another way: those of an earlier
    version, which libbpf would not load the programs with."""
    _, library = _library()
    handle = _opened(path)
    if isinstance(handle, Failure):
        return []
    try:
        return [
            _text(library.bpf_map__name(part))
            for part in _parts(handle, library.bpf_object__next_map)
            if _differs(part, folder / _text(library.bpf_map__name(part)))
        ]
    finally:
        library.bpf_object__close(handle)


def _differs(part: Any, pin: Path) -> bool:
    _, library = _library()
    fd = pinned(pin)
    if fd is None:
        return False
    try:
        return _map_layout(fd) != (
            library.bpf_map__type(part),
            library.bpf_map__key_size(part),
            library.bpf_map__value_size(part),
            library.bpf_map__max_entries(part),
        )
    finally:
        os.close(fd)


def _map_layout(fd: int) -> tuple[int, int, int, int]:
    """Type, sizes of key and value, number of entries."""
    ffi, library = _library()
    info, length = ffi.new("uint32_t[]", _INFO // 4), ffi.new("uint32_t *", _INFO)
    if code := library.bpf_map_get_info_by_fd(fd, info, length):
        raise KernelError("BPF map", os.strerror(-code), "run with CAP_BPF")
    return info[0], info[2], info[3], info[4]


def read_size(fd: int) -> int:
    """How many bytes an element takes when it is read: of a per-CPU map a value for each CPU."""
    kind, _, value, _ = _map_layout(fd)
    return (
        (value + 7) // 8 * 8 * possible_cpus() if kind in (_PERCPU_HASH, _PERCPU_ARRAY) else value
    )


def _opened(path: Path, log: Any = None) -> Any:
    """The object file, or a Failure."""
    ffi, library = _library()
    options: Any = ffi.new("struct bpf_object_open_opts *")
    options.sz = ffi.sizeof("struct bpf_object_open_opts")
    if log is not None:
        options.kernel_log_buf, options.kernel_log_size = log, _LOG
    handle = library.bpf_object__open_file(os.fsencode(path), options)
    if handle == ffi.NULL:
        return Failure(ffi.errno, f"{path}: {os.strerror(ffi.errno)}")
    return handle


def load(path: Path, maps: Path | None) -> dict[str, int] | Failure:
    """Load all programs of an object file; their descriptors by name, which the caller closes.

    Maps that are pinned in the folder ``maps`` are taken as they are, others are made and pinned
    there; without a folder all are new and go with the programs.
    """
    loaded = _loaded(path, maps)
    if isinstance(loaded, Failure):
        return loaded
    programs, opened = loaded
    for fd in opened.values():
        os.close(fd)
    return programs


def load_with_maps(
    path: Path, shared: Mapping[str, int] = MappingProxyType({})
) -> tuple[dict[str, int], dict[str, int]] | Failure:
    """The same of new maps, with their descriptors; those of these names are ``shared``."""
    return _loaded(path, None, shared)


def _loaded(
    path: Path, maps: Path | None, shared: Mapping[str, int] = MappingProxyType({})
) -> tuple[dict[str, int], dict[str, int]] | Failure:
    ffi, library = _library()
    # Filled only when the kernel rejects a program: libbpf then loads it again, with the log.
    log = ffi.new("char[]", _LOG)
    handle = _opened(path, log)
    if isinstance(handle, Failure):
        return handle
    try:
        for part in _parts(handle, library.bpf_object__next_map):
            if maps is not None:
                name = maps / _text(library.bpf_map__name(part))
                library.bpf_map__set_pin_path(part, os.fsencode(name))
        for part in _parts(handle, library.bpf_object__next_map) if shared else ():
            library.bpf_map__reuse_fd(part, shared[_text(library.bpf_map__name(part))])
        if code := library.bpf_object__load(handle):
            return Failure(-code, _why(os.strerror(-code), _text(log)))
        programs = {
            _text(library.bpf_program__name(part)): os.dup(library.bpf_program__fd(part))
            for part in _parts(handle, library.bpf_object__next_program)
        }
        return programs, {
            _text(library.bpf_map__name(part)): os.dup(library.bpf_map__fd(part))
            for part in _parts(handle, library.bpf_object__next_map)
        }
    finally:
        library.bpf_object__close(handle)


def _why(error: str, log: str) -> str:
    """The error, with what the verifier minds: what its log says behind the last instruction and
    before the statistics, or the explanations that Linux 7.3 adds."""
    said: list[str] = []
    for line in filter(None, map(str.strip, log.splitlines())):
        if _INSTRUCTION.match(line):
            said = []
        elif _REST.match(line):
            break
        else:
            said.append(line)
    return f"{error}: {'; '.join(said)}" if said else error


def _parts(handle: Any, following: Any) -> Iterator[Any]:
    ffi, _ = _library()
    part = ffi.NULL
    while (part := following(handle, part)) != ffi.NULL:
        yield part


def _text(name: Any) -> str:
    found: bytes = _library()[0].string(name)  # type: ignore[assignment]
    return found.decode()


def pin(fds: Mapping[str, int], folder: Path) -> Failure | None:
    """Pin descriptors under their names."""
    for name, fd in fds.items():
        if code := _library()[1].bpf_obj_pin(fd, os.fsencode(folder / name)):
            return Failure.of(-code)
    return None


def pinned(path: Path) -> int | None:
    """A descriptor of what is pinned there, which the caller closes; None when nothing is."""
    _, library = _library()
    fd: int = library.bpf_obj_get(os.fsencode(path))
    if fd >= 0:
        return fd
    if fd in (-errno.ENOENT, -errno.ENOTDIR):
        return None
    raise KernelError(f"pin {path}", os.strerror(-fd), "check that bpffs is mounted there")


def program_id(fd: int) -> int:
    """The kernel's number of a program."""
    ffi, library = _library()
    info, length = ffi.new("uint32_t[]", _INFO // 4), ffi.new("uint32_t *", _INFO)
    if code := library.bpf_prog_get_info_by_fd(fd, info, length):
        raise KernelError("BPF program", os.strerror(-code), "run with CAP_BPF")
    number: int = info[1]
    return number


@dataclass(frozen=True, slots=True)
class LinkInfo:
    """A link to tcx; ``ifindex`` is 0 when its interface is gone, or it was detached."""

    program_id: int
    ifindex: int
    side: int


def link(program: int, ifindex: int, side: int) -> int | Failure:
    """Have a program run on one side of an interface, behind those that are there. A descriptor of
    the link, which the caller closes: it goes with its last one, or its pin."""
    ffi, library = _library()
    fd: int = library.bpf_link_create(program, ifindex, side, ffi.NULL)
    return fd if fd >= 0 else Failure.of(-fd)


def trace(program: int, tracepoint: str) -> int | Failure:
    """Run it at a raw tracepoint, until the descriptor is closed."""
    fd: int = _library()[1].bpf_raw_tracepoint_open(tracepoint.encode(), program)
    return fd if fd >= 0 else Failure.of(-fd)


def link_info(fd: int) -> LinkInfo:
    ffi, library = _library()
    info, length = ffi.new("uint32_t[]", _INFO // 4), ffi.new("uint32_t *", _INFO)
    if code := library.bpf_link_get_info_by_fd(fd, info, length):
        raise KernelError("BPF link", os.strerror(-code), "run with CAP_BPF")
    return LinkInfo(program_id=info[2], ifindex=info[4], side=info[5])


def update_link(fd: int, program: int) -> Failure | None:
    """Another program in place of the one that the link runs, between two packets."""
    ffi, library = _library()
    code = library.bpf_link_update(fd, program, ffi.NULL)
    return Failure.of(-code) if code else None


def detach_link(fd: int) -> None:
    """The program no longer runs there, even if another process holds the link."""
    _library()[1].bpf_link_detach(fd)


# linux/magic.h, statfs(2), mount(2)
_BPF_FS_MAGIC = 0xCAFE4A11
_LIBC = ctypes.CDLL(None, use_errno=True)


def mount(point: Path) -> Failure | None:
    """Mount a BPF file system there, unless there is one."""
    answer = (ctypes.c_long * 32)()
    if not _LIBC.statfs(os.fsencode(point), answer) and answer[0] == _BPF_FS_MAGIC:
        return None
    if _LIBC.mount(b"bpf", os.fsencode(point), b"bpf", 0, b"mode=0700"):
        number = ctypes.get_errno()
        return Failure(number, f"mount of bpffs on {point}: {os.strerror(number)}")
    return None
