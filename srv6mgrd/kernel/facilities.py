"""Facilities beside routing, each tried out in the network namespace of the calling thread: the
reason why the kernel does not offer it, or nothing."""

from __future__ import annotations

import struct
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.kinds.boundary.kernel import BoundaryTable
from srv6mgrd.kinds.boundary.object import Boundary
from srv6mgrd.kinds.sid import bpf
from srv6mgrd.netlink.errors import Failure, KernelError
from srv6mgrd.proxy.programs import Programs

# linux/bpf.h: enum bpf_prog_type
_LWT_SEG6LOCAL = 19
# Digests of the proxies' programs that the kernel has taken.
_taken: set[str] = set()
_INSTRUCTION = struct.Struct("=BBhi")
_MOVE, _EXIT = 0xB7, 0x95


def nftables() -> str:
    """The filter at the boundary can be put in place."""
    table = BoundaryTable()
    wanted = Boundary(("probe",), (IPv6Network("fc00::/7"),), (IPv6Address("fc00::1"),))
    try:
        if failure := table.create(wanted):
            return failure.message
        if [seen.object for seen in table.observed()] != [wanted]:
            return "the kernel holds something else than was written"
        return ""
    finally:
        table.close()


def proxy_programs() -> str:
    """The programs of the service proxies can be loaded. Verifying takes longer than all else that
    is tried, so those that were taken once are not tried again."""
    programs = Programs()
    if (digest := programs.digest) in _taken:
        return ""
    try:
        failure = programs.load_only()
    except KernelError as error:
        return str(error)
    if failure is not None:
        return failure.message
    _taken.add(digest)
    return ""


def seg6local_program() -> int | Failure:
    """A descriptor of a program for End.BPF that lets packets go on; the caller closes it."""
    code = _INSTRUCTION.pack(_MOVE, 0, 0, 0) + _INSTRUCTION.pack(_EXIT, 0, 0, 0)
    return bpf.load(_LWT_SEG6LOCAL, code)
