"""What a transaction needs of routers and of the store, and how they fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from srv6net.compile.configuration import Edit, Entries
from srv6net.transaction.record import Decision, Record, Revision


class DeviceError(Exception):
    """A router that did not do it: ``object: cause; remedy``, in the router's own words."""


class UnreachableError(DeviceError):
    """No answer: it may have been done, or not."""


class NoSuchCommitError(DeviceError):
    """The commit does not await confirmation: it was confirmed, or rolled back."""


class StoreError(Exception):
    """The store cannot be used; nothing was written."""


class BusyError(StoreError):
    """Another controller or transaction is at work."""


class Device(Protocol):
    """One router. Each method raises DeviceError."""

    def read(self, paths: Iterable[str]) -> Entries:
        """The entries that the router has at these paths, defaults included."""

    def check(self, edit: Edit) -> None:
        """Dry run: fails if the router would reject the edit. Changes nothing."""

    def set(self, edit: Edit) -> None:
        """For good, atomically."""

    def set_confirmed(self, edit: Edit, id: str, seconds: int) -> None:
        """Atomically; the router rolls it back after ``seconds`` unless it is confirmed."""

    def confirm(self, id: str) -> None:
        """Raises NoSuchCommitError when no such commit awaits confirmation."""

    def cancel(self, id: str) -> None:
        """Roll back. Raises NoSuchCommitError when no such commit awaits confirmation."""

    def faults(self, paths: Iterable[str]) -> Sequence[str]:
        """What of these entries is not installed, each with its reason."""

    def remote_sids(self, paths: Iterable[str]) -> Mapping[str, int]:
        """To how many SIDs of other routers the routes of these VRFs lead; 0 where it is absent."""


class Store(Protocol):
    """Revisions and the last transaction. Each write is atomic and durable when it returns."""

    def lead(self) -> AbstractContextManager[None]:
        """Be the only controller. Raises BusyError while another one is."""

    def revision(self, number: int | None = None) -> Revision:
        """The current one, or an older one; StoreError if there is none of this number."""

    def history(self) -> Sequence[Revision]:
        """All revisions, the newest first."""

    def last(self) -> Record | None:
        """The transaction that is open, or the last one."""

    def begin(self, record: Record) -> None:
        """Raises BusyError if one is open, or if another revision became current."""

    def touch(self, id: str, deferred: Sequence[str] = ()) -> None:
        """Note that routers may be changed from now on. The ``deferred`` ones will not be: they are
        settled for this transaction."""

    def decide(
        self, id: str, decision: Decision, reasons: Sequence[str], deferred: Sequence[str] = ()
    ) -> Decision:
        """Write the decision unless there is one; the one that holds. With ``committed`` the
        proposed revision becomes current in the same write, and the ``deferred`` routers are
        settled and overdue from then on: they have the revision before."""

    def settle(self, id: str, router: str) -> None:
        """Note that the router is as it was decided."""

    def overdue(self) -> Mapping[str, Sequence[int]]:
        """Routers that have yet to get the current revision, with the numbers of those revisions
        whose entries they may have."""

    def set_overdue(self, router: str, numbers: Sequence[int]) -> None:
        """None: the router has the current revision."""
