"""RPCs of srv6mgr-operations, answered in the event loop.

Nearly all wait for the writer, so they are coroutines.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, Protocol

import sysrepo

from srv6mgrd.datastore import bad_key, caller
from srv6mgrd.datastore.client_errors import of_error
from srv6mgrd.datastore.connection import Connection, DatastoreError, of_libyang
from srv6mgrd.datastore.coordinator import CommitCoordinator
from srv6mgrd.datastore.differences import differences
from srv6mgrd.datastore.error_info import ErrorInfo
from srv6mgrd.datastore.events import process_in_loop
from srv6mgrd.datastore.history import Origin
from srv6mgrd.datastore.readable import Readable
from srv6mgrd.datastore.rejections import explain
from srv6mgrd.datastore.reserve import Reserve
from srv6mgrd.datastore.secrets import Secrets
from srv6mgrd.datastore.user_groups import UserGroups
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.plan.actions import Action

_LOG = logging.getLogger(__name__)

_MODULE = "srv6mgr-operations"
# The northbound, as the history shows it, of what an RPC itself commits.
_NORTHBOUND = "rpc"
# The parameter that is wrong, by error-app-tag.
_PARAMETERS = {"transaction-unknown": "transaction", "commit-unknown": "id"}

Given = Mapping[str, Any]
Answer = dict[str, Any]


class Manager(Protocol):
    """What the RPCs ask of the manager."""

    async def plan(self, tree: Mapping[str, Any]) -> list[Action]: ...

    async def reconcile(self) -> list[Action]: ...

    async def clear_counters(self, sid: str | None = None) -> None: ...


def operations(actions: Iterable[Action]) -> dict[str, Any]:
    """The list ``operation``."""
    listed = []
    for number, action in enumerate(actions, 1):
        entry = {"number": number, "verb": action.verb, "object": action.object.key}
        if text := action.command:
            entry["command"] = text
        listed.append(entry)
    return {"operation": listed} if listed else {}


class RpcSubscription:
    """Answers the RPCs."""

    def __init__(self) -> None:
        self._connection = Connection(originator="srv6mgrd")
        self._session = self._connection.session()
        groups = UserGroups()
        self._readable = Readable(self._connection, groups)
        self._secrets, self._lock = Secrets(self._connection, groups), Lock()
        self._reserve: Reserve | None = None

    def start(self, manager: Manager, coordinator: CommitCoordinator) -> None:
        """Subscribe; must run in the event loop, in whose thread both are called."""
        self._manager = manager
        self._coordinator = coordinator
        at_once: dict[str, Callable[[Given], Answer]] = {
            "check-commit": self._check,
        }
        awaited: dict[str, Callable[[Given], Awaitable[Answer]]] = {
            "commit": self._commit,
            "extend": self._extend,
            "confirm": self._confirm,
            "cancel": self._cancel,
            "rollback": self._rollback,
            "compare": self._compare,
            "plan": self._plan,
            "reconcile": self._reconcile,
            "clear-counters": self._clear,
        }
        caller.follow()
        for name, answer in at_once.items():
            self._subscribe(name, _translated(name, answer))
        for name, later in awaited.items():
            self._subscribe(name, _translated_later(name, later))
        self._reserve = process_in_loop(self._session)

    def _subscribe(self, name: str, called: Callable[..., Any]) -> None:
        self._session.subscribe_rpc_call(f"/{_MODULE}:{name}", called, asyncio_register=True)

    def close(self) -> None:
        if self._reserve is not None:
            self._reserve.close()
        self._readable.close()
        self._connection.close()

    async def _plan(self, given: Given) -> Answer:
        text, user = given["configuration"], caller.user()
        if user:
            running = await self._coordinator.now_running()
            text = await asyncio.to_thread(self._masked, user, text, running)
        tree = await asyncio.to_thread(self._parsed, text)
        return operations(await self._manager.plan(tree))

    def _masked(self, user: str, text: str, running: str) -> str:
        with self._lock:
            return self._secrets.masked(user, text, running)

    def _parsed(self, text: str) -> Given:
        """The configuration as it would be read after the commit: judged by YANG, with defaults."""
        import libyang

        with self._connection.context() as context:
            try:
                tree = context.parse_data_mem(text, "json", strict=True, no_state=True)
                if tree is None:
                    return {}
                try:
                    whole = tree.print_mem("json", with_siblings=True)
                finally:
                    tree.free()
            except libyang.LibyangError as error:
                rejections = explain(
                    of_libyang(error), lambda path: bad_key.find(context, text.encode(), path)
                )
                raise RejectedError(rejections) from error
        data: Mapping[str, Any] = json.loads(whole or "{}")
        return data

    async def _reconcile(self, _given: Given) -> Answer:
        return operations(await self._manager.reconcile())

    async def _clear(self, given: Given) -> Answer:
        await self._manager.clear_counters(given.get("sid"))
        return {}

    def _check(self, given: Given) -> Answer:
        self._coordinator.confirmation.check(given["id"])
        return {}

    async def _commit(self, given: Given) -> Answer:
        origin = Origin(_NORTHBOUND, token=given["id"])
        tree, commit_id = given.get("configuration"), given.get("commit-id", "")
        await self._coordinator.begin(origin, int(given["timeout"]), tree, commit_id)
        return {}

    async def _extend(self, given: Given) -> Answer:
        await self._coordinator.confirmation.extend(
            given.get("id", ""),
            int(given["timeout"]),
            given.get("new-id", ""),
            given.get("commit-id", ""),
        )
        return {}

    async def _confirm(self, given: Given) -> Answer:
        token, commit_id = given.get("id", ""), given.get("commit-id", "")
        await self._coordinator.confirmation.confirm(token, commit_id)
        return {}

    async def _cancel(self, given: Given) -> Answer:
        token, commit_id = given.get("id", ""), given.get("commit-id", "")
        await self._coordinator.confirmation.cancel(token, commit_id)
        return {}

    async def _rollback(self, given: Given) -> Answer:
        # Over a northbound that knows who calls, nobody is named but the caller.
        user = caller.user() or given.get("user", "")
        origin = Origin(_NORTHBOUND, user, given.get("id", ""), caller.address())
        timeout = int(given.get("timeout", 0))
        commit_id = given.get("commit-id", "")
        await self._coordinator.roll_back(int(given["transaction"]), origin, timeout, commit_id)
        return {}

    async def _compare(self, given: Given) -> Answer:
        other = given.get("other")
        before = await self._coordinator.configuration(int(given["transaction"]))
        if other is None:
            after = await self._coordinator.now_running()
        else:
            with _about(f"/{_MODULE}:compare/other"):
                after = await self._coordinator.configuration(int(other))
        return await asyncio.to_thread(self._changes, before, after, caller.user())

    def _changes(self, before: str, after: str, user: str) -> Answer:
        """As far as ``user`` may read them: the history is no way around NACM."""
        before, after = (self._readable.part_of(text, user) for text in (before, after))
        listed = []
        with self._connection.context() as context:
            for number, change in enumerate(differences(context, before, after), 1):
                entry = {"number": number, **change._asdict()}
                listed.append({name: value for name, value in entry.items() if value is not None})
        return {"change": listed} if listed else {}


def _translated(name: str, answer: Callable[[Given], Answer]) -> Callable[..., Answer]:
    """``answer`` with its errors for sysrepo's client."""

    def called(_path: str, given: Given, event: str, _private: Any) -> Answer:
        if event != "rpc":
            return {}
        with _translated_errors(name):
            return answer(given)

    return called


def _translated_later(
    name: str, answer: Callable[[Given], Awaitable[Answer]]
) -> Callable[..., Awaitable[Answer]]:
    async def called(_path: str, given: Given, event: str, _private: Any) -> Answer:
        if event != "rpc":
            return {}
        with _translated_errors(name):
            return await answer(given)

    return called


@contextmanager
def _translated_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (RejectedError, DatastoreError) as error:
        raise caller.failure(_placed(name, of_error(error))) from None
    except sysrepo.SysrepoError:
        raise
    except Exception as error:
        _LOG.exception("rpc %s failed", name)
        internal = DatastoreError(f"srv6mgrd: internal error: {error!r}; see its log")
        raise caller.failure(of_error(internal)) from error


def _placed(name: str, errors: Iterable[ErrorInfo]) -> list[ErrorInfo]:
    """With the path of the parameter, where an error is about one."""
    return [
        replace(error, path=f"/{_MODULE}:{name}/{parameter}")
        if not error.path and (parameter := _PARAMETERS.get(error.app_tag))
        else error
        for error in errors
    ]


@contextmanager
def _about(path: str) -> Iterator[None]:
    """What is rejected within is wrong with the parameter at ``path``."""
    try:
        yield
    except RejectedError as error:
        found = [replace(rejection, path=path) for rejection in error.rejections]
        raise RejectedError(found) from error
