"""Configurations as far as a user may read them, by sysrepo's NACM (RFC 8341)."""

from __future__ import annotations

import json
from threading import Lock

from srv6mgrd.datastore.connection import Connection, translated_errors
from srv6mgrd.datastore.nacm import Nacm
from srv6mgrd.datastore.running import read
from srv6mgrd.datastore.user_groups import UserGroups

# RFC 8341 section 2.4: a recovery session is under no rules; sysrepo gives it to this user.
RECOVERY = "root"


class Readable:
    """May be used by several threads; everything blocks."""

    def __init__(self, connection: Connection, groups: UserGroups) -> None:
        self._connection = connection
        self._groups = groups
        self._lock = Lock()
        self._nacm: Nacm | None = None

    def part_of(self, configuration: str, user: str) -> str:
        """The part of a configuration (RFC 7951 JSON) that ``user`` may read; all of it for a
        caller without a name, which is a process of root's. Raises DatastoreError."""
        if user in ("", RECOVERY) or json.loads(configuration) == {}:
            return configuration
        self._groups.of(user)
        with self._lock:
            return self._part_of(configuration, user)

    def _part_of(self, configuration: str, user: str) -> str:
        if self._nacm is None:
            self._nacm = Nacm()
        with self._connection.session_of("srv6mgrd") as session, translated_errors(session):
            with session.get_ly_ctx() as context:
                tree = context.parse_data_mem(
                    configuration, "json", parse_only=True, strict=True, no_state=True
                )
                try:
                    # Never applied: sysrepo reads through a session's pending edit.
                    session.edit_batch_ly(tree, "replace")
                finally:
                    tree.free_internal(with_siblings=True)
            try:
                with self._nacm.acting(session, user):
                    return read(session)
            finally:
                session.discard_changes()

    def close(self) -> None:
        if self._nacm is not None:
            self._nacm.close()
