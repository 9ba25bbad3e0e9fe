"""NACM as it is configured in sysrepo, for what is read; srv6mgrd judges what is written."""

from __future__ import annotations

import grp
import json
import os
import pwd
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from srv6mgrd.commits.watch import Watch
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.gnmi.path import Pattern
from srv6mgrd.gnmi.rights import Permit, Policy, Rights, parse

MODULE = "ietf-netconf-acm"


class Authority:
    """Rules for users. A client without a name is under none (see ``Config.anonymous_user``)."""

    def __init__(self, connection: Connection, source: Callable[[Pattern], Pattern | None]) -> None:
        """Blocks. ``source`` as for Rights."""
        self._source = source
        self._session, self._reading = connection.session(), threading.Lock()
        self._policy = self._read()
        self._watch: Watch | None = None

    def follow(self, commits: Path) -> None:
        """Keep up with the rules, as ``commits`` (the commit socket) passes them on. Blocks."""
        self._watch = Watch(commits, [MODULE], lambda _diffs, _whole: self._refresh(), str)

    def _refresh(self) -> None:
        with self._reading:
            self._policy = self._read()

    def _read(self) -> Policy:
        import sysrepo

        try:
            with self._session.get_data_ly(f"/{MODULE}:nacm") as data:
                text = data.print_mem("json", with_siblings=True, include_implicit_defaults=True)
        except sysrepo.SysrepoNotFoundError:
            return Policy()
        found: dict[str, Any] = json.loads(text or "{}")
        return parse(found.get(f"{MODULE}:nacm", {}))

    def permit(self, user: str | None) -> Permit:
        """Rights of ``user`` to read, now and later; None is a client without a name."""
        return self._rights(user)

    def may_change(self, user: str | None) -> bool:
        """Whether ``user`` may write or execute anything. Blocks."""
        if self._rights(user).may_change():
            return True
        # A rule that was written a moment ago counts, as it does for what sysrepo judges.
        self._refresh()
        return self._rights(user).may_change()

    def _rights(self, user: str | None) -> Rights:
        return Rights(user, lambda: self._policy, _groups, self._source)

    def close(self) -> None:
        """Blocks."""
        if self._watch is not None:
            self._watch.close()


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
