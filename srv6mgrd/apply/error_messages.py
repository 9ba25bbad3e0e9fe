"""Refusals by the kernel and by FRR in the operator's words."""

from __future__ import annotations

import errno
import os

from srv6mgrd.model.checks import table_in_use
from srv6mgrd.model.needs import MISSING
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.plan.actions import Action, Create
from srv6mgrd.plan.diff import Conflict
from srv6mgrd.plan.link_objects import LinkMtu, VlanDevice
from srv6mgrd.plan.names import name
from srv6mgrd.plan.objects import (
    DummyDevice,
    EncapRoute,
    FrrBlock,
    Object,
    Rule,
    SidRoute,
    Sysctl,
    UnknownRoute,
    UnknownRule,
    UnreachableDefault,
    UnreachableSid,
    VrfDevice,
    VrfPort,
)
from srv6mgrd.plan.shadow import Shadow
from srv6mgrd.ports import AdapterError, RejectedAction
from srv6mgrd.storage import StorageError

_IPV6_OF_ONE = "net/ipv6/conf/"


def of_rejected(rejected: RejectedAction) -> Rejection:
    """Object, cause and remedy of an action that was refused."""
    obj = rejected.action.object
    if rejected.errno == errno.EEXIST and isinstance(obj, VrfDevice | DummyDevice | VlanDevice):
        cause = f"its device can't be made: {rejected.message or os.strerror(rejected.errno)}"
        remedy = "declare another name, or remove what is there"
        return Rejection(name(obj), cause, remedy, "foreign-object")
    code = f" ({_code(rejected.errno)})" if rejected.errno else ""
    message = rejected.message or os.strerror(rejected.errno)
    who = "FRR" if isinstance(obj, FrrBlock) else "the kernel"
    if rejected.by:
        return Rejection(name(obj), f"{rejected.by}: {message}", "then try again", "refused")
    tag = MISSING if rejected.errno == errno.EOPNOTSUPP else "refused"
    remedy = rejected.remedy or _remedy(obj, rejected.errno)
    return Rejection(name(obj), f"{who} refused it: {message}{code}", remedy, tag)


def _code(number: int) -> str:
    # Python has two names for this one; the kernel's is meant.
    return "EOPNOTSUPP" if number == errno.EOPNOTSUPP else errno.errorcode.get(number, str(number))


def of_conflict(conflict: Conflict) -> Rejection:
    """Something foreign stands where an object of ours shall stand."""
    match conflict:
        case Conflict(VrfDevice() as vrf, VrfDevice() as other) if vrf.name != other.name:
            return table_in_use(vrf.name, vrf.table, other.name)
        case Conflict(
            (SidRoute() | UnreachableDefault() | UnreachableSid() | EncapRoute()) as wanted,
            VrfDevice() as other,
        ):
            return Rejection(
                name(wanted),
                f"table {other.table} belongs to VRF {other.name}, which srv6mgr did not make",
                "choose another table-id",
                "table-in-use",
            )
        case Conflict(VrfPort() as wanted, VrfPort() as other):
            return Rejection(
                name(wanted),
                f"it is in VRF {other.vrf}, which srv6mgr did not make",
                f"take it out ('ip link set {other.interface} nomaster') or declare another one",
                "foreign-object",
            )
    return Rejection(
        name(conflict.wanted),
        f"something that srv6mgr did not make is already there ({name(conflict.found)})",
        "remove it, or declare another name, table or prefix",
        "foreign-object",
    )


def of_shadow(shadow: Shadow) -> str:
    """Something foreign takes packets of what stands."""
    match shadow.by:
        case UnknownRoute() as by:
            what = f"route {by.prefix} metric {by.metric}: {by.description}"
        case SidRoute() as by:
            what = f"route {by.prefix} metric {by.metric}: {by.action}"
        case Rule() as by:
            what = f"rule {by.priority} to {by.to}: table {by.table}"
        case UnknownRule() as by:
            what = f"rule {by.priority} to {by.to}: {by.description}"
    return (
        f"{name(shadow.wanted)}: something that srv6mgr did not make takes packets of it"
        f" ({what}); remove it"
    )


def of_unread(action: Action) -> Rejection:
    """Written without error, yet it reads back otherwise: this kernel ignores a part of it."""
    if isinstance(action, Create):
        return Rejection(
            name(action.object),
            "it is gone again right after it was written",
            "find what removes it (ip monitor)",
            "read-back",
        )
    if isinstance(action.object, FrrBlock):
        return Rejection(
            name(action.object),
            "FRR accepted it but shows something else",
            f"see what {action.object.daemon} runs ('show running-config' of vtysh)",
            "read-back",
        )
    return Rejection(
        name(action.object),
        "the kernel accepted it but holds something else",
        "this kernel lacks a part of it; use a newer kernel",
        "read-back",
    )


def of_unreachable(error: AdapterError) -> Rejection:
    """The kernel can't be read, so nothing can be said of what stands."""
    return Rejection(error.what, error.cause, error.remedy, "unreachable")


def of_journal(error: StorageError) -> Rejection:
    """What will be ours can't be written down, so nothing is written at all."""
    return Rejection("srv6mgrd", str(error), "then try again", "refused")


def _remedy(obj: Object, code: int) -> str:
    if isinstance(obj, Sysctl) and obj.path == "net/vrf/strict_mode":
        if code == errno.EBUSY:
            return "two VRF devices share a table; remove or move one ('ip -d link show type vrf')"
        if code == errno.ENOENT:
            return "load the kernel module vrf"
    if isinstance(obj, VlanDevice) and code == errno.EOPNOTSUPP:
        return "load the kernel module 8021q, or name a parent-interface that takes VLANs"
    if isinstance(obj, LinkMtu) and code in (errno.EINVAL, errno.ERANGE):
        return "choose an mtu that the interface takes ('ip -d link'), that of a VLAN's parent"
    if isinstance(obj, Sysctl) and code == errno.ENOENT and obj.path.startswith(_IPV6_OF_ONE):
        return "see that the interface has IPv6: an MTU of at least 1280, and no ipv6.disable=1"
    if code in (errno.EPERM, errno.EACCES) and not isinstance(obj, SidRoute):
        return "run srv6mgrd with CAP_NET_ADMIN"
    if code == errno.EOPNOTSUPP:
        return "this kernel does not offer it; use a newer kernel"
    if isinstance(obj, FrrBlock):
        return "correct the configuration, or FRR's own where it stands in the way"
    return "see the kernel's words, correct the configuration and try again"
