"""The bpf(2) system call, as far as SIDs need it: pinned programs, and loading a small one."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

from srv6mgrd.netlink.errors import Failure

# asm/unistd.h; x86-64 has a table of its own, newer architectures share one.
_SYSCALL = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "ppc64le": 361, "s390x": 351}
_LIBC = ctypes.CDLL(None, use_errno=True)
# linux/bpf.h: enum bpf_cmd
_BPF_PROG_LOAD = 5
_BPF_OBJ_GET = 7
_BPF_OBJ_GET_INFO_BY_FD = 15
# struct bpf_prog_info: type, id
_INFO = struct.Struct("=II")
_ATTRIBUTES = 128
_LICENSE = b"GPL\0"


def open_pinned(path: str) -> int | Failure:
    """A descriptor of the program that is pinned at this path; the caller closes it."""
    name = ctypes.create_string_buffer(os.fsencode(path))
    # pathname, bpf_fd, file_flags
    return call(_BPF_OBJ_GET, struct.pack("=QII", ctypes.addressof(name), 0, 0))


def pinned_id(path: str) -> int | None:
    """Id of the program that is pinned at this path; None when there is none."""
    program = open_pinned(path)
    if isinstance(program, Failure):
        return None
    try:
        info = ctypes.create_string_buffer(_INFO.size)
        # bpf_fd, info_len, info
        asked = struct.pack("=IIQ", program, _INFO.size, ctypes.addressof(info))
        if isinstance(call(_BPF_OBJ_GET_INFO_BY_FD, asked), Failure):
            return None
        number: int = _INFO.unpack(info.raw)[1]
        return number
    finally:
        os.close(program)


def load(kind: int, instructions: bytes) -> int | Failure:
    """A descriptor of a program of this type (BPF_PROG_TYPE_*); the caller closes it."""
    code = ctypes.create_string_buffer(instructions, len(instructions))
    license_ = ctypes.create_string_buffer(_LICENSE)
    # prog_type, insn_cnt, insns, license; all behind it may be zero.
    attributes = struct.pack(
        "=IIQQ",
        kind,
        len(instructions) // 8,
        ctypes.addressof(code),
        ctypes.addressof(license_),
    )
    return call(_BPF_PROG_LOAD, attributes)


def call(command: int, attributes: bytes) -> int | Failure:
    """bpf(2) with the union that the command takes, padded with zeros."""
    number = _SYSCALL.get(platform.machine())
    if number is None:
        return Failure(errno.ENOSYS, f"bpf(2) on {platform.machine()} is not known")
    padded = ctypes.create_string_buffer(attributes, _ATTRIBUTES)
    result: int = _LIBC.syscall(number, command, ctypes.byref(padded), _ATTRIBUTES)
    return result if result >= 0 else Failure.of(ctypes.get_errno())
