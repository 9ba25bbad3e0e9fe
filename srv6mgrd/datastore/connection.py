"""A connection to sysrepo that owns its sessions, and the errors that northbounds distinguish."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srv6mgrd.datastore import ffi, new_files, shared_memory
from srv6mgrd.datastore.error_info import ErrorInfo, error_infos
from srv6mgrd.datastore.rejections import Complaint, Lookup, complaint, explain
from srv6mgrd.model.rejection import RejectedError

if TYPE_CHECKING:
    from srv6mgrd.datastore.events import InOwnThread

# Phrases that distinguish a rejection of the commit clock from a lock and from missing data.
AWAITS = "awaits confirmation"
NONE_AWAITS = f"no commit {AWAITS}"

# How sysrepo says that a commit took longer than ``transaction.TIMEOUT_MS``, and how we do.
OVERDUE = re.compile(r'event "change" ID \d+ processing timed out')
TAKEN_BACK = "it took too long and is taken back"
SMALLER = "make it in smaller parts"


class DatastoreError(Exception):
    """sysrepo can't do it, for a reason that is not in the configuration."""


class LockedError(DatastoreError):
    """Another session holds the lock on the configuration."""


class ExpiredError(LockedError):
    """The client's deadline passed before the change was begun; nothing was changed."""


class PendingError(DatastoreError):
    """Another commit awaits confirmation; the message says which."""


class NonePendingError(DatastoreError):
    """No commit awaits confirmation."""


class DeniedError(DatastoreError):
    """The user may not do this."""


class TimedOutError(DatastoreError):
    """A subscriber, most likely srv6mgrd, didn't answer in time."""


class UnavailableError(DatastoreError):
    """srv6mgrd, which carries changes out, does not run or died meanwhile."""


class OutdatedError(DatastoreError):
    """The running configuration has changed since the change was prepared."""


class FailedError(RejectedError):
    """The configuration is valid, but carrying it out failed; everything was undone."""


def of_libyang(error: Any) -> list[Complaint]:
    """What a LibyangError complains of."""
    found = [Complaint(i.msg or "", i.data_path or i.schema_path or "") for i in error.errors]
    return found or [Complaint(str(error))]


@contextmanager
def translated_errors(
    session: ffi.Session, lookup: Lookup = lambda _: None, *, held: Lookup = lambda _: None
) -> Iterator[None]:
    """Turn the bindings' exceptions into ours; the session's pending edit is dropped then.

    ``lookup`` and ``held`` as in ``explain``. The edit must go first: sysrepo would show it to
    readers of the configuration through this session.
    """
    import libyang
    from sysrepo import errors as sr

    try:
        yield
    except libyang.LibyangError as e:
        session.discard_changes()
        raise RejectedError(explain(of_libyang(e), lookup, held=held)) from e
    except sr.SysrepoError as e:
        infos = getattr(e, "infos", None) or error_infos(session)
        infos = infos or [ErrorInfo(int(e.rc), str(e.msg))]
        text = "; ".join(info.message for info in infos if info.message)
        session.discard_changes()
        rejecting = {
            sr.SysrepoValidationFailedError: RejectedError,
            sr.SysrepoLyError: RejectedError,
            sr.SysrepoInvalArgError: RejectedError,
            sr.SysrepoNotFoundError: RejectedError,
            # srv6mgrd's checks; what the kernel or FRR rejected comes as "operation failed".
            sr.SysrepoCallbackFailedError: RejectedError,
            sr.SysrepoOperationFailedError: FailedError,
        }
        none_awaits = isinstance(e, sr.SysrepoNotFoundError) and NONE_AWAITS in text
        if not none_awaits and (kind := rejecting.get(type(e))) is not None:
            raise kind(explain([complaint(i) for i in infos], lookup, held=held)) from e
        raise _error(e, text) from e


def _error(error: Any, text: str) -> DatastoreError:
    from sysrepo import errors as sr

    match error:
        case sr.SysrepoLockedError() if AWAITS in text:
            return PendingError(text)
        case sr.SysrepoNotFoundError():
            return NonePendingError(text)
        case sr.SysrepoLockedError():
            return LockedError(
                f"running configuration: it is locked ({text}); try again when it is unlocked"
            )
        case sr.SysrepoUnauthorizedError():
            return DeniedError(f"access: denied ({text}); ask for a NACM rule")
        case sr.SysrepoTimeOutError() if OVERDUE.search(text):
            # sysrepo notifies its subscriber of the abort, once that is done.
            return TimedOutError(f"change: {TAKEN_BACK}; {SMALLER}")
        case sr.SysrepoTimeOutError():
            return TimedOutError(f"srv6mgrd: it didn't answer in time ({text}); see its log")
        case _:
            return DatastoreError(f"sysrepo: {text}; see its log")


# Bytes; the temporary file's head, and directories.
_LEAST_STARTUP = 64 << 10


def check_room(octets: int = 0) -> None:
    """Raises DatastoreError when a change of so many bytes of JSON may find no room, or no file can
    be made for it."""
    if problem := shared_memory.lacks(octets) or new_files.lacks(Path(shared_memory.PATH)):
        raise DatastoreError(problem)


def check_startup(octets: int) -> None:
    """The same for a startup configuration of so many bytes."""
    check_room(octets)
    repository, _, _ = ffi.places()
    if problem := new_files.lacks(repository / "data", _LEAST_STARTUP + octets):
        raise DatastoreError(problem)


class Connection:
    """One sysrepo connection. Everything that blocks is called from an executor thread. Raises
    DatastoreError when there is no room in shared memory.

    Sessions are kept until ``close``: the binding aborts the process when a session with live
    subscriptions is garbage-collected.
    """

    def __init__(self, *, originator: str) -> None:
        import sysrepo

        check_room()
        self._conn: Any = sysrepo.SysrepoConnection()
        self._originator = originator
        self._sessions: list[Any] = []
        self._followers: list[InOwnThread] = []

    def session(self, datastore: str = "running") -> ffi.Session:
        """A new session; a session must not be used by two threads at once."""
        session = self._conn.start_session(datastore)
        self._sessions.append(session)
        ffi.set_originator(session, self._originator)
        return session

    def drop(self, session: ffi.Session) -> None:
        """End a session before the connection ends."""
        self._sessions.remove(session)
        session.stop()

    @contextmanager
    def session_of(self, originator: str, *data: str) -> Iterator[ffi.Session]:
        """A session that passes this originator and its data to the receivers of its changes."""
        # Empty data is rejected by sysrepo; C reads them as strings.
        encoded = (f"{item}\0".encode() for item in data)
        with self.session_with(originator, *encoded) as session:
            yield session

    @contextmanager
    def session_with(self, originator: str, *data: bytes) -> Iterator[ffi.Session]:
        """The same with the originator's data as they are."""
        from sysrepo import errors as sr

        try:
            session = self._conn.start_session("running")
        except sr.SysrepoError as error:
            # SysrepoSysError is all that it says of EMFILE and ENOMEM.
            raise DatastoreError(
                f"sysrepo: no session can be opened ({error}); see that this process has memory"
                " and file descriptors left, then try again"
            ) from error
        try:
            ffi.set_originator(session, originator, *data)
            yield session
        finally:
            session.stop()

    @contextmanager
    def context(self) -> Iterator[Any]:
        """The libyang context with all installed modules."""
        with self._conn.get_ly_ctx() as context:
            yield context

    def follow(self, modules: Sequence[str], on_change: Callable[[str], None]) -> None:
        """Call ``on_change`` with the JSON diff of the configuration as it is, then of each change.

        The call comes from a thread of its own, which the writer waits for: it must be short.
        No change is lost or reported twice between the first call and the later ones. Raises
        OSError without a file descriptor left.
        """
        from srv6mgrd.datastore.events import InOwnThread

        def reported(session: Any, event: str, req_id: int, private_data: Any) -> None:
            if event == "done" and (diff := ffi.change_diff(session)) is not None:
                on_change(diff)

        session = self.session()
        follower = InOwnThread("follower")
        self._followers.append(follower)
        try:
            for module in modules:
                with translated_errors(session):
                    session.subscribe_module_change_unsafe(
                        module,
                        None,
                        reported,
                        passive=True,
                        done_only=True,
                        enabled=True,
                        no_thread=True,
                    )
        finally:
            # Those before one that fails keep writers waiting, too.
            follower.follow(*ffi.subscriptions(session))

    def close(self) -> None:
        """Stop all sessions with their subscriptions, then disconnect."""
        while self._followers:
            self._followers.pop().close()
        while self._sessions:
            self._sessions.pop().stop()
        self._conn.disconnect()
