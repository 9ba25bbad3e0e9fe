"""NACM as it is configured in sysrepo: for the session that writes, and for what is read."""

from __future__ import annotations

import asyncio
import grp
import json
import os
import pwd
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from srv6mgrd.datastore import ffi
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.gnmi.path import Pattern
from srv6mgrd.gnmi.rights import Permit, Policy, Rights, parse

_MODULE = "ietf-netconf-acm"


class Authority:
    """Rules for users. A client without a name is under none (see ``Config.anonymous_user``)."""

    def __init__(self, connection: Connection, source: Callable[[Pattern], Pattern | None]) -> None:
        """Blocks. ``source`` as for Rights."""
        self._source = source
        self._nacm = ffi.Nacm(connection.session())
        self._session = connection.session()
        self._policy = self._read()

    def follow(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        """Keep up with the rules. Blocks."""

        def changed(_: str) -> None:
            # The change is not to be waited for by who makes it.
            loop.call_soon_threadsafe(loop.run_in_executor, None, self._refresh)

        connection.follow([_MODULE], changed)

    def _refresh(self) -> None:
        self._policy = self._read()

    def _read(self) -> Policy:
        import sysrepo

        try:
            with self._session.get_data_ly(f"/{_MODULE}:nacm") as data:
                text = data.print_mem("json", with_siblings=True, include_implicit_defaults=True)
        except sysrepo.SysrepoNotFoundError:
            return Policy()
        found: dict[str, Any] = json.loads(text or "{}")
        return parse(found.get(f"{_MODULE}:nacm", {}))

    def permit(self, user: str | None) -> Permit | None:
        """What ``user`` may read, now and later; None: everything."""
        if user is None:
            return None
        return Rights(user, lambda: self._policy, _groups, self._source)

    def acting(self, session: ffi.Session, user: str | None) -> AbstractContextManager[None]:
        """Within it, what ``session`` writes is checked by the rules for ``user``."""
        return nullcontext() if user is None else self._nacm.acting(session, user)

    def close(self) -> None:
        self._nacm.close()


def _groups(user: str) -> frozenset[str]:
    try:
        numbers = os.getgrouplist(user, pwd.getpwnam(user).pw_gid)
    except KeyError:
        return frozenset()
    found = set()
    for number in numbers:
        try:
            found.add(grp.getgrgid(number).gr_name)
        except KeyError:
            continue
    return frozenset(found)
