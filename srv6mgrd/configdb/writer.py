"""Changes to edits of the running configuration. Everything blocks.

One transaction for all; where that is rejected, the rows that the rejection names are left out
with the reason as their result, and the others go on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.locks import Caller
from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.objects import Kind, Leaves
from srv6mgrd.configdb.rejected import Reason
from srv6mgrd.datastore.connection import Connection, DatastoreError, translated_errors
from srv6mgrd.datastore.running import MODULE, TREE, read
from srv6mgrd.datastore.transaction import Edit, Op
from srv6mgrd.model.rejection import NOT_CARRIED_OUT, RejectedError

_NORTHBOUND = "srv6-configdbd"
# Members of containers that are always there.
_MEMBERS = {Kind.ENCAPSULATION: ("source-address",), Kind.ACCOUNTING: ("enabled",)}
# So many commits look for the culprits of rejections that name none of the rows.
_SEARCHES = 100


class Commit(Protocol):
    """One transaction. Raises RejectedError with nothing changed, or DatastoreError."""

    def __call__(self, changes: Sequence[Change]) -> None: ...


class Writer:
    """Used by one thread at a time."""

    def __init__(self, connection: Connection, commits: CommitClient, user: str = "") -> None:
        """``user``: the access rules (RFC 8341) for that user hold; empty: none do."""
        self._caller = Caller(_NORTHBOUND, user, is_restricted=bool(user))
        self._commits = commits
        self._is_stopping = False
        self._session = connection.session()

    def running(self) -> Any:
        """The running configuration, as RFC 7951 has it."""
        with translated_errors(self._session):
            return json.loads(read(self._session))

    def write(self, changes: Sequence[Change]) -> dict[str, Reason]:
        """Rows whose change was rejected, with the reason. Raises DatastoreError when none could be
        judged."""
        return split(changes, self._commit_unless_stopping)

    def stop(self) -> None:
        """Any thread: no further commit is begun."""
        self._is_stopping = True

    def _commit_unless_stopping(self, changes: Sequence[Change]) -> None:
        if self._is_stopping:
            raise DatastoreError("srv6-configdbd: it is stopping; start it again")
        self._commit(changes)

    def _commit(self, changes: Sequence[Change]) -> None:
        self._commits.edit(self._caller, (MODULE,), edits(changes))


def split(changes: Sequence[Change], commit: Commit) -> dict[str, Reason]:
    """Carry out what can be; the rows of the others with the reason."""
    rejected: dict[str, Reason] = {}
    todo = [list(changes)] if changes else []
    searches = 0
    while todo:
        group = todo.pop()
        try:
            commit(group)
        except RejectedError as error:
            if blamed := _blamed(group, error):
                rejected |= blamed
                todo += [rest] if (rest := [c for c in group if c.row not in blamed]) else []
            elif len(group) == 1:
                rejected[group[0].row] = Reason(str(error), _is_final(error))
            elif searches >= _SEARCHES:
                rejected |= {c.row: Reason(str(error), is_final=False) for c in group}
            else:
                searches += 1
                # Dependencies go first.
                half = len(group) // 2
                todo += [group[half:], group[:half]]
    return rejected


def _blamed(changes: Sequence[Change], error: RejectedError) -> dict[str, Reason]:
    by_name = {str(c.object): c.row for c in changes}
    out: dict[str, list[str]] = {}
    for rejection in error.rejections:
        row = by_name.get(rejection.object)
        if row is not None:
            out.setdefault(row, []).append(str(rejection))
    return {row: Reason("\n".join(texts), _is_final(error)) for row, texts in out.items()}


def _is_final(error: RejectedError) -> bool:
    return NOT_CARRIED_OUT.isdisjoint(r.tag for r in error.rejections)


def edits(changes: Sequence[Change]) -> list[Edit]:
    """Removals, then all that is declared, as one value for each list."""
    out = []
    entries: dict[tuple[str, str], list[dict[str, Any]]] = {}
    containers: dict[str, Leaves] = {}
    for change in changes:
        container, name, key = change.object.kind.path
        is_container = change.object.kind.is_container
        target = f"{TREE}/{container}"
        if not is_container:
            target += f"/{name}[{key}='{change.object.name}']"
        gone = change.gone
        if change.leaves is None and change.object.kind in _MEMBERS:
            gone = _MEMBERS[change.object.kind]
        elif change.leaves is None:
            out.append(Edit(Op.DELETE, target))
        out += [Edit(Op.DELETE, f"{target}/{leaf}") for leaf in gone]
        if change.leaves is None:
            continue
        if is_container:
            containers[container] = change.leaves
            continue
        entry = {key: change.object.name, **change.leaves}
        entries.setdefault((container, name), []).append(entry)
    for container, leaves in containers.items():
        document = {f"{MODULE}:srv6": {container: leaves}}
        out.append(Edit(Op.UPDATE, f"{TREE}/{container}", json.dumps(document).encode()))
    for (container, name), listed in entries.items():
        document = {f"{MODULE}:srv6": {container: {name: listed}}}
        out.append(Edit(Op.UPDATE, f"{TREE}/{container}/{name}", json.dumps(document).encode()))
    return out
