"""Configuration that an older revision of our modules wrote, as the present one reads it. Pure.

docs/migration.md has the rule and a worked example. Nothing here knows sysrepo: a tree is RFC 7951
JSON as ``json.loads`` gives it.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from srv6mgrd.model.rejection import RejectedError, Rejection

Tree = dict[str, Any]

FIRST = "2026-11-20"
CURRENT = "2026-11-23"
_TOP = "srv6mgr-srv6:srv6"
_SET = "ietf-yang-instance-data:instance-data-set"


@dataclass(frozen=True, slots=True)
class Step:
    """Turns a tree into what ``revision`` of ``module`` reads; it may change the tree in place."""

    module: str
    revision: str
    apply: Callable[[Tree], None]


def unwrap(saved: Mapping[str, Any]) -> tuple[Tree, dict[str, str]]:
    """The tree of a saved configuration, and the revisions of the modules that wrote it.

    An instance data set (RFC 9195) names them; a bare configuration is of the first revision.
    """
    if _SET not in saved:
        return dict(saved), {}
    given = saved[_SET]
    named = given.get("content-schema", {}).get("module", [])
    pairs = (name.partition("@") for name in named)
    return dict(given.get("content-data", {})), {
        n: revision for n, _, revision in pairs if revision
    }


def migrate(
    saved: Mapping[str, Any], steps: Sequence[Step] | None = None, current: str = CURRENT
) -> Tree:
    """A saved configuration as the present modules read it; ``saved`` is left as it is.

    Raises RejectedError when it is newer than the modules, or a step can't decide.
    """
    tree, revisions = unwrap(saved)
    for module, revision in revisions.items():
        if module.startswith("srv6mgr-") and revision > current:
            raise RejectedError(
                [
                    Rejection(
                        f"module {module}",
                        f"the configuration was written with revision {revision},"
                        f" the product has {current}",
                        "upgrade the product, or load an older configuration",
                        "revision-unknown",
                    )
                ]
            )
    tree = copy.deepcopy(tree)
    for step in sorted(STEPS if steps is None else steps, key=lambda s: s.revision):
        if revisions.get(step.module, FIRST) < step.revision <= current:
            step.apply(tree)
    return tree


def entries(tree: Tree, path: str) -> Iterator[Tree]:
    """Every container or list entry at a path below ``srv6``, such as ``vrfs/vrf``."""
    found = [tree[_TOP]] if _TOP in tree else []
    for name in path.split("/"):
        below = (at[name] for at in found if name in at)
        found = [e for b in below for e in (b if isinstance(b, list) else [b])]
    yield from found


def moved(path: str, leaf: str, to: str) -> Callable[[Tree], None]:
    """A step that moves ``leaf`` of every entry at ``path`` to ``to``, a path below the entry."""

    def apply(tree: Tree) -> None:
        *parents, name = to.split("/")
        for entry in entries(tree, path):
            if leaf not in entry:
                continue
            value, at = entry.pop(leaf), entry
            for parent in parents:
                at = at.setdefault(parent, {})
            at[name] = value

    return apply


def opened(tree: Tree) -> None:
    """Interfaces without a role were core before there was a default role."""
    if _TOP in tree:
        tree[_TOP].setdefault("boundary", {}).setdefault("default-role", "core")


# In the order of revisions. From 2026-11-20 to 2026-11-21 leaves were only added.
STEPS: tuple[Step, ...] = (Step("srv6mgr-srv6", "2026-11-23", opened),)


def main(arguments: Sequence[str]) -> int:
    """Migrate a file; what results goes to standard output."""
    if len(arguments) != 1:
        print("usage: python -m srv6mgrd.datastore.migration SAVED.json", file=sys.stderr)
        return 2
    try:
        saved = json.loads(Path(arguments[0]).read_text())
        if not isinstance(saved, dict):
            raise ValueError("it is no JSON object")
        tree = migrate(saved)
    except (OSError, ValueError, RejectedError) as problem:
        print(f"{arguments[0]}: {problem}", file=sys.stderr)
        return 1
    json.dump(tree, sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
