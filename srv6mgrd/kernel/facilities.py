"""Facilities beside routing, each tried out in the network namespace of the calling thread: the
reason why the kernel does not offer it, or nothing."""

from __future__ import annotations

import socket
import struct

from srv6mgrd.kernel import bpf, wire
from srv6mgrd.kernel.errors import Failure, KernelError
from srv6mgrd.kernel.socket import failure_of
from srv6mgrd.proxy.programs import Programs

# linux/netlink.h, linux/netfilter/nfnetlink.h, linux/netfilter/nf_tables.h
_NETLINK_NETFILTER = 12
_NFPROTO_INET = 1
_NFNL_SUBSYS_NFTABLES = 10
_NFNL_MSG_BATCH_BEGIN = 0x10
_NFNL_MSG_BATCH_END = 0x11
_NFT_MSG_NEWTABLE = _NFNL_SUBSYS_NFTABLES << 8
_NFTA_TABLE_NAME = 1
_NFGENMSG = struct.Struct("!BBH")
_TIMEOUT_SECONDS = 5

# linux/bpf.h: enum bpf_prog_type
_LWT_SEG6LOCAL = 19
# Digests of the proxies' programs that the kernel has taken.
_taken: set[str] = set()
_INSTRUCTION = struct.Struct("=BBhi")
_MOVE, _EXIT = 0xB7, 0x95


def nftables() -> str:
    """A table of family inet can be made."""
    begin = _NFGENMSG.pack(socket.AF_UNSPEC, 0, _NFNL_SUBSYS_NFTABLES)
    table = _NFGENMSG.pack(_NFPROTO_INET, 0, 0) + wire.nla_text(_NFTA_TABLE_NAME, "probe")
    create = wire.NLM_F_CREATE | wire.NLM_F_ACK
    batch = wire.message(_NFNL_MSG_BATCH_BEGIN, 0, begin)
    batch += wire.message(_NFT_MSG_NEWTABLE, create, table)
    batch += wire.message(_NFNL_MSG_BATCH_END, 0, begin)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER) as netlink:
            netlink.settimeout(_TIMEOUT_SECONDS)
            netlink.send(batch)
            for kind, flags, _, body in wire.messages(netlink.recv(1 << 16)):
                if kind == wire.NLMSG_ERROR:
                    failure = failure_of(body, flags)
                    return failure.words if failure is not None else ""
    except OSError as error:
        return error.strerror or str(error)
    return "the kernel does not answer"


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
        return failure.words
    _taken.add(digest)
    return ""


def seg6local_program() -> int | Failure:
    """A descriptor of a program for End.BPF that lets packets go on; the caller closes it."""
    code = _INSTRUCTION.pack(_MOVE, 0, 0, 0) + _INSTRUCTION.pack(_EXIT, 0, 0, 0)
    return bpf.load(_LWT_SEG6LOCAL, code)
