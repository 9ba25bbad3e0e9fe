"""A change of the configuration that adds, changes and removes local SIDs and nothing else: one SID
among 100,000 is described by a few lines, without reading the others. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from srv6mgrd.model import parse
from srv6mgrd.model.desired import Desired, Sid
from srv6mgrd.model.prefix import Prefix

_TOP, _SIDS, _SID, _KEY = parse.SRV6, "local-sids", "sid", "prefix"
# RFC 7952 section 5.2.1: metadata of the node itself, and before the name of a member.
_OF_NODE, _AT = "@", "@"
_IMPLICIT = ("counters", True)
_OPERATION = "yang:operation"
_DEFAULT = "ietf-netconf-with-defaults:default"

Members = Mapping[str, Any]


class SidChange(NamedTuple):
    """What becomes of the SID of a prefix: ``whole`` is its new entry, else ``leaves`` has the
    new values of its leaves, None of those that go. A SID without either goes."""

    prefix: str
    whole: Members | None = None
    leaves: Members | None = None


def sid_changes(diff: Members) -> list[SidChange] | None:
    """Of a diff as sysrepo gives it, defaults tagged (RFC 6243); None when it changes more than
    SIDs, or of a SID more than leaves."""
    if not diff.keys() <= {_TOP}:
        return None
    sids = _only(diff.get(_TOP), _SIDS, "none")
    listed = sids and _only(sids[0], _SID, sids[1])
    if not listed:
        return None
    found = [_change(entry, listed[1]) for entry in listed[0]]
    changes = [change for change in found if change is not None]
    return changes if len(changes) == len(found) else None


def _only(node: Any, member: str, above: str) -> tuple[Any, str] | None:
    """A member of a container in which nothing else changes, and the operation in force."""
    if not isinstance(node, dict) or not node.keys() <= {_OF_NODE, member}:
        return None
    operation = _operation(node.get(_OF_NODE), above)
    return (node[member], operation) if operation in {"none", "create"} and member in node else None


def _change(entry: Members, above: str) -> SidChange | None:
    prefix = entry[_KEY]
    match _operation(entry.get(_OF_NODE), above):
        case "create":
            return SidChange(prefix, whole=_explicit(entry))
        case "delete":
            return SidChange(prefix)
        case "none":
            return _leaves(prefix, entry)
        case _:
            return None


def _leaves(prefix: str, entry: Members) -> SidChange | None:
    leaves: dict[str, Any] = {}
    for name, value in entry.items():
        if name.startswith(_AT) or name == _KEY:
            continue
        if isinstance(value, dict | list):
            return None
        meta = entry.get(f"{_AT}{name}")
        match _operation(meta, "none"):
            # None: that a default is explicit now, or is no longer.
            case "create" | "replace" | "none":
                leaves[name] = None if _is_default(meta) else value
            case "delete":
                leaves[name] = None
            case _:
                return None
    return SidChange(prefix, leaves=leaves)


def _operation(meta: Any, otherwise: str) -> str:
    return str(meta.get(_OPERATION, otherwise)) if isinstance(meta, dict) else otherwise


def _is_default(meta: Any) -> bool:
    return isinstance(meta, dict) and bool(meta.get(_DEFAULT))


def _explicit(node: Members) -> dict[str, Any]:
    """An entry without metadata, and without what is but a default."""
    return {
        name: _explicit(value) if isinstance(value, dict) else value
        for name, value in node.items()
        if not name.startswith(_AT) and not _is_default(node.get(f"{_AT}{name}"))
    }


def declared_with(known: Desired, changes: Sequence[SidChange]) -> Desired | None:
    """What ``parse`` makes of the configuration of ``known`` with these changes; None when that
    does not follow from them."""
    if known.malformed:
        return None
    sids = dict(known.sids)
    for change in changes:
        prefix = Prefix.parse(change.prefix)
        before = sids.pop(prefix, None)
        # A change of another configuration than this one.
        if (before is None) is not (change.whole is not None):
            return None
        after = _after(before, change)
        if after is None:
            return None
        if after and (made := parse.sid(after)) is not None:
            sids[prefix] = made
        elif after:
            return None
    return replace(known, sids=sids)


def _after(before: Sid | None, change: SidChange) -> Members | None:
    """The entry of a SID after its change, empty when it goes; None: not certain."""
    if change.leaves is None or before is None:
        return change.whole or {}
    entry = parse.entry(before)
    return None if entry is None else _changed(entry, change.leaves)


def _changed(entry: Members, leaves: Members) -> dict[str, Any]:
    return {name: value for name, value in {**entry, **leaves}.items() if value is not None}


def tree_with(tree: dict[str, Any], changes: Iterable[SidChange]) -> None:
    """Make these changes in a configuration (RFC 7951). Raises KeyError for a SID that is not in
    it."""
    sids = tree.setdefault(_TOP, {}).setdefault(_SIDS, {})
    entries: dict[str, Members] = {entry[_KEY]: entry for entry in sids.get(_SID, ())}
    for change in changes:
        before = entries.pop(change.prefix, None)
        if change.whole is not None:
            entries[change.prefix] = change.whole
        elif before is None:
            raise KeyError(change.prefix)
        elif change.leaves is not None:
            entries[change.prefix] = _changed(before, change.leaves)
    if entries:
        sids[_SID] = [*entries.values()]
        return
    del tree[_TOP][_SIDS]
    if not tree[_TOP]:
        del tree[_TOP]


def is_same(one: Members, other: Members) -> bool:
    """Whether two configurations are the same but for what says nothing: the order of SIDs, and a
    default of theirs that is explicit, which sysrepo's diffs leave out."""
    return _sorted(one) == _sorted(other)


def _sorted(tree: Members) -> Members:
    sids = tree.get(_TOP, {}).get(_SIDS, {}).get(_SID)
    if not sids:
        return tree
    by_prefix = {e[_KEY]: {n: v for n, v in e.items() if (n, v) != _IMPLICIT} for e in sids}
    return {**tree, _TOP: {**tree[_TOP], _SIDS: by_prefix}}
