"""NACM as it is configured in sysrepo, for what is read; srv6mgrd judges what is written."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from srv6mgrd.commits.watch import Watch
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.gnmi.path import Pattern
from srv6mgrd.gnmi.rights import RECOVERY, Permit, Policy, Rights, parse
from srv6mgrd.lookups import NoAnswerError
from srv6mgrd.name_service import Groups

MODULE = "ietf-netconf-acm"


class Authority:
    """Rules for users. A client without a name is under none (see ``Config.anonymous_user``)."""

    def __init__(
        self,
        connection: Connection,
        source: Callable[[Pattern], Pattern | None],
        groups: Groups,
    ) -> None:
        """Blocks. ``source`` as for Rights; ``groups`` are those of the operating system."""
        self._source, self._groups = source, groups
        self._session, self._reading = connection.session(), threading.Lock()
        self._policy = self._read()
        self._watch: Watch | None = None
        # Who asked whether it may change anything, by number, and up to whom that was read.
        self._asked, self._answered = 0, 0
        self._in_turn = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "rules")

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

    async def know(self, user: str) -> None:
        """Have the groups of ``user`` known. Raises NoAnswerError when the rules depend on them and
        they are not."""
        if user == RECOVERY:
            # Under no rules, whatever its groups are.
            return
        try:
            await self._groups.learn(user)
        except NoAnswerError:
            if self._policy.enabled and self._policy.external:
                raise

    def permit(self, user: str | None) -> Permit:
        """Rights of ``user`` to read, now and later; None is a client without a name."""
        return self._rights(user)

    async def may_change(self, user: str | None) -> bool:
        """Whether ``user`` may write or execute anything."""
        if self._rights(user).may_change():
            return True
        # A rule that was written a moment ago counts, as it does for what sysrepo judges. To read
        # it waits for a commit that is under way: all who ask meanwhile share one read.
        self._asked += 1
        mine = self._asked
        async with self._in_turn:
            if self._answered < mine:
                last, loop = self._asked, asyncio.get_running_loop()
                await loop.run_in_executor(self._thread, self._refresh)
                self._answered = last
        return self._rights(user).may_change()

    def _rights(self, user: str | None) -> Rights:
        return Rights(user, lambda: self._policy, self._groups.known, self._source)

    def close(self) -> None:
        """Blocks."""
        if self._watch is not None:
            self._watch.close()
        self._thread.shutdown()
