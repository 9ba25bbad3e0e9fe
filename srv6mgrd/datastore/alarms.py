"""ietf-alarms in sysrepo: the alarm list as operational state, and its actions."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import libyang
import sysrepo

from srv6mgrd.alarms import control, selection
from srv6mgrd.alarms.alarm import Key, OperatorState
from srv6mgrd.alarms.control import Control
from srv6mgrd.alarms.selection import Selection
from srv6mgrd.counters.alarms import MEMBERS, MODULE, TOP, beside
from srv6mgrd.counters.node import NodeReader
from srv6mgrd.datastore import caller
from srv6mgrd.datastore.client_errors import of_error
from srv6mgrd.datastore.connection import Connection, DatastoreError
from srv6mgrd.datastore.events import InOwnThread, process_in_loop
from srv6mgrd.datastore.ffi import subscriptions
from srv6mgrd.datastore.operational_data import OperationalData
from srv6mgrd.datastore.reserve import Reserve
from srv6mgrd.datastore.secrets import Secrets
from srv6mgrd.datastore.user_groups import UserGroups
from srv6mgrd.model.rejection import RejectedError, Rejection

_LOG = logging.getLogger(__name__)

_TYPES = "srv6mgr-alarms"
_LIST, _SHELVED, _CONTROL = f"/{TOP}/alarm-list", f"/{TOP}/shelved-alarms", f"/{TOP}/control"
# One key of the list, whose value may hold the other kind of quote.
_KEY = re.compile(r"\[(?:[\w-]+:)?([\w-]+)=(?:'([^']*)'|\"([^\"]*)\")\]")
_REMEDY = "see srv6ctl show alarms --all"

Given = Mapping[str, Any]
Answer = dict[str, Any]


class Alarms(Protocol):
    """The alarm list (``alarms.keeper.Alarms``)."""

    def act(self, key: Key, state: OperatorState, operator: str, text: str) -> bool: ...

    def purge(self, selection: Selection, *, shelved: bool = False) -> int: ...

    def compress(
        self,
        resource: str | None,
        type_: str | None,
        qualifier: str | None,
        *,
        shelved: bool = False,
    ) -> int: ...

    def configure(self, control: Control) -> None: ...


class AlarmSubscription:
    """Serves the list from the file that srv6mgrd writes, in a thread of its own; answers the
    actions in the event loop."""

    def __init__(self, store: Path) -> None:
        self._file = NodeReader(beside(store))
        self._connection = Connection(originator="srv6mgrd")
        self._data = OperationalData(self._connection.session(), self._answer)
        self._session = self._connection.session()
        self._config, self._reader = self._connection.session(), self._connection.session()
        # RFC 8632 leaves the actions to exec-default, which permits.
        self._rights = Secrets(self._connection, UserGroups())
        self._reserve: Reserve | None = None
        self._follower: InOwnThread | None = None

    def start(self, alarms: Alarms) -> bool:
        """Subscribe if the modules are there; whether they are. In the event loop."""
        try:
            with self._connection.context() as context:
                for name in (MODULE, _TYPES):
                    context.get_module(name)
        except libyang.LibyangError as error:
            _LOG.error("alarms: %s; srv6ctl doctor says which YANG modules are missing", error)
            return False
        self._alarms = alarms
        self._data.subscribe(MODULE, *(f"/{TOP}/{member}" for member in MEMBERS))
        self._configure()
        self._follower = InOwnThread("follower")
        self._config.subscribe_module_change(
            MODULE, _CONTROL, self._changed, done_only=True, no_thread=True
        )
        self._follower.follow(*subscriptions(self._config))
        caller.follow()
        actions: dict[str, Callable[[str, Given], Answer]] = {
            f"{_LIST}/alarm/set-operator-state": self._act,
            f"{_LIST}/purge-alarms": self._purge,
            f"{_LIST}/compress-alarms": self._compress,
            f"{_SHELVED}/purge-shelved-alarms": self._purge,
            f"{_SHELVED}/compress-shelved-alarms": self._compress,
        }
        for path, answer in actions.items():
            called = _answering(self._rights.check_execute, answer)
            self._session.subscribe_rpc_call(path, called, asyncio_register=True)
        self._reserve = process_in_loop(self._session)
        return True

    def _changed(self, _event: str, _request: int, _changes: Any, _private: Any) -> None:
        """In a thread of its own."""
        self._configure()

    def _configure(self) -> None:
        try:
            with self._reader.get_data_ly(_CONTROL) as data:
                found = json.loads(data.print_mem("json", with_siblings=True))
        except sysrepo.SysrepoNotFoundError:
            found = {}
        self._alarms.configure(control.parse(found.get(TOP, {}).get("control", {})))

    def close(self) -> None:
        if self._reserve is not None:
            self._reserve.close()
        if self._follower is not None:
            self._follower.close()
        self._data.close()
        self._connection.close()

    def _answer(self, path: str, _asked: str) -> str | None:
        member = path.removeprefix(f"/{TOP}/")
        found = self._file.read().members.get(member)
        if not found:
            return None
        return json.dumps({TOP: {member: found}}, separators=(",", ":"))

    def _act(self, path: str, given: Given) -> Answer:
        key = key_of(path)
        operator = caller.user() or "srv6mgrd"
        state, text = OperatorState(given["state"]), str(given.get("text", ""))
        if not self._alarms.act(key, state, operator, text):
            cause = "there is no such alarm in the list"
            raise RejectedError(
                [Rejection(f"alarm {key[0]} on {key[1]}", cause, _REMEDY, "alarm-unknown")]
            )
        return {}

    def _purge(self, path: str, given: Given) -> Answer:
        shelved = path.startswith(_SHELVED)
        return {"purged-alarms": self._alarms.purge(selection.parse(given), shelved=shelved)}

    def _compress(self, path: str, given: Given) -> Answer:
        type_ = given.get("alarm-type-id")
        count = self._alarms.compress(
            given.get("resource"),
            None if type_ is None else _name(str(type_)),
            given.get("alarm-type-qualifier"),
            shelved=path.startswith(_SHELVED),
        )
        return {"compressed-alarms": count}


def key_of(path: str) -> Key:
    """The alarm in a data path of an action."""
    keys = {name: single or double for name, single, double in _KEY.findall(path)}
    return _name(keys["alarm-type-id"]), keys["resource"]


def _name(identity: str) -> str:
    return identity.rpartition(":")[2]


def _answering(
    check: Callable[[str, str], None], answer: Callable[[str, Given], Answer]
) -> Callable[..., Awaitable[Answer]]:
    async def called(path: str, given: Given, event: str, _private: Any) -> Answer:
        if event != "rpc":
            return {}
        try:
            await asyncio.to_thread(check, caller.user(), path)
            return answer(path, given or {})
        except (RejectedError, DatastoreError) as error:
            raise caller.failure(of_error(error)) from None

    return called
