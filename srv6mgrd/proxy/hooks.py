"""Where the programs hang: filters of the clsact qdisc (net/sched/cls_api.c, cls_bpf.c).

A filter of ours bears our name and stands at a place of its own, so that others' filters on the
same interface stay what they are; what our programs don't care about goes on to them.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from srv6mgrd.kernel import wire
from srv6mgrd.kernel.socket import answers
from srv6mgrd.plan.objects import FILTER_PRIORITY

# linux/rtnetlink.h, linux/pkt_sched.h, linux/pkt_cls.h
RTM_NEWQDISC = 36
RTM_DELQDISC = 37
RTM_GETQDISC = 38
RTM_NEWTFILTER = 44
RTM_DELTFILTER = 45
RTM_GETTFILTER = 46
_TCMSG = struct.Struct("=BxxxiIII")
_CLSACT = 0xFFFFFFF1
_HANDLE = 0xFFFF0000
INGRESS, EGRESS = 0xFFFFFFF2, 0xFFFFFFF3
_TCA_KIND, _TCA_OPTIONS = 1, 2
_TCA_BPF_FD, _TCA_BPF_NAME, _TCA_BPF_FLAGS, _TCA_BPF_ID = 6, 7, 8, 11
_TCA_BPF_FLAG_ACT_DIRECT = 1
_ETH_P_ALL = 3

_FILTER = 1
_MARK = "srv6mgr:"


@dataclass(frozen=True, slots=True)
class Filter:
    """A BPF filter of ours: the name of its program, and the kernel's number of it."""

    ifindex: int
    parent: int
    program: str
    program_id: int


def create_qdisc(ifindex: int) -> bytes:
    kind = wire.nla_text(_TCA_KIND, "clsact")
    flags = wire.NLM_F_CREATE | wire.NLM_F_EXCL
    return _message(RTM_NEWQDISC, flags, (ifindex, _HANDLE, _CLSACT, 0), kind)


def delete_qdisc(ifindex: int) -> bytes:
    return _message(RTM_DELQDISC, 0, (ifindex, _HANDLE, _CLSACT, 0))


def get_qdiscs() -> bytes:
    return _message(RTM_GETQDISC, 0, (0, 0, 0, 0))


def put_filter(ifindex: int, parent: int, program: str, fd: int, *, replace: bool) -> bytes:
    """A filter that runs the program. ``replace``: the one of ours that stands there changes its
    program between two packets."""
    options = wire.nla_u32(_TCA_BPF_FD, fd) + wire.nla_text(_TCA_BPF_NAME, _MARK + program)
    options += wire.nla_u32(_TCA_BPF_FLAGS, _TCA_BPF_FLAG_ACT_DIRECT)
    attributes = wire.nla_text(_TCA_KIND, "bpf") + wire.nested(_TCA_OPTIONS, options)
    flags = wire.NLM_F_CREATE | (0 if replace else wire.NLM_F_EXCL)
    return _message(RTM_NEWTFILTER, flags, (ifindex, _FILTER, parent, _info()), attributes)


def delete_filter(ifindex: int, parent: int) -> bytes:
    kind = wire.nla_text(_TCA_KIND, "bpf")
    return _message(RTM_DELTFILTER, 0, (ifindex, _FILTER, parent, _info()), kind)


def get_filters(ifindex: int, parent: int) -> bytes:
    return _message(RTM_GETTFILTER, 0, (ifindex, 0, parent, 0))


def _message(
    kind: int, flags: int, place: tuple[int, int, int, int], attributes: bytes = b""
) -> bytes:
    """``place``: ifindex, handle, parent, and of a filter priority and protocol."""
    return wire.message(kind, flags, _TCMSG.pack(socket.AF_UNSPEC, *place) + attributes)


def _info() -> int:
    return FILTER_PRIORITY << 16 | socket.htons(_ETH_P_ALL)


def place(kind: int, body: memoryview) -> str | None:
    """Where filters of ours can hang or do hang, given a notification; None for any other."""
    if kind in (RTM_NEWQDISC, RTM_DELQDISC):
        _, ifindex, _, parent, _ = _TCMSG.unpack_from(body)
        return f"qdisc {ifindex}" if parent == _CLSACT else None
    if kind in (RTM_NEWTFILTER, RTM_DELTFILTER):
        _, ifindex, _, parent, info = _TCMSG.unpack_from(body)
        # All filters of a priority that go at once are told of with handle 0.
        of_ours = parent in (INGRESS, EGRESS) and info >> 16 in (0, FILTER_PRIORITY)
        return f"filter {ifindex} {parent & 0xFF:x}" if of_ours else None
    return None


def qdiscs(datagrams: Sequence[bytes]) -> Iterator[int]:
    """Ifindexes of the links that have a place for filters at their ingress."""
    for body in answers(datagrams, RTM_NEWQDISC):
        _, ifindex, _, parent, _ = _TCMSG.unpack_from(body)
        if parent == _CLSACT:
            yield ifindex


def count_filters(datagrams: Sequence[bytes]) -> int:
    """How many filters there are, whosever."""
    return sum(1 for body in answers(datagrams, RTM_NEWTFILTER) if _TCMSG.unpack_from(body)[2] != 0)


def filters(datagrams: Sequence[bytes]) -> Iterator[Filter]:
    """Those of ours among the filters."""
    for body in answers(datagrams, RTM_NEWTFILTER):
        _, ifindex, handle, parent, info = _TCMSG.unpack_from(body)
        found = wire.attribute_map(body, _TCMSG.size)
        if handle != _FILTER or info != _info() or _TCA_OPTIONS not in found:
            continue
        options = wire.attribute_map(found[_TCA_OPTIONS])
        name = wire.text(options.get(_TCA_BPF_NAME, b""))
        if name.startswith(_MARK) and _TCA_BPF_ID in options:
            program = name.removeprefix(_MARK)
            yield Filter(ifindex, parent, program, wire.u32(options[_TCA_BPF_ID]))
