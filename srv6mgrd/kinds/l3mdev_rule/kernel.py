"""The l3mdev rules, written and read back (net/core/fib_rules.c)."""

from __future__ import annotations

import errno
import socket
from types import MappingProxyType

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.kernel_kind import Decode, KernelKind, not_ours_to_write
from srv6mgrd.kinds.l3mdev_rule.object import L3MDEV_PRIORITY, L3mdevRule
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.rule.kernel import NO_SUPPRESSION, get_all
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.socket import answers
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.observed import ObservedObject
from srv6mgrd.plan.target_objects import SID_RULE_PRIORITY

_FAMILIES: dict[int, L3mdevRule] = {
    socket.AF_INET: L3mdevRule(4),
    socket.AF_INET6: L3mdevRule(6),
}
# Others may move the rule: up to our rule for SIDs, and to the main table (32766).
_BEFORE: dict[int, int] = {socket.AF_INET: 32766, socket.AF_INET6: SID_RULE_PRIORITY}
# struct fib_rule_hdr: family, dst_len, src_len, tos, table, 2 reserved, action, flags.
_HEADER = 12
_RULE = frozenset({wire.FRA_L3MDEV, wire.FRA_PRIORITY, wire.FRA_TABLE, wire.FRA_PROTOCOL})


class L3mdevRules(KernelKind):
    kinds = (L3mdevRule,)
    groups = MappingProxyType(
        {wire.NETLINK_ROUTE: (wire.RTNLGRP_IPV4_RULE, wire.RTNLGRP_IPV6_RULE)}
    )

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        if message not in (wire.RTM_NEWRULE, wire.RTM_DELRULE):
            return None
        rule = decode(body)
        if rule is None:
            return None
        return KernelEvent(EventKind.RULE, rule.key, message == wire.RTM_DELRULE)

    def write(self, batch: Batch, action: Action) -> Failure | None:
        rule = action.object
        if not isinstance(rule, L3mdevRule):
            return not_ours_to_write(rule)
        if isinstance(action, Delete):
            return None
        failure = batch.one(create(rule))
        # The kernel has made it meanwhile, with a VRF.
        return None if failure is None or failure.errno == errno.EEXIST else failure

    def dump(self, reader: Reader) -> Decode:
        dumps = [reader.dump(get_all(family)) for family in _FAMILIES]
        return lambda: self.by_key(
            [
                ObservedObject(rule, ours=False)
                for datagrams in dumps
                for body in answers(datagrams, wire.RTM_NEWRULE)
                if (rule := decode(body)) is not None
            ]
        )


def create(rule: L3mdevRule) -> bytes:
    """As the kernel makes it, its protocol included."""
    family = socket.AF_INET6 if rule.family == 6 else socket.AF_INET
    body = bytes([family, 0, 0, 0, 0, 0, 0, wire.FR_ACT_TO_TBL]) + bytes(4)
    body += wire.nla_u32(wire.FRA_PRIORITY, L3MDEV_PRIORITY)
    body += wire.nla_u8(wire.FRA_L3MDEV, 1)
    body += wire.nla_u8(wire.FRA_PROTOCOL, wire.RTPROT_KERNEL)
    return wire.message(wire.RTM_NEWRULE, wire.NLM_F_CREATE | wire.NLM_F_EXCL, body)


def decode(body: memoryview) -> L3mdevRule | None:
    """One rule without its netlink header; None unless it is for all packets of all VRFs, and is
    asked in time."""
    rule = _FAMILIES.get(body[0])
    found = wire.attribute_map(body, _HEADER)
    if rule is None or any(body[1:4]) or wire.u32(body[8:12]) or wire.FRA_L3MDEV not in found:
        return None
    suppress = found.pop(wire.FRA_SUPPRESS_PREFIXLEN, None)
    if suppress is not None and wire.u32(suppress) != NO_SUPPRESSION:
        return None
    priority = wire.u32(found[wire.FRA_PRIORITY]) if wire.FRA_PRIORITY in found else 0
    is_plain = not found.keys() - _RULE and body[7] == wire.FR_ACT_TO_TBL
    return rule if is_plain and priority < _BEFORE[body[0]] else None
