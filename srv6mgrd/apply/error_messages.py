"""Rejections by the kernel and by FRR in the operator's words."""

from __future__ import annotations

import errno
import os

from srv6mgrd.kinds.device import Device
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.needs import MISSING
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.plan.actions import Action, Create
from srv6mgrd.plan.diff import Conflict
from srv6mgrd.plan.shadow import Shadow
from srv6mgrd.ports import AdapterError, RejectedAction
from srv6mgrd.storage import StorageError


def of_rejected(rejected: RejectedAction) -> Rejection:
    """Object, cause and remedy of an action that was rejected."""
    obj = rejected.action.object
    if rejected.errno == errno.EEXIST and isinstance(obj, Device):
        cause = f"its device can't be made: {rejected.message or os.strerror(rejected.errno)}"
        remedy = "declare another name, or remove what is there"
        return Rejection(obj.label, cause, remedy, "foreign-object")
    code = f" ({_code(rejected.errno)})" if rejected.errno else ""
    message = rejected.message or os.strerror(rejected.errno)
    who = "FRR" if isinstance(obj, FrrBlock) else "the kernel"
    if rejected.by:
        return Rejection(obj.label, f"{rejected.by}: {message}", "then try again", "refused")
    tag = MISSING if rejected.errno == errno.EOPNOTSUPP else "refused"
    remedy = rejected.remedy or obj.remedy(rejected.errno)
    return Rejection(obj.label, f"{who} refused it: {message}{code}", remedy, tag)


def _code(number: int) -> str:
    # Python has two names for this one; the kernel's is meant.
    return "EOPNOTSUPP" if number == errno.EOPNOTSUPP else errno.errorcode.get(number, str(number))


def of_conflict(conflict: Conflict) -> Rejection:
    """A foreign object is in the place of one of ours."""
    return conflict.wanted.conflict(conflict.found)


def of_shadow(shadow: Shadow) -> str:
    """Something foreign takes packets of an object of ours."""
    return (
        f"{shadow.wanted.label}: something that srv6mgr did not make takes packets of it"
        f" ({shadow.by.in_front}); remove it"
    )


def of_unread(action: Action) -> Rejection:
    """Written without error, yet it reads back otherwise: this kernel ignores a part of it."""
    if isinstance(action, Create):
        return Rejection(
            action.object.label,
            "it is gone again right after it was written",
            "find what removes it (ip monitor)",
            "read-back",
        )
    if isinstance(action.object, FrrBlock):
        return Rejection(
            action.object.label,
            "FRR accepted it but shows something else",
            f"see what {action.object.daemon} runs ('show running-config' of vtysh)",
            "read-back",
        )
    return Rejection(
        action.object.label,
        "the kernel accepted it but holds something else",
        "this kernel lacks a part of it; use a newer kernel",
        "read-back",
    )


def of_unreachable(error: AdapterError) -> Rejection:
    """The kernel can't be read, so it is not known what is installed."""
    return Rejection(error.what, error.cause, error.remedy, "unreachable")


def of_journal(error: StorageError) -> Rejection:
    """What will be ours can't be written down, so nothing is written at all."""
    return Rejection("srv6mgrd", str(error), "then try again", "refused")
