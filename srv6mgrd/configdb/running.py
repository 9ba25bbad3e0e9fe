"""The running configuration, as far as rows can speak of it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from srv6mgrd.configdb.objects import Kind, Object, references

_ROOT = "srv6mgr-srv6:srv6"


class Running:
    """Objects of the kinds that rows declare, of all northbounds."""

    def __init__(self, tree: Mapping[str, Any]) -> None:
        srv6 = tree.get(_ROOT, {})
        self._entries: dict[Object, Mapping[str, Any]] = {}
        for kind in Kind:
            container, name, key = kind.path
            if kind.is_container:
                if held := srv6.get(container):
                    self._entries[Object(kind)] = held
                continue
            for entry in srv6.get(container, {}).get(name, ()):
                self._entries[Object(kind, entry[key])] = entry
        self.tables = {int(e["table-id"]) for o, e in self._entries.items() if o.kind is Kind.VRF}
        containers = {kind.path[0] for kind in Kind}
        # All that no row can speak of.
        self.surroundings = {name: held for name, held in srv6.items() if name not in containers}
        self._users: Counter[Object] | None = None

    def get(self, obj: Object) -> Mapping[str, Any] | None:
        return self._entries.get(obj)

    def users(self, obj: Object) -> int:
        """How many objects refer to this one."""
        if self._users is None:
            self._users = Counter(
                Object(kind, name)
                for entry in self._entries.values()
                for kind, name in references(entry)
            )
        return self._users[obj]
