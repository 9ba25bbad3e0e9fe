"""srv6mgrd's side of sysrepo: takes part in every commit, and can refuse it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import sysrepo

from srv6mgrd.model.refusal import RefusedError

_LOG = logging.getLogger(__name__)

# The one module with top-level data; the others augment it (docs/adr/0002).
MODULE = "srv6mgr-srv6"
_TREE = f"/{MODULE}:srv6"

Tree = Mapping[str, Any]


class ConfigSubscription:
    """Hands every new running configuration to ``on_change`` before it is stored."""

    def __init__(self) -> None:
        self._connection = sysrepo.SysrepoConnection()
        # A session that is garbage-collected with live subscriptions aborts the process: keep it.
        self._session = self._connection.start_session("running")

    def start(
        self,
        on_change: Callable[[Tree], None],
        on_stored: Callable[[], None],
        on_abort: Callable[[], None],
    ) -> None:
        """Subscribe; must run in the event loop, in whose thread all are called: it waits for
        them, and so does sysrepo's client. ``on_change`` raises RefusedError to refuse;
        ``on_abort`` follows when somebody else refused after it agreed; ``on_stored`` when the
        commit is through."""
        self._on_change = on_change
        self._on_stored = on_stored
        self._on_abort = on_abort
        self._session.subscribe_module_change_unsafe(
            MODULE, None, self._event, asyncio_register=True
        )

    def running(self) -> Tree:
        """The running configuration."""
        tree: Tree = json.loads(_read(self._session) or "{}")
        return tree

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
            self._on_change(json.loads(_read(session) or "{}"))
        except RefusedError as refused:
            raise _answer(session, str(refused)) from None
        except Exception as error:
            _LOG.exception("commit failed")
            raise _answer(session, f"srv6mgrd: internal error: {error!r}") from error


def _answer(session: Any, message: str) -> sysrepo.SysrepoError:
    """The error that makes sysrepo refuse the commit, with our words for its client."""
    error = sysrepo.SysrepoCallbackFailedError(message)
    session.set_error(error)
    return error


def _read(session: Any) -> str | None:
    """Configuration as JSON text; the session of an event sees the new one."""
    try:
        with session.get_data_ly(_TREE) as tree:
            text: str = tree.print_mem("json", with_siblings=True, pretty=False)
            return text
    except sysrepo.SysrepoNotFoundError:
        return None
