"""NETCONF access control (RFC 8341) for sessions of this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from srv6mgrd.datastore.error_info import error_infos
from srv6mgrd.datastore.ffi import Session, Subscriptions, check, library, pointer

if TYPE_CHECKING:
    from srv6mgrd.datastore.events import InOwnThread


class Nacm:
    """sysrepo has it once per process: the first of these begins it on a connection of its own, the
    last one that is closed ends it. A change of the rules is never missed."""

    _guard: ClassVar[Lock] = Lock()
    _users: ClassVar[int] = 0
    _held: ClassVar[tuple[Any, Subscriptions, InOwnThread]]

    def __init__(self) -> None:
        self._lib = library()[1]
        with Nacm._guard:
            if not Nacm._users:
                Nacm._held = self._begun()
            Nacm._users += 1

    def _begun(self) -> tuple[Any, Subscriptions, InOwnThread]:
        """Nothing stays of one that fails, as without a descriptor left: sr_nacm_init fails where
        it was called before."""
        import _sysrepo
        import sysrepo

        from srv6mgrd.datastore.events import InOwnThread

        with ExitStack() as undone:
            connection = sysrepo.SysrepoConnection()
            undone.callback(connection.disconnect)
            session = connection.start_session("running")
            undone.callback(session.stop)
            following = InOwnThread("nacm")
            undone.callback(following.close)
            rules = Subscriptions(session)
            undone.callback(rules.close)
            code = self._lib.sr_nacm_init(
                pointer(session.cdata), _sysrepo.lib.SR_SUBSCR_NO_THREAD, rules.held
            )
            check(session, "sr_nacm_init", code)
            following.follow(rules)
            undone.pop_all()
        return connection, rules, following

    def set_user(self, session: Session, user: str | None) -> None:
        """From now on the rules for ``user`` filter reads and reject writes; None: no rules."""
        name = library()[0].NULL if user is None else user.encode()
        code = self._lib.sr_nacm_set_user(pointer(session.cdata), name)
        check(session, "sr_nacm_set_user", code)

    @contextmanager
    def acting(self, session: Session, user: str) -> Iterator[None]:
        """The rules for ``user`` within, none afterwards."""
        from sysrepo.errors import SysrepoError

        self.set_user(session, user)
        try:
            yield
        except SysrepoError as error:
            # The next call takes them from the session.
            error.infos = error_infos(session)
            raise
        finally:
            self.set_user(session, None)

    def close(self) -> None:
        with Nacm._guard:
            Nacm._users -= 1
            if not Nacm._users:
                connection, rules, following = Nacm._held
                following.close()
                rules.close()
                self._lib.sr_nacm_destroy()
                rules.session.stop()
                connection.disconnect()
