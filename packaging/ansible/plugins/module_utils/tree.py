"""Configurations as RFC 7951 JSON: their plain form, and merging. Pure."""

from __future__ import annotations

from ansible_collections.srv6mgr.router.plugins.module_utils.schema import DEFAULTS, KEYS, SECRETS

MODULE = "srv6mgr-srv6"


def plain(tree, path="srv6", module=MODULE, *, defaults=False):
    """The same without what makes no difference: names of the module that a node is in already,
    leaves with their defaults, containers with nothing in them, and the order of lists. With
    ``defaults`` those leaves stay."""
    if isinstance(tree, list):
        entries = [plain(entry, path, module, defaults=defaults) for entry in tree]
        key = KEYS.get(path.rpartition("/")[2])
        keyed = key and all(isinstance(entry, dict) for entry in entries)
        return sorted(entries, key=lambda entry: str(entry.get(key))) if keyed else entries
    if not isinstance(tree, dict):
        return tree
    found = {}
    for name in sorted(tree, key=lambda name: name.rpartition(":")[2]):
        own, _, local = name.rpartition(":")
        below = f"{path}/{local}"
        value = plain(tree[name], below, own or module, defaults=defaults)
        if value in ({}, []) or (not defaults and DEFAULTS.get(below) == _text(value)):
            continue
        found[local if own in ("", module) else name] = value
    return found


def updated(held, given):
    """``held``, which is plain, after an update with ``given``. A leaf that is given its default
    has it afterwards, whatever it had."""
    return plain(merged(held, plain(given, defaults=True)))


def merged(held, given, name=""):
    """``held`` with ``given`` merged in, as a gNMI update merges it: list entries by their key,
    leaf-lists by their values. Both are plain."""
    if isinstance(held, dict) and isinstance(given, dict):
        found = dict(held)
        for child, value in given.items():
            found[child] = merged(found[child], value, child) if child in found else value
        return found
    if isinstance(held, list) and isinstance(given, list):
        key = KEYS.get(name.rpartition(":")[2])
        if key is None:
            return held + [value for value in given if value not in held]
        entries = {str(entry.get(key)): entry for entry in held}
        for entry in given:
            mine = str(entry.get(key))
            entries[mine] = merged(entries[mine], entry) if mine in entries else entry
        return [entries[mine] for mine in sorted(entries)]
    return given


def masked(tree):
    """The same, with passwords and keys hidden."""
    if isinstance(tree, list):
        return [masked(entry) for entry in tree]
    if not isinstance(tree, dict):
        return tree
    return {
        name: "********" if name.rpartition(":")[2] in SECRETS else masked(value)
        for name, value in tree.items()
    }


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)
