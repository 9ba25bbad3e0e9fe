"""Warm restarts of SONiC: once all is as declared again, STATE_DB says so.

finalize-warmboot (sonic-buildimage files/image_config/warmboot-finalizer) waits until each process
that its package lists in ``reconciles`` is ``reconciled``. The states are those of
sonic-swss-common common/warm_restart.cpp.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from srv6mgrd.backoff import Backoff
from srv6mgrd.redis.connection import Line, text
from srv6mgrd.redis.schema import table
from srv6mgrd.redis.wire import DATABASES, Settings, WireError

_LOG = logging.getLogger(__name__)
_PROCESS = "srv6mgrd"
_STATE = table("STATE_DB", "WARM_RESTART_TABLE").key(_PROCESS)
_ENABLED = ("WARM_RESTART_ENABLE_TABLE|system", "WARM_RESTART_ENABLE_TABLE|srv6mgr")


class WarmRestart:
    """``run`` ends by itself, once the state is ``reconciled``, or ``disabled``."""

    def __init__(self, settings: Settings, reconciled: Callable[[], Awaitable[None]]) -> None:
        """``reconciled`` returns once Redis holds what is declared."""
        self._settings, self._reconciled = settings, reconciled
        self._is_begun = False

    async def run(self) -> None:
        backoff = Backoff(self._settings.backoff_first, self._settings.backoff_last)
        problem = ""
        while True:
            line = Line(self._settings, "srv6mgrd-warm-restart")
            try:
                await self._report(line)
                return
            except WireError as error:
                if str(error) != problem:
                    problem = str(error)
                    where = self._settings.where
                    _LOG.warning("Redis at %s: %s: %s; retrying", where, _STATE.key, problem)
                await backoff.wait()
            finally:
                await line.close()

    async def _report(self, line: Line) -> None:
        select = ("SELECT", DATABASES[_STATE.db])
        asked = [("HGET", key, "enable") for key in _ENABLED]
        enabled = (await line.call(select, *asked))[1:]
        if not any(text(value or b"") == "true" for value in enabled):
            await line.call(select, ("HSET", _STATE.key, "state", "disabled"))
            return
        if not self._is_begun:
            await line.call(
                select,
                ("HINCRBY", _STATE.key, "restore_count", 1),
                ("HSET", _STATE.key, "state", "initialized"),
            )
            self._is_begun = True
        await self._reconciled()
        await line.call(select, ("HSET", _STATE.key, "state", "reconciled"))
