"""RPCs of srv6mgr-operations that srv6mgrd answers: plan, reconcile, clear-counters.

They are answered in the event loop, between commits. Those that are declared and not answered yet
(commit, confirm, cancel, rollback) have no subscriber, and sysrepo says so.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import sysrepo

from srv6mgrd.datastore import bad_key
from srv6mgrd.datastore.connection import Connection, of_libyang
from srv6mgrd.datastore.refusals import explain
from srv6mgrd.model.refusal import RefusedError
from srv6mgrd.plan.actions import Action
from srv6mgrd.plan.commands import command, verb

_LOG = logging.getLogger(__name__)

_MODULE = "srv6mgr-operations"


class Manager(Protocol):
    """What the RPCs ask of the manager."""

    def plan(self, tree: Mapping[str, Any]) -> list[Action]: ...

    def reconcile(self) -> list[Action]: ...

    def clear_counters(self, sid: str | None = None) -> None: ...


def operations(actions: Iterable[Action]) -> dict[str, Any]:
    """The list ``operation``."""
    listed = []
    for number, action in enumerate(actions, 1):
        entry = {"number": number, "verb": verb(action), "object": action.object.key}
        if text := command(action):
            entry["command"] = text
        listed.append(entry)
    return {"operation": listed} if listed else {}


class RpcSubscription:
    """Answers the RPCs."""

    def __init__(self) -> None:
        self._connection = Connection(originator="srv6mgrd")
        self._session = self._connection.session()

    def start(self, manager: Manager) -> None:
        """Subscribe; must run in the event loop, in whose thread the manager is called."""
        self._manager = manager
        answers: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "plan": self._plan,
            "reconcile": lambda _: operations(manager.reconcile()),
            "clear-counters": self._clear,
        }
        for name, answer in answers.items():
            self._session.subscribe_rpc_call(
                f"/{_MODULE}:{name}", _worded(name, answer), asyncio_register=True
            )

    def close(self) -> None:
        self._connection.close()

    def _plan(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return operations(self._manager.plan(self._parsed(given["configuration"])))

    def _parsed(self, text: str) -> Mapping[str, Any]:
        """The configuration as it would be read after the commit: judged by YANG, with defaults."""
        import libyang

        with self._session.get_ly_ctx() as context:
            try:
                tree = context.parse_data_mem(text, "json", strict=True, no_state=True)
                if tree is None:
                    return {}
                try:
                    whole = tree.print_mem("json", with_siblings=True)
                finally:
                    tree.free()
            except libyang.LibyangError as error:
                refusals = explain(
                    of_libyang(error), lambda path: bad_key.find(context, text.encode(), path)
                )
                raise RefusedError(refusals) from error
        data: Mapping[str, Any] = json.loads(whole or "{}")
        return data

    def _clear(self, given: Mapping[str, Any]) -> dict[str, Any]:
        self._manager.clear_counters(given.get("sid"))
        return {}


def _refused(message: str) -> sysrepo.SysrepoError:
    return sysrepo.SysrepoCallbackFailedError(message)


def _worded(
    name: str, answer: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> Callable[[str, Mapping[str, Any], str, Any], dict[str, Any]]:
    """``answer`` with its refusals in our words for sysrepo's client."""

    def called(_path: str, given: Mapping[str, Any], event: str, _private: Any) -> dict[str, Any]:
        if event != "rpc":
            return {}
        try:
            return answer(given)
        except RefusedError as refused:
            raise _refused(str(refused)) from None
        except sysrepo.SysrepoError:
            raise
        except Exception as error:
            _LOG.exception("rpc %s failed", name)
            raise _refused(f"srv6mgrd: internal error: {error!r}") from error

    return called
