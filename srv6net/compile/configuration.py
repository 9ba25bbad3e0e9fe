"""The part of a router's configuration that srv6net owns: entries of lists, by their gNMI path."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SRV6 = "/srv6mgr-srv6:srv6"
# An entry of a list: its RFC 7951 value by its path.
Entries = Mapping[str, Any]
# The order in which a tree shows the lists.
_LISTS = (("interfaces", "interface"), ("vrfs", "vrf"), ("local-sids", "sid"))
NOTHING: Entries = {}
_ENTRY = re.compile(r".*/([a-z0-9-]+)\[[a-z0-9-]+=(.+)\]")
_NAMES = {"vrf": "VRF", "sid": "SID"}


@dataclass(frozen=True, slots=True)
class Edit:
    """From one set of entries to another; what is in both and equal is not touched."""

    delete: tuple[str, ...]
    replace: Entries

    def __bool__(self) -> bool:
        return bool(self.delete or self.replace)


def edit(before: Entries, after: Entries) -> Edit:
    gone = tuple(sorted(path for path in before if path not in after))
    changed = {p: v for p, v in sorted(after.items()) if p not in before or before[p] != v}
    return Edit(gone, changed)


def digest(entries: Entries) -> str:
    """The same for the same entries, whatever their order."""
    text = json.dumps(entries, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tree(entries: Entries) -> dict[str, Any]:
    """The entries as a document of srv6mgr-srv6 (RFC 7951)."""
    srv6: dict[str, Any] = {}
    for container, name in _LISTS:
        prefix = f"{SRV6}/{container}/{name}["
        found = [value for path, value in sorted(entries.items()) if path.startswith(prefix)]
        if found:
            srv6[container] = {name: found}
    return {SRV6.lstrip("/"): srv6}


def named(path: str) -> str:
    """``VRF red`` for the path of its entry: as messages name objects."""
    found = _ENTRY.fullmatch(path)
    return f"{_NAMES.get(found[1], found[1])} {found[2]}" if found else path


def interface_path(name: str) -> str:
    return f"{SRV6}/interfaces/interface[name={name}]"


def vrf_path(name: str) -> str:
    return f"{SRV6}/vrfs/vrf[name={name}]"


def sid_path(prefix: str) -> str:
    return f"{SRV6}/local-sids/sid[prefix={prefix}]"
