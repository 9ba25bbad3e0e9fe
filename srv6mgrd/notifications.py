"""What of a change is worth a notification (srv6mgr-operations). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus

# So many wait to be sent at most.
QUEUE = 1000

# What apply.words says of a foreign object: tag, and causes in its place and in front of it.
_FOREIGN_TAG = "foreign-object"
_FOREIGN = (
    "something that srv6mgr did not make is already there",
    "something that srv6mgr did not make takes packets of it",
)

Statuses = Mapping[ObjectRef, ObjectStatus]


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification: its name, its leaves, and the data path before its name."""

    name: str
    leaves: Mapping[str, str] = field(default_factory=dict)
    parent: str = "/srv6mgr-operations:"


class Notifier(Protocol):
    """Sends notifications (``datastore.notifications.Notifier``)."""

    def put(self, notifications: Iterable[Notification], left_out: int = 0) -> None:
        """In the event loop; never blocks. ``left_out`` are as many more that were not made,
        because ``QUEUE`` of them were."""
        ...


def status_changes(before: Statuses, after: Statuses) -> Iterator[Notification]:
    """SIDs whose status or its reason changed, and those that something foreign replaces."""
    for ref, now in after.items():
        if ref.kind is not Kind.SID:
            continue
        old = before.get(ref)
        if old is now:
            continue
        if old is not None and (old.status, old.reason) == (now.status, now.reason):
            continue
        leaves = {"prefix": ref.name, "install-status": now.status.text, "reason": now.reason}
        yield Notification("sid-status-change", leaves)
        if any(cause in now.reason for cause in _FOREIGN):
            yield Notification("sid-collision", {"prefix": ref.name, "found": _found(now.reason)})


def collisions(rejections: Iterable[Rejection]) -> Iterator[Notification]:
    """Rejections of a commit because something foreign is in the place of a SID."""
    for rejection in rejections:
        kind, _, prefix = rejection.object.partition(" ")
        if rejection.tag == _FOREIGN_TAG and kind == "SID":
            yield Notification(
                "sid-collision", {"prefix": prefix, "found": _found(rejection.cause)}
            )


def _found(reason: str) -> str:
    """The foreign object, as the reason has it in brackets."""
    for cause in _FOREIGN:
        _, _, rest = reason.partition(f"{cause} (")
        if found := rest.partition(");")[0].removesuffix(")"):
            return found
    return "something that srv6mgr did not make"


def drift(
    drifted: Mapping[ObjectRef, str], repaired: Iterable[ObjectRef]
) -> Iterator[Notification]:
    """Objects found to differ, with how they did, and those put back."""
    for ref, reason in drifted.items():
        yield Notification("drift-detected", {**_reference(ref), "reason": reason})
    for ref in repaired:
        yield Notification("drift-repaired", _reference(ref))


def lost(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Notification]:
    """Capabilities that are missing now and were not before; both by name, with the reason."""
    for name, reason in after.items():
        if name not in before:
            yield Notification("capability-lost", {"name": name, "reason": reason})


def _reference(ref: ObjectRef) -> dict[str, str]:
    return {"kind": ref.kind.text, "name": ref.name}


def commit_rolled_back(name: str) -> Notification:
    """A commit that was not confirmed is undone."""
    return Notification("commit-undone", {"id": name})


def commit_warnings(transaction: int, warnings: Iterable[str]) -> Iterator[Notification]:
    """Warnings about the running configuration for the client that made a commit."""
    for warning in warnings:
        yield Notification("commit-warning", {"transaction": str(transaction), "warning": warning})


def rollback_failed(name: str, reason: str) -> Notification:
    """It can't be undone; that is tried on."""
    return Notification("rollback-failed", {"id": name, "reason": reason})
