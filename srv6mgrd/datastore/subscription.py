"""srv6mgrd's side of sysrepo: takes part in every commit, and can reject it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

import sysrepo

from srv6mgrd.datastore import ffi
from srv6mgrd.datastore.caller import origin_of
from srv6mgrd.datastore.client_errors import of_error
from srv6mgrd.datastore.config_change import SMALL, ConfigChange
from srv6mgrd.datastore.connection import DatastoreError, NonePendingError, PendingError
from srv6mgrd.datastore.error_info import set_error_infos
from srv6mgrd.datastore.events import InThread
from srv6mgrd.datastore.history import Origin
from srv6mgrd.datastore.running import MODULE, read
from srv6mgrd.model.rejection import RejectedError

_LOG = logging.getLogger(__name__)


Tree = Mapping[str, Any]
OnChange = Callable[[ConfigChange, Origin], None]


class ConfigSubscription:
    """Hands every new running configuration to ``on_change`` before it is stored. Its session is
    that of the writer's thread, but for ``follow`` and ``unfollow``."""

    def __init__(self) -> None:
        self._connection = sysrepo.SysrepoConnection()
        # A session that is garbage-collected with live subscriptions aborts the process: keep it.
        self._session = self._connection.start_session("running")
        self._given = ""
        self._events: InThread | None = None

    def start(
        self,
        on_change: OnChange,
        on_stored: Callable[[], None],
        on_abort: Callable[[], None],
    ) -> None:
        """Subscribe; all are called in the writer's thread from ``follow`` on, and sysrepo's client
        waits for them. ``on_change`` gets the change and who makes it, and raises RejectedError
        to reject;
        ``on_abort`` follows when somebody else rejected after it agreed; ``on_stored`` when the
        commit is through. Raises DatastoreError while a change of another program that uses
        sysrepo itself waits for a subscriber that has died."""
        self._on_change = on_change
        self._on_stored = on_stored
        self._on_abort = on_abort
        try:
            self._session.subscribe_module_change_unsafe(MODULE, None, self._event, no_thread=True)
        except sysrepo.SysrepoTimeOutError as error:
            raise DatastoreError(
                f"sysrepo: another program's change holds its locks ({error.msg});"
                " wait until that change times out, or stop that program"
            ) from error

    def follow(self, writer: Executor) -> None:
        """Process the events from now on in the one thread of ``writer``; in the event loop."""
        self._events = InThread(self._session, writer)

    def unfollow(self) -> None:
        """Begin no event any more; in the event loop."""
        if self._events is not None:
            self._events.close()

    def running(self) -> Tree:
        """The running configuration."""
        self._given = read(self._session)
        tree: Tree = json.loads(self._given)
        return tree

    def text(self) -> str:
        """What ``running`` gave last, as JSON, handed over once; else what is running now."""
        given, self._given = self._given, ""
        return given or read(self._session)

    def close(self) -> None:
        self._session.stop()
        self._connection.disconnect()

    def _event(self, session: Any, event: str, _request: int, _private: Any) -> None:
        if event == "change":
            self._change(session)
        elif event == "done":
            self._on_stored()
        elif event == "abort":
            self._on_abort()

    def _change(self, session: Any) -> None:
        try:
            change = ConfigChange(
                lambda: read(session),
                lambda: ffi.change_diff(session, tagged=True, most=SMALL) or "",
            )
            self._on_change(change, origin_of(session))
        except (PendingError, RejectedError) as error:
            raise rejection(session, error) from None
        except NonePendingError as none:
            raise _answer(session, str(none)) from None
        except Exception as error:
            _LOG.exception("commit failed")
            raise _answer(session, f"srv6mgrd: internal error: {error!r}") from error


def rejection(session: Any, error: RejectedError | PendingError) -> sysrepo.SysrepoError:
    """The error that makes sysrepo reject the commit; its client gets every reason with its
    error-app-tag and its path."""
    infos = of_error(error)
    set_error_infos(session, infos)
    return sysrepo.SysrepoError.new(str(error), infos[0].code)


def _answer(session: Any, message: str) -> sysrepo.SysrepoError:
    """The error that makes sysrepo reject the commit, with our message for its client."""
    error = sysrepo.SysrepoCallbackFailedError(message)
    session.set_error(error)
    return error
