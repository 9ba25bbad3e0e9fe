"""Feeding a stock orchagent, whose defects are stepped around (mode ``sonic``).

Srv6Orch (sonic-swss orchagent/srv6orch.cpp) drops a SID whose VRF it does not have, for good; it
ignores another action for a SID that it has; and each SET of a SID that it has takes one more
reference to the VRF, which is never given back. So: a SID waits for its VRF, is never SET twice,
and is deleted, and seen to be taken, before it is SET again. Segment lists come before SIDs and
routes and go after them. Rows that another writer made are left alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from srv6mgrd.backoff import Backoff
from srv6mgrd.jobs import until_one_ends
from srv6mgrd.redis.connection import Line, dumps, loads, text, track
from srv6mgrd.redis.rows import FED, MY_SID, ROUTE, SID_LIST
from srv6mgrd.redis.schema import Fields, RowKey, table
from srv6mgrd.redis.wire import DATABASES, Settings, WireError

_LOG = logging.getLogger(__name__)
_NAME = "srv6mgrd-feed"
_DB = MY_SID.database
_OWNED = table(_DB, "SRV6MGR_FED").name
# VRFOrch reports here that it has a VRF (sonic-swss orchagent/vrforch.cpp).
_READY = "VRF_OBJECT_TABLE|"
_ROUTER = "default"
# As RouteOrch distinguishes VRFs from prefixes (sonic-swss orchagent/routeorch.cpp).
_VRF_NAMES = "Vrf"
# fpmsyncd has many routes: to hear of each costs more than to look again while one of ours waits.
_ROUTES_WAIT = 0.2
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Seen:
    """A row as it is: whether something of it waits for orchagent, its fields once that has
    been taken, and whether it is on our list."""

    waits: bool
    fields: Fields
    ours: bool


ABSENT = Seen(False, {}, False)


@dataclass(frozen=True, slots=True)
class Step:
    """What may be done now: rows to SET and to DEL. ``unfinished`` is why that is not all."""

    puts: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()


def step(wanted: Mapping[str, Fields], seen: Mapping[str, Seen], ready: Iterable[str]) -> Step:
    """The next step from what is seen to what is wanted. ``ready`` are the VRFs that orchagent
    has."""
    vrfs = {_ROUTER, *ready}
    puts: list[str] = []
    drops: list[str] = []
    unfinished: list[str] = []
    lists = {key for key in wanted.keys() | seen.keys() if key.startswith(SID_LIST.prefix)}
    users = (wanted.keys() | seen.keys()) - lists
    anew = {k for k in lists if _is_anew(seen.get(k, ABSENT), wanted.get(k))}
    used = {_list_of(now.fields) for key, now in seen.items() if key in users and now.ours}
    lists_wait = any(k in wanted and _is_missing(seen.get(k, ABSENT)) for k in lists)
    # What waits to be deleted is there still, as is what a route that waits had before.
    users_leave = False
    for key in sorted(users):
        now, shall = seen.get(key, ABSENT), wanted.get(key)
        if _is_held(now):
            unfinished += _why_held(key, now, shall)
            users_leave |= _is_free(now) and (not now.fields or key.startswith(ROUTE.prefix))
        elif shall is not None and _list_of(shall) in anew:
            unfinished.append(f"{key} waits for its segment list to be made anew")
            drops += [key] if now.fields else []
        elif not now.fields:
            if shall is not None and (lists_wait or _vrf(key, shall) not in vrfs):
                unfinished.append(f"{key} waits for its segment lists, or VRF {_vrf(key, shall)}")
            elif shall is not None:
                puts.append(key)
        elif shall is None:
            drops.append(key)
        elif shall != now.fields and key.startswith(ROUTE.prefix):
            puts.append(key)  # RouteOrch changes it in place
            users_leave = True
        elif shall != now.fields:
            drops.append(key)
            unfinished.append(f"{key} is made anew")
    users_leave |= bool(drops)
    for key in sorted(lists):
        now, shall = seen.get(key, ABSENT), wanted.get(key)
        if _is_held(now):
            unfinished += _why_held(key, now, shall)
        elif shall == (now.fields or None):
            continue
        elif shall is not None and key not in anew:
            puts.append(key)  # another path is taken in place
        elif key in used or (shall is None and users_leave):
            unfinished.append(f"{key} waits for what uses it to go")
        else:
            drops.append(key)
            unfinished += [f"{key} is made anew"] if shall is not None else []
    return Step(tuple(puts), tuple(drops), tuple(unfinished))


def _is_anew(now: Seen, shall: Fields | None) -> bool:
    """Whether a segment list has another type, which Srv6Orch heeds only when it is new."""
    return bool(shall and now.fields and _is_free(now) and shall.get("type") != now.fields["type"])


def _list_of(fields: Fields) -> str:
    """The segment list of a route."""
    return SID_LIST.prefix + fields.get("segment", "")


def _vrf(key: str, fields: Fields) -> str:
    """The VRF that a row needs: a SID names it in a field, a route in its key."""
    if not key.startswith(ROUTE.prefix):
        return fields.get("vrf", _ROUTER)
    vrf, _, _ = key.removeprefix(ROUTE.prefix).partition(":")
    return vrf if vrf.startswith(_VRF_NAMES) else _ROUTER


def _is_missing(now: Seen) -> bool:
    return _is_free(now) and (now.waits or not now.fields)


def _is_free(now: Seen) -> bool:
    return now.ours or not (now.fields or now.waits)


def _is_held(now: Seen) -> bool:
    """Whether nothing can be done about a row now."""
    return now.waits or not _is_free(now)


def _why_held(key: str, now: Seen, shall: Fields | None) -> list[str]:
    """Why a held row is not as it should be; nothing where it is."""
    if not _is_free(now):
        other = shall is not None and shall != now.fields
        return [f"{key} is another writer's"] if other else []
    return [f"{key} waits for orchagent"] if shall != (now.fields or None) else []


class OrchagentFeed:
    """``want`` says at once what is desired; ``run`` makes it so."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._wanted: dict[str, Fields] | None = None
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._problem = ""
        self._pause = settings.compare_interval
        # Why not all is fed; empty when all is.
        self.unfinished: tuple[str, ...] = ()

    def want(self, rows: Mapping[RowKey, Fields]) -> None:
        """Make these the rows; nothing is removed before this was called once."""
        self._wanted = {row.key: fields for row, fields in rows.items()}
        self._idle.clear()
        self._wake.set()

    async def settled(self) -> None:
        """Return once all that can be fed is fed and taken."""
        await self._idle.wait()

    async def run(self) -> None:
        backoff = Backoff(self._settings.backoff_first, self._settings.backoff_last)
        while True:
            work, watch = (Line(self._settings, _NAME) for _ in range(2))
            try:
                names = [f"{t.name}_KEY_SET" for t in (MY_SID, SID_LIST)]
                await track(work, watch, [*names, _READY])
                backoff.reset()
                await until_one_ends(self._listen(watch), self._work(work))
            except WireError as error:
                if str(error) != self._problem:
                    _LOG.warning("feeding orchagent: %s; retrying", error)
                self._problem = str(error)
            finally:
                await work.close()
                await watch.close()
            await backoff.wait()

    async def _listen(self, watch: Line) -> None:
        while True:
            await watch.reported()
            self._wake.set()

    async def _work(self, work: Line) -> None:
        while True:
            self._wake.clear()
            if self._wanted is not None:
                await self._round(work, self._wanted)
                self._problem = ""
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pause):
                    await self._wake.wait()

    async def _round(self, work: Line, wanted: Mapping[str, Fields]) -> None:
        owned = set(loads(await work.evaluate(_DB, "owned", _OWNED)) or [])
        ours = {k for k in owned if k.startswith(FED)}
        seen = await self._look(work, ours | wanted.keys(), ours)
        ready = await self._ready(work)
        now = step(wanted, seen, ready)
        # Our list first: a crash between both leaves a claim to nothing, which is taken back here.
        gone = [k for k in ours - wanted.keys() if seen[k] == Seen(False, {}, True)]
        await self._claim(work, "SREM", gone)
        await self._claim(work, "SADD", now.puts)
        operations: list[Sequence[object]] = [("del", key) for key in now.drops]
        operations += [("set", k, [w for p in wanted[k].items() for w in p]) for k in now.puts]
        for first in range(0, len(operations), _BATCH):
            some = dumps(operations[first : first + _BATCH])
            await work.evaluate(_DB, "produce", DATABASES[_DB], some)
        self.unfinished = now.unfinished
        waiting = {k for k, row in seen.items() if row.waits}.union(now.puts, now.drops)
        has_route = any(k.startswith(ROUTE.prefix) for k in waiting)
        self._pause = _ROUTES_WAIT if has_route else self._settings.compare_interval
        if not operations and not any(seen[k].waits for k in seen) and self._wanted is wanted:
            self._idle.set()

    async def _look(self, work: Line, keys: Iterable[str], ours: set[str]) -> dict[str, Seen]:
        out: dict[str, Seen] = {}
        asked = sorted(keys)
        for first in range(0, len(asked), _BATCH):
            found = loads(await work.evaluate(_DB, "pending", *asked[first : first + _BATCH]))
            for key, (waits, fields) in found.items():
                out[key] = Seen(bool(waits), fields or {}, key in ours)
        return out

    async def _ready(self, work: Line) -> set[str]:
        select = ("SELECT", DATABASES["STATE_DB"])
        keys = (await work.call(select, ("KEYS", f"{_READY}*")))[-1]
        if not keys:
            return set()
        states = (await work.call(select, *(("HGET", key, "state") for key in keys)))[1:]
        names = (text(key).removeprefix(_READY) for key in keys)
        return {name for name, state in zip(names, states, strict=True) if state == b"ok"}

    async def _claim(self, work: Line, command: str, keys: Sequence[str]) -> None:
        for first in range(0, len(keys), _BATCH):
            some = keys[first : first + _BATCH]
            await work.call(("SELECT", DATABASES[_DB]), (command, _OWNED, *some))
