"""The commit that awaits confirmation, in a file of its own: to end it takes no room on the disk.

``/var/lib/srv6mgr/pending.json``. It is there, whole, before the change that it would roll back.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from srv6mgrd.datastore.connection import AWAITS
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.storage import Problems, StorageError, read_text, set_aside

_VERSION = 1
# Characters of a configuration that are written at a time.
_PART = 1 << 18


@dataclass(frozen=True, slots=True)
class Origin:
    """Who makes a change: the northbound that it comes through, the user there and the address of
    its client (empty: of this machine, or not known), and the token of the confirmed commit that it
    belongs to (empty: none), which is a secret."""

    northbound: str
    user: str = ""
    token: str = field(default="", repr=False)
    address: str = ""


@dataclass(frozen=True, slots=True)
class Pending:
    """A commit that awaits confirmation until ``deadline`` (nanoseconds since the epoch), which
    is ``timeout`` seconds after it was set.

    ``id`` is what everybody may know it by. Who has its token (RFC 6241: persist; gNMI: the id of
    the extension) may go on with it: of that only a salted hash is kept. ``before`` is the
    configuration to roll back to; ``ended`` says that the rollback was decided.
    """

    id: str
    origin: Origin
    salt: str = field(repr=False)
    digest: str = field(repr=False)
    deadline: int
    timeout: int
    before: str
    ended: bool = False

    @classmethod
    def of(cls, origin: Origin, deadline: int, timeout: int, before: str, id_: str = "") -> Pending:
        """A commit with the token of ``origin``; its id is made unless it is given."""
        made = cls(
            id_ or new_id(),
            replace(origin, token=""),
            "",
            "",
            deadline,
            timeout,
            before,
        )
        return made.with_token(origin.token)

    def with_token(self, token: str) -> Pending:
        """The same with another token."""
        salt = secrets.token_hex(16)
        return replace(self, salt=salt, digest=_digest(salt, token))

    def is_of(self, token: str) -> bool:
        """Whether this is its token; takes the same time whatever it is."""
        return hmac.compare_digest(self.digest, _digest(self.salt, token))

    def rejection(self) -> Rejection:
        """Why others have to wait for it."""
        until = datetime.fromtimestamp(self.deadline // 1_000_000_000, UTC)
        who = f" of {self.origin.user}" if self.origin.user else ""
        what = "is being undone" if self.ended else f"{AWAITS} until {until:%H:%M:%S} UTC"
        return Rejection(
            f"commit {self.id}",
            f"it came through {self.origin.northbound}{who} and {what}"
            + (f" ({AWAITS})" if self.ended else ""),
            "wait for it, confirm it or cancel it",
            "commit-pending",
        )


def new_id() -> str:
    """What everybody may call a commit."""
    return secrets.token_hex(4)


def _digest(salt: str, token: str) -> str:
    return hashlib.blake2b(token.encode(), key=salt.encode()).hexdigest()


class PendingFile:
    """Used by the thread of the history. ``value`` is what the file holds, or will when it can be
    written."""

    def __init__(self, path: Path | None, problems: Problems) -> None:
        """``path`` None keeps it in memory."""
        self._path = path
        self._problems = problems
        self._behind = False
        self.value: Pending | None = None
        if path is None:
            return
        try:
            self.value = _parsed(json.loads(read_text(path)))
        except FileNotFoundError:
            pass
        except OSError as error:
            # Should it be readable at a later start, it would roll back what was committed since.
            self._behind = True
            self._report_left(error)
        except (ValueError, KeyError, TypeError) as error:
            set_aside(path, problems, repr(error))

    def write(self, value: Pending) -> None:
        """Raises StorageError with nothing changed."""
        self._write(value)
        self.value, self._behind = value, False

    def clear(self) -> None:
        """Raises StorageError with nothing changed."""
        self._unlink()
        self.value, self._behind = None, False

    def set(self, value: Pending | None) -> None:
        """The file follows when it can."""
        self.value, self._behind = value, True
        self.save()

    def save(self) -> bool:
        """Bring to disk what is not there yet; whether it is there now."""
        if not self._behind:
            return True
        try:
            if self.value is None:
                self._unlink()
            else:
                self._write(self.value)
        except StorageError:
            return False
        self._behind = False
        return True

    def _write(self, value: Pending) -> None:
        if self._path is None:
            return
        fresh = self._path.with_name(self._path.name + ".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(fresh, "w", opener=_private) as file:
                _dump({"version": _VERSION, **_stored(value)}, file)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
            self._sync()
        except OSError as error:
            raise StorageError(self._report(error)) from error
        self._problems.resolve(self._path.name)

    def _unlink(self) -> None:
        if self._path is None:
            return
        try:
            self._path.unlink(missing_ok=True)
            self._sync()
        except OSError as error:
            raise StorageError(self._report_left(error)) from error
        self._problems.resolve(self._path.name)

    def _sync(self) -> None:
        """Have the name outlive a power loss, too."""
        assert self._path is not None
        directory = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def _report(self, error: OSError) -> str:
        assert self._path is not None
        problem = (
            f"it can't be written ({error.strerror}); make {self._path.parent} writable, with room"
        )
        self._problems.report(self._path.name, problem)
        return f"{self._path.name}: {problem}"

    def _report_left(self, error: OSError) -> str:
        assert self._path is not None
        problem = (
            f"it can't be read or removed ({error.strerror}); remove it before srv6mgrd starts"
            " again, which would roll back once more"
        )
        self._problems.report(self._path.name, problem)
        return f"{self._path.name}: {problem}"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _dump(members: Mapping[str, Any], file: TextIO) -> None:
    """As ``json.dump`` does it, which holds the interpreter for each string: 0.1 s for the
    configuration of 100,000 SIDs. Between parts of it other threads run."""
    before = members["before"]
    head = json.dumps({name: value for name, value in members.items() if name != "before"})
    file.write(f'{head[:-1]}, "before": "')
    for at in range(0, len(before), _PART):
        file.write(json.dumps(before[at : at + _PART])[1:-1])
    file.write('"}')


def _stored(pending: Pending) -> dict[str, Any]:
    members = asdict(pending)
    # The name that older releases read and wrote.
    members["origin"]["door"] = members["origin"].pop("northbound")
    return members


def _parsed(found: Mapping[str, Any]) -> Pending:
    version = found["version"]
    if version != _VERSION:
        raise ValueError(f"it is of version {version!r}")
    pending = Pending(
        str(found["id"]),
        Origin(
            str(found["origin"]["door"]),
            str(found["origin"]["user"]),
            # Older releases had none.
            address=str(found["origin"].get("address", "")),
        ),
        str(found["salt"]),
        str(found["digest"]),
        int(found["deadline"]),
        int(found["timeout"]),
        str(found["before"]),
        bool(found["ended"]),
    )
    json.loads(pending.before)
    return pending
