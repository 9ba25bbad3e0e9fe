"""What every kind of object says of itself. Pure."""

from __future__ import annotations

import errno
from dataclasses import fields
from typing import Any, ClassVar

from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.status import ObjectRef


class Object:
    """Something in the kernel or in FRR, as a frozen value.

    Two objects with the same ``key`` are the same thing in two states; equal objects need no write.
    ``rank`` orders creation (removal runs backwards): dependencies come first; ``order``
    does so among those of one rank.
    """

    __slots__ = ()

    rank: ClassVar[int]
    # Whether the kernel shows a mark of ours on it; else the journal alone says that it is ours.
    bears_mark: ClassVar[bool] = True
    # A value rather than a thing: set when needed, never set back.
    is_kept: ClassVar[bool] = False
    # Somebody can put it in our place as it was but for the mark: without that it could not be
    # removed, and SIDs would not be counted.
    needs_mark: ClassVar[bool] = False
    # Its ``order`` follows from how interfaces are stacked, and is not observed.
    is_stacked: ClassVar[bool] = False
    # Its change may take addresses along.
    takes_addresses: ClassVar[bool] = False

    @property
    def key(self) -> str:
        raise NotImplementedError

    @property
    def order(self) -> int:
        return 0

    @property
    def label(self) -> str:
        """What an operator calls it, in messages, logs and status."""
        raise NotImplementedError

    @property
    def short_label(self) -> str:
        """The same where it is shown with a SID, a VRF or an interface, and what it holds
        follows."""
        return self.label

    @property
    def hangs_on(self) -> tuple[str, ...]:
        """The interfaces that it goes with."""
        return ()

    @property
    def lost_with(self) -> str | None:
        """The interface that takes it along when it goes down and up (cycle_netdev)."""
        return None

    @property
    def vrf_table(self) -> int | None:
        """Table of the VRF that it works on."""
        return None

    @property
    def declared(self) -> ObjectRef | None:
        """The declared object that it is for and nothing else, where the object itself says."""
        return None

    @property
    def owned_lines(self) -> tuple[str, ...]:
        """What the journal has to name of it, where it has no mark."""
        return ()

    def create_command(self) -> str:
        """What creates it, as a command for an operator to read; several are joined by ``&&``. It
        is not what is run. Empty for what is only observed."""
        return ""

    def replace_command(self, before: Object) -> str:
        return self.create_command()

    def delete_command(self) -> str:
        return ""

    def missing(self) -> str:
        """That it was not there: ``SID route was deleted``."""
        return f"{self.short_label} was deleted"

    def difference(self, was: Object) -> str:
        """How ``was`` in its place differed: ``SID route: metric was 1, is 1024``."""
        if isinstance(was, Unknown):
            return f"{self.short_label} was {was.description}"
        return f"{self.short_label}: {changes(was, self)}"

    def conflict(self, found: Object) -> Rejection:
        """It can't be put, since something foreign is in its place."""
        return Rejection(
            self.label,
            f"something that srv6mgr did not make is already there ({found.label})",
            "remove it, or declare another name, table or prefix",
            "foreign-object",
        )

    def remedy(self, code: int) -> str:
        """What helps when the kernel or FRR rejected it with this errno."""
        if code in (errno.EPERM, errno.EACCES):
            return "run srv6mgrd with CAP_NET_ADMIN"
        if code == errno.EOPNOTSUPP:
            return "this kernel does not offer it; use a newer kernel"
        return "see the kernel's words, correct the configuration and try again"


class Unknown(Object):
    """Something in the place of one of ours that is something else. Only ever observed."""

    __slots__ = ()

    description: str


def changes(was: Object, obj: Object) -> str:
    """Field by field."""
    if type(was) is not type(obj):
        return f"was {was.key}"
    # Every kind is a dataclass.
    parts: tuple[Any, ...] = fields(obj)  # type: ignore[arg-type]
    found = [
        f"{part.name.replace('_', ' ')} was {_text(old)}, is {_text(new)}"
        for part in parts
        if part.compare and (old := getattr(was, part.name)) != (new := getattr(obj, part.name))
    ]
    return "; ".join(found) or "lacked our mark"


def _text(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "on" if value else "off"
        case frozenset():
            return ",".join(sorted(map(str, value))) or "none"
        case tuple():
            return ",".join(map(str, value)) or "none"
    return str(value)
