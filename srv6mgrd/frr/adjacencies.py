"""OSPF and IS-IS neighbors by interface, in the words of the model.

They are read from what the status of the instances is judged by: nothing more is asked of FRR.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from srv6mgrd.frr import isis_status, ospf
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.ospf import Ospf
from srv6mgrd.model.times import time_text

_LOG = logging.getLogger(__name__)

# ospfd and ospf6d differ in capitals: 2-Way and Twoway, Exchange and ExChange.
_OSPF_STATES = {
    "down": "down",
    "attempt": "attempt",
    "init": "init",
    "2-way": "2-way",
    "twoway": "2-way",
    "exstart": "exstart",
    "exchange": "exchange",
    "loading": "loading",
    "full": "full",
}
_ISIS_STATES = {"Up": "up", "Initializing": "initializing", "Down": "down"}
# ospf6d reports how long in text.
_SINCE = re.compile(r"(?:(\d+)d)?(\d+):(\d+):(\d+)")
# ospf6d lists a neighbor whose router ID it does not know yet.
_UNKNOWN = "0.0.0.0"
_NS = 1_000_000_000
# A time that is computed from how long ago it was moves by as much.
_SAME_CHANGE = 2 * _NS

Entry = dict[str, Any]


class Adjacencies:
    """Of all declared instances. Used in one thread."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, ...], tuple[str, int]] = {}

    def of_vrfs(self, desired: Desired, frr: Shows) -> dict[str, Entry]:
        """The containers ``ospf`` and ``ospfv3`` by VRF, with the neighbors of interfaces."""
        found: dict[str, Entry] = {}
        times: dict[tuple[str, ...], tuple[str, int]] = {}
        for instance in (*desired.ospf.values(), *desired.ospfv3.values()):
            try:
                neighbors = list(self._ospf(instance, frr, times))
            except VtyError as error:
                _LOG.debug("OSPF neighbors: %s", error)
                continue
            if listed := _by_interface({i.name for i in instance.interfaces}, neighbors):
                name = "ospf" if instance.version == 2 else "ospfv3"
                member = f"srv6mgr-ospf:{name}"
                found.setdefault(instance.vrf, {})[member] = {"interface": listed}
        self._times = times
        return found

    def of_isis(self, desired: Desired, frr: Shows) -> Entry:
        """Members of the container ``isis``."""
        isis = desired.isis
        if isis is None:
            return {}
        try:
            circuits = list(isis_status.circuits(frr))
        except VtyError as error:
            _LOG.debug("IS-IS neighbors: %s", error)
            return {}
        found: dict[str, dict[tuple[str, int], Entry]] = {i.name: {} for i in isis.interfaces}
        for circuit in circuits:
            state = _ISIS_STATES.get(circuit.get("state", ""))
            name, level = str(circuit.get("adj", "")), int(circuit.get("level", 0))
            if state is not None and name and circuit.get("interface") in found:
                entry = {"neighbor": name, "level": level, "state": state}
                found[circuit["interface"]][name, level] = entry
        listed = [
            {"name": name, "adjacency": list(entries.values())}
            for name, entries in found.items()
            if entries
        ]
        return {"interface": listed} if listed else {}

    def _ospf(
        self, instance: Ospf, frr: Shows, times: dict[tuple[str, ...], tuple[str, int]]
    ) -> Iterator[tuple[str, Entry]]:
        for shown in ospf.neighbors(instance, frr):
            state = _OSPF_STATES.get(shown.state.lower())
            if state is None or shown.router_id == _UNKNOWN:
                continue
            entry: Entry = {"router-id": shown.router_id, "state": state}
            if shown.address is not None:
                entry["address"] = shown.address
            key = (instance.vrf, str(instance.version), shown.interface, shown.router_id)
            if (ago := _seconds(shown.since)) is not None:
                changed = time.time_ns() - int(ago * _NS)
                known = self._times.get(key)
                if known and known[0] == state and abs(known[1] - changed) < _SAME_CHANGE:
                    changed = known[1]
                times[key] = state, changed
                entry["last-change"] = time_text(changed)
            yield shown.interface, entry


def _by_interface(declared: set[str], neighbors: list[tuple[str, Entry]]) -> list[Entry]:
    found: dict[str, dict[str, Entry]] = {}
    for name, entry in neighbors:
        if name in declared:
            found.setdefault(name, {})[entry["router-id"]] = entry
    return [{"name": n, "neighbor": list(of.values())} for n, of in sorted(found.items())]


def _seconds(since: Mapping[str, Any]) -> float | None:
    """How long ago, of what ospfd (milliseconds) or ospf6d (text) says."""
    if (ms := since.get("upTimeInMsec")) is not None:
        return float(ms) / 1000
    matched = _SINCE.fullmatch(str(since.get("duration", "")))
    if matched is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in matched.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
