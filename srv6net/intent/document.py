"""An RFC 7951 document, read strictly: a node that nothing here understands is rejected, since a
service without it would not be the service that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from srv6mgrd.model.rejection import RejectedError, Rejection

_T = TypeVar("_T")
COMMON = "ietf-vpn-common"


@dataclass(frozen=True, slots=True)
class Place:
    """A container or list entry of the document, with its path. ``problems`` is shared by all
    places of a document, so that the operator gets every reason at once."""

    value: Mapping[str, Any]
    path: str
    problems: list[Rejection] = field(default_factory=list)

    def only(self, *names: str) -> None:
        """Reject the nodes that have none of these names."""
        for name in self.value:
            if name not in names:
                self.reject(
                    f"{self.path}/{name}",
                    "srv6net does not support this node",
                    "remove it; docs/srv6net.md lists the supported ones",
                    "not-supported",
                )

    def reject(self, object: str, cause: str, remedy: str, tag: str) -> None:
        self.problems.append(Rejection(object, cause, remedy, tag, self.path))

    def below(self, name: str) -> Place:
        """A container; an empty one where there is none."""
        value = self.value.get(name, {})
        path = f"{self.path}/{name}"
        if not isinstance(value, Mapping):
            self.reject(path, "it is not a JSON object", "correct the document", "malformed")
            value = {}
        return Place(value, path, self.problems)

    def entries(self, name: str, key: str) -> Iterator[tuple[str, Place]]:
        """The entries of a list by their key, each key once."""
        value = self.value.get(name, [])
        path = f"{self.path}/{name}"
        if not isinstance(value, list) or not all(isinstance(e, Mapping) for e in value):
            self.reject(path, "it is not a JSON array of objects", "correct it", "malformed")
            return
        seen: set[str] = set()
        for entry in value:
            found = str(entry.get(key, ""))
            place = Place(entry, f"{path}[{key}='{found}']", self.problems)
            if not found:
                self.reject(path, f"an entry has no {key}", f"set {key}", "missing")
            elif found in seen:
                self.reject(place.path, "it is there twice", "remove one", "twice")
            else:
                seen.add(found)
                yield found, place

    def leaf(self, name: str, parse: Callable[[Any], _T], default: _T) -> _T:
        """A leaf; ``default`` where it is absent or rejected."""
        if name not in self.value:
            return default
        try:
            return parse(self.value[name])
        except (ValueError, TypeError) as error:
            self.reject(f"{self.path}/{name}", str(error), "correct it", "malformed")
            return default

    def identity(self, name: str, default: str, supported: frozenset[str]) -> str:
        """An identity of ietf-vpn-common without its prefix (RFC 7951 section 6.8)."""
        given = self.value.get(name)
        if given is None:
            return default
        module, _, local = str(given).rpartition(":")
        if module == COMMON and local in supported:
            return local
        wanted = ", ".join(f"{COMMON}:{one}" for one in sorted(supported))
        self.reject(
            f"{self.path}/{name}",
            f"srv6net does not support {given}",
            f"choose one of {wanted}",
            "not-supported",
        )
        return default

    def finish(self) -> None:
        """Raise RejectedError if anything was rejected."""
        if self.problems:
            raise RejectedError(list(self.problems))
