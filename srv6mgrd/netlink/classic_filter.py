"""Classic BPF: filters that the kernel runs on what a socket is to receive (SO_ATTACH_FILTER,
Documentation/networking/filter.rst). What they drop costs no wake-up, and no room in a buffer."""

from __future__ import annotations

import ctypes
import socket
import struct
from collections.abc import Iterable

# linux/filter.h, linux/bpf_common.h
LOAD_WORD, LOAD_HALF, LOAD_BYTE = 0x20, 0x28, 0x30
AND, JUMP_EQUAL, RETURN = 0x54, 0x15, 0x06
ALL = 0xFFFFFFFF
_SO_ATTACH_FILTER = 26

# Code, steps to jump if equal, steps to jump if not, operand (struct sock_filter).
Instruction = tuple[int, int, int, int]


def assembled(instructions: Iterable[Instruction]) -> bytes:
    return b"".join(struct.pack("=HBBI", *one) for one in instructions)


def all_of(*tests: tuple[int, int, int]) -> bytes:
    """Accepts where each load from an offset gives a value (both in network order)."""
    lines: list[Instruction] = []
    for number, (load, offset, value) in enumerate(tests, 1):
        lines.append((load, 0, 0, offset))
        lines.append((JUMP_EQUAL, 0, 2 * (len(tests) - number) + 1, value))
    return assembled([*lines, (RETURN, 0, 0, ALL), (RETURN, 0, 0, 0)])


def attach(target: socket.socket, code: bytes) -> None:
    """Have the kernel drop what this filter does not accept."""
    # struct sock_fprog: the kernel copies the instructions during the call.
    held = ctypes.create_string_buffer(code, len(code))
    pointer = ctypes.addressof(held)
    target.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", len(code) // 8, pointer)
    )
