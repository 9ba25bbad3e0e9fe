"""IPv6 rules that lead locators into the table of our SIDs (net/core/fib_rules.c)."""

from __future__ import annotations

import socket
from collections.abc import Container, Iterator, Sequence
from ipaddress import IPv6Address, IPv6Network
from types import MappingProxyType

from srv6mgrd.kinds.batch import Batch, unless_gone
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.kernel_kind import Decode, KernelKind, not_ours_to_write
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import ROUTE_PROTOCOL
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.socket import answers
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject

# What a rule of ours consists of; FRA_SUPPRESS_PREFIXLEN is always in a dump, -1 for none.
_KNOWN = frozenset(
    {wire.FRA_DST, wire.FRA_SRC, wire.FRA_PRIORITY, wire.FRA_TABLE, wire.FRA_PROTOCOL}
)
NO_SUPPRESSION = 0xFFFFFFFF
# linux/fib_rules.h: FR_ACT_*, as ip writes them.
_NOP = 3
_ENDS = {6: "blackhole", 7: "unreachable", 8: "prohibit"}
_ACTIONS = {2: "goto", _NOP: "nop", **_ENDS}
# linux/fib_rules.h: FRA_*, as ip writes them.
_SELECTORS = {
    3: "iif", 10: "fwmark", 11: "realms", 12: "tun_id", 13: "suppress_ifgroup",
    14: "suppress_prefixlength", 16: "fwmask", 17: "oif", 19: "l3mdev", 20: "uidrange",
    22: "ipproto", 23: "sport", 24: "dport", 25: "dscp", 26: "flowlabel",
}  # fmt: skip


class Rules(KernelKind):
    kinds = (Rule, UnknownRule)
    groups = MappingProxyType({wire.NETLINK_ROUTE: (wire.RTNLGRP_IPV6_RULE,)})

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        if message not in (wire.RTM_NEWRULE, wire.RTM_DELRULE) or body[0] != socket.AF_INET6:
            return None
        if (rule := decode(body)) is None:
            return None
        return KernelEvent(EventKind.RULE, rule.object.key, message == wire.RTM_DELRULE, rule.ours)

    def packed(self, batch: Batch, action: Action) -> bytes | None:
        match action:
            case Create(Rule() as rule):
                return create(rule)
            case Delete(Rule() | UnknownRule() as rule):
                return delete(rule)
        return None

    def write(self, batch: Batch, action: Action) -> Failure | None:
        match action:
            case Replace((Rule() | UnknownRule()) as before, Rule() as after):
                return _move(batch, before, after)
        return not_ours_to_write(action.object)

    def dump(self, reader: Reader) -> Decode:
        rules = reader.dump(get_all())
        return lambda: self.by_key([*observed(rules)])


def _move(batch: Batch, before: Rule | UnknownRule, after: Rule) -> Failure | None:
    """The new rule is behind the old one when that goes, in one send: a process that is killed
    leaves the one or the other."""
    failures = batch.send([create_beside(after), delete(before)])
    if 0 in failures:
        if isinstance(before, Rule) and 1 not in failures:
            batch.one(create_beside(before))
        return failures[0]
    return unless_gone(failures.get(1))


def create(rule: Rule) -> bytes:
    # Without NLM_F_EXCL the kernel takes a second identical rule.
    return _message(wire.RTM_NEWRULE, wire.NLM_F_CREATE | wire.NLM_F_EXCL, rule)


def create_beside(rule: Rule) -> bytes:
    """For a rule that is known not to be there: NLM_F_EXCL takes one with more selectors for the
    same (fib6_rule_compare leaves out those that the new one lacks)."""
    return _message(wire.RTM_NEWRULE, wire.NLM_F_CREATE, rule)


def delete(rule: Rule | UnknownRule) -> bytes:
    """Only a rule of our protocol is hit (rule_find)."""
    return _message(wire.RTM_DELRULE, 0, rule)


def get_all(family: int = socket.AF_INET6) -> bytes:
    """Dump of the rules of a family (socket.AF_*)."""
    return wire.message(wire.RTM_GETRULE, 0, bytes([family]) + bytes(11))


def _message(kind: int, flags: int, rule: Rule | UnknownRule) -> bytes:
    # struct fib_rule_hdr: family, dst_len, src_len, tos, table, 2 reserved, action, flags.
    # The action of an unknown rule is not known; 0 matches any.
    action = wire.FR_ACT_TO_TBL if isinstance(rule, Rule) else 0
    source = rule.source if isinstance(rule, Rule) else None
    source_length = 128 if source else 0
    lengths = [rule.to.prefixlen, source_length]
    body = bytes([socket.AF_INET6, *lengths, 0, 0, 0, 0, action]) + bytes(4)
    if rule.to.prefixlen:
        body += wire.nla(wire.FRA_DST, rule.to.network_address.packed)
    if source:
        body += wire.nla(wire.FRA_SRC, source.packed)
    body += wire.nla_u32(wire.FRA_PRIORITY, rule.priority)
    if isinstance(rule, Rule):
        body += wire.nla_u32(wire.FRA_TABLE, rule.table)
    body += wire.nla_u8(wire.FRA_PROTOCOL, ROUTE_PROTOCOL)
    return wire.message(kind, flags, body)


def observed(datagrams: Sequence[bytes]) -> Iterator[ObservedObject]:
    """Rules with a destination, rules into our table, rules that end packets, rules of our
    protocol; in the order in which the kernel asks them."""
    all_of_it = [r for body in answers(datagrams, wire.RTM_NEWRULE) if (r := decode(body))]
    # Of several rules at one place ours has the key of the place.
    first = {found.object.key: at for at, found in reversed([*enumerate(all_of_it)])}
    first |= {f.object.key: at for at, f in reversed([*enumerate(all_of_it)]) if f.ours}
    taken = set(first)
    for at, found in enumerate(all_of_it):
        if first[found.object.key] != at:
            assert isinstance(found.object, Rule | UnknownRule)
            found = ObservedObject(further(found.object, taken), found.ours)
            taken.add(found.object.key)
        yield found


def further(rule: Rule | UnknownRule, taken: Container[str]) -> UnknownRule:
    """A further rule with the same priority and prefix, under a key of its own."""
    description = f"table {rule.table}" if isinstance(rule, Rule) else rule.description
    key = f"{rule.key} {description}"
    while key in taken:
        key += " again"
    source = None if rule.source is None else IPv6Network(rule.source)
    return UnknownRule(key, rule.priority, rule.to, description, source, rule.table)


def decode(body: memoryview | bytes) -> ObservedObject | None:
    """One rule without its netlink header; None when it is of no interest to us."""
    length, source, tos, action = body[1], body[2], body[3], body[7]
    flags = wire.u32(body[8:12])
    found = wire.attribute_map(body, 12)
    table = wire.u32(found[wire.FRA_TABLE]) if wire.FRA_TABLE in found else body[4]
    ours = wire.FRA_PROTOCOL in found and found[wire.FRA_PROTOCOL][0] == ROUTE_PROTOCOL
    if not ours and (action == _NOP or not (length or table == SID_TABLE or action in _ENDS)):
        return None
    priority = wire.u32(found[wire.FRA_PRIORITY]) if wire.FRA_PRIORITY in found else 0
    address = bytes(found[wire.FRA_DST]) if length else bytes(16)
    to = IPv6Network((IPv6Address(address), length), strict=False)
    # A source that is one address is known; what else it may be stays among the unknown.
    one = source == 128
    network = IPv6Network((bytes(found[wire.FRA_SRC]), source), strict=False) if source else None
    rule = Rule(priority, to, table, network.network_address if network and one else None)
    suppress = found.pop(wire.FRA_SUPPRESS_PREFIXLEN, None)
    more = found.keys() - _KNOWN
    if suppress is not None and wire.u32(suppress) != NO_SUPPRESSION:
        more.add(wire.FRA_SUPPRESS_PREFIXLEN)
    if (
        length
        and not ((source and not one) or tos or flags or more)
        and action == wire.FR_ACT_TO_TBL
    ):
        return ObservedObject(rule, ours)
    leads = table if action == wire.FR_ACT_TO_TBL else 0
    parts = [f"table {table}" if leads else _ACTIONS.get(action, f"action {action}")]
    if network is not None:
        parts.append(f"from {network}")
    if tos or flags:
        parts.append(f"tos {tos} flags {flags:#x}")
    if more:
        names = [_SELECTORS.get(kind, f"attribute {kind}") for kind in sorted(more)]
        parts.append("with " + " and ".join(names))
    unknown = UnknownRule(rule.key, priority, to, ", ".join(parts), network, leads)
    return ObservedObject(unknown, ours)
