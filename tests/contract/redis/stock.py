"""A stand-in for SONiC's orchagent, defects included, written from its documented behavior.

sonic-swss orchagent/srv6orch.cpp: a SID whose VRF is missing is dropped for good; of one that is
there the action is never changed; each SET of one that is there takes a reference to its VRF that
nothing gives back. A VRF with references is not removed.
"""

from __future__ import annotations

import json

import redis

from srv6mgrd.redis.schema import script

SIDS, LISTS, ROUTES = "SRV6_MY_SID_TABLE", "SRV6_SID_LIST_TABLE", "ROUTE_TABLE"


class StockOrch:
    """``drain`` is one turn of its loop."""

    def __init__(self, appl: redis.Redis, state: redis.Redis) -> None:
        self._appl, self._state = appl, state
        self._channel = appl.pubsub()
        self._channel.subscribe(f"{SIDS}_CHANNEL@0", f"{LISTS}_CHANNEL@0")
        self.vrfs: set[str] = set()
        self.references: dict[str, int] = {}
        self.sids: dict[str, dict[str, str]] = {}
        self.lists: dict[str, str] = {}
        self.routes: dict[str, dict[str, str]] = {}
        self.log: list[tuple[str, str]] = []

    def add_vrf(self, name: str) -> None:
        """vrfmgrd made it, VRFOrch took it."""
        self.vrfs.add(name)
        self.references.setdefault(name, 0)
        self._state.hset(f"VRF_OBJECT_TABLE|{name}", mapping={"state": "ok"})

    def remove_vrf(self, name: str) -> bool:
        if self.references.get(name):
            return False
        self.vrfs.discard(name)
        self._state.delete(f"VRF_OBJECT_TABLE|{name}")
        return True

    def drain(self) -> int:
        done = 0
        for key, fields in self._pop(LISTS):
            done += 1
            self.log.append(("set" if fields else "del", key))
            used = any(r["segment"] == key for r in self.routes.values())
            if fields:
                self.lists[key] = fields["path"]
            else:
                assert not used, "it would try again for ever"
                self.lists.pop(key, None)
        for key, fields in self._pop(SIDS):
            done += 1
            self.log.append(("set" if fields else "del", key))
            if fields:
                self._set(key, dict(fields))
            elif (gone := self.sids.pop(key, None)) is not None:
                self._refer(gone.get("vrf"), -1)
        for key, fields in self._pop(ROUTES):
            done += 1
            self.log.append(("set" if fields else "del", key))
            if fields:
                self._set_route(key, dict(fields))
            else:
                self.routes.pop(key, None)
        return done

    def _set_route(self, key: str, fields: dict[str, str]) -> None:
        """Without list or VRF it would try again at each turn."""
        vrf, _, _ = key.partition(":")
        assert vrf in self.vrfs or not vrf.startswith("Vrf")
        assert fields["segment"] in self.lists
        self.routes[key] = fields

    def _set(self, key: str, fields: dict[str, str]) -> None:
        vrf = fields.get("vrf")
        if vrf not in (None, "default", *self.vrfs):
            return
        if key in self.sids:
            if vrf is not None:
                self.sids[key]["vrf"] = vrf
        else:
            self.sids[key] = fields
        self._refer(vrf, 1)

    def _refer(self, vrf: str | None, by: int) -> None:
        if vrf in self.vrfs:
            self.references[vrf] += by

    def _pop(self, table: str) -> list[tuple[str, dict[str, str]]]:
        popped: list[tuple[str, dict[str, str]]] = json.loads(
            self._appl.eval(script("pop"), 0, table, 128)
        )
        return popped
