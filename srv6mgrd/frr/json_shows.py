"""Show commands of FRR that answer in JSON."""

from __future__ import annotations

import errno
import json
from typing import Any

from srv6mgrd.frr.vty import Shows, VtyError


class Remembered:
    """FRR as it answers within one round: who asks the same again gets the same answer, and
    bgpd prints its neighbors once for all who look at them. What is printed as in the round before
    is not parsed again."""

    def __init__(self, frr: Shows, before: Remembered | None = None) -> None:
        self._frr = frr
        # What was printed, by daemon and command.
        self.shown: dict[tuple[str, str], str] = {}
        # What got no answer at all.
        self.unanswered: set[tuple[str, str]] = set()
        self._parsed: dict[tuple[str, str], Any] = {}
        self._before = {} if before is None else before.answers()

    def answers(self) -> dict[tuple[str, str], tuple[str, Any]]:
        """What was printed and parsed, by daemon and command."""
        return {asked: (self.shown[asked], found) for asked, found in self._parsed.items()}

    def show(self, daemon: str, command: str) -> str:
        """Output of a show command; ``VtyError`` as from FRR itself."""
        asked = daemon, command
        if asked not in self.shown:
            try:
                self.shown[asked] = self._frr.show(daemon, command)
            except VtyError:
                self.unanswered.add(asked)
                raise
        return self.shown[asked]

    def json(self, daemon: str, command: str) -> Any:
        """The same, parsed."""
        asked = daemon, command
        if asked not in self._parsed:
            text, found = self._before.pop(asked, ("", None))
            same = found is not None and text == self.show(daemon, command)
            self._parsed[asked] = found if same else _parsed(self, daemon, command)
        return self._parsed[asked]


def show_any_json(frr: Shows, daemon: str, command: str) -> Any:
    """What a show command prints, an empty object for nothing; VtyError, with EPROTO where the
    daemon has words instead of JSON."""
    if isinstance(frr, Remembered):
        return frr.json(daemon, command)
    return _parsed(frr, daemon, command)


def show_json(frr: Shows, daemon: str, command: str) -> dict[str, Any]:
    """The object that a show command prints, empty for anything else; VtyError as above."""
    found = show_any_json(frr, daemon, command)
    return found if isinstance(found, dict) else {}


def _parsed(frr: Shows, daemon: str, command: str) -> Any:
    text = frr.show(daemon, command).strip()
    try:
        return json.loads(text or "{}")
    except ValueError as error:
        raise VtyError(errno.EPROTO, f"{daemon} gave no JSON for '{command}' ({error})") from error
