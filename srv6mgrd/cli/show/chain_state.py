"""State of service functions, chains and classifiers, as srv6mgrd reports it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from srv6mgrd.cli.state import State
from srv6mgrd.model.chains import Way
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.function_sids import sids_of
from srv6mgrd.model.parse import CHAINING


class Passed(NamedTuple):
    """Packets that went into a function, and that came out of it."""

    entered: int
    left: int

    @property
    def lost(self) -> int:
        """What it dropped or answered itself; less than 0 where it makes packets."""
        return self.entered - self.left


class ChainState:
    """Of one look. Raises Problem when there is nothing to read."""

    def __init__(self, state: State, desired: Desired) -> None:
        member: Mapping[str, Any] = state.observed().get(CHAINING, {})
        self._lists = {
            name: {entry["name"]: entry for entry in entries} for name, entries in member.items()
        }
        self._proxies = state.proxies()
        self._desired = desired

    def function(self, name: str) -> Mapping[str, Any]:
        return self._state("service-function", name)

    def chain(self, name: str) -> Mapping[str, Any]:
        return self._state("service-function-chain", name)

    def _state(self, entries: str, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._lists.get(entries, {}).get(name, {}).get("state", {})
        return found

    def rules(self, classifier: str) -> Mapping[int, Mapping[str, Any]]:
        """Counters of rules that anything matched, by priority."""
        entry = self._lists.get("classifier", {}).get(classifier, {})
        return {one["priority"]: one["state"] for one in entry.get("rule", ())}

    def passed(self, function: str, way: Way | None = None) -> Passed | None:
        """Through a function behind a proxy of this router, in one direction or both; None for
        others, and in reverse where one SID serves both directions and counts them as forward. Of
        all its chains: a proxy does not know them."""
        declared = self._desired.chains.functions.get(function)
        if declared is None or declared.proxied is None:
            return None
        made = sids_of(declared, self._desired.locators)
        states = [
            self._proxies.get(str(sid.prefix), {}) for (_, of), sid in made if way in (None, of)
        ]
        if not states:
            return None
        return Passed(_packets(states, "to-function"), _packets(states, "from-function"))


def _packets(states: Iterable[Mapping[str, Any]], container: str) -> int:
    return sum(int(state.get(container, {}).get("pkts", 0)) for state in states)
