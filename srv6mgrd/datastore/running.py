"""The running configuration of our modules, read and replaced as a whole. Everything blocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from srv6mgrd.datastore import ffi
from srv6mgrd.datastore.connection import (
    Connection,
    check_room,
    check_startup,
    translated_errors,
)
from srv6mgrd.datastore.reserve import IN_RESERVE, Reserve
from srv6mgrd.datastore.transaction import TIMEOUT_MS, Edit, Op, commit

if TYPE_CHECKING:
    from srv6mgrd.datastore.history import Origin

# The one module with top-level data; the others augment it (docs/adr/0002).
MODULE = "srv6mgr-srv6"
TREE = f"/{MODULE}:srv6"


class Running:
    """Its own connection; used by one thread at a time, never by the one that answers commits."""

    def __init__(self) -> None:
        self._connection = Connection(originator="srv6mgrd")
        self._session = self._connection.session()
        self._startup = self._connection.session("startup")
        self._reserve = Reserve(IN_RESERVE)

    def read(self) -> str:
        """As RFC 7951 JSON."""
        return read(self._session)

    def replace(self, tree: str, origin: Origin) -> None:
        """Make ``tree`` (RFC 7951 JSON) the running configuration, through all who take part.

        Raises RejectedError or DatastoreError; nothing has changed then."""
        edit = Edit(Op.DELETE, TREE) if tree == "{}" else Edit(Op.REPLACE, TREE, tree.encode())
        with self._reserve.set_free():
            check_room(len(tree))
            opened = self._connection.session_of(origin.northbound, origin.user, origin.token)
            with opened as session:
                commit(session, (MODULE,), [edit])

    def convert(self, convert: Callable[[str], str]) -> bool:
        """Replace the running and the startup configuration by what ``convert`` makes of each;
        whether any differed. Raises DatastoreError. For a time when nobody subscribes to them."""
        changed = False
        for session in (self._session, self._startup):
            before = read(session)
            if before != "{}" and (made := convert(before)) != before:
                check_startup(len(made))
                commit(session, (MODULE,), [Edit(Op.REPLACE, TREE, made.encode())])
                changed = True
        return changed

    def is_saved(self) -> bool:
        """Whether the next start begins with the running configuration. Raises DatastoreError."""
        with translated_errors(self._startup), self._connection.session_of("srv6mgrd") as running:
            return read(self._startup) == read(running)

    def save(self) -> None:
        """Make the running configuration the one that the next start begins with.

        Raises DatastoreError."""
        with self._reserve.set_free(), translated_errors(self._startup):
            check_startup(_stored_size())
            self._startup.copy_config("running", MODULE, TIMEOUT_MS)

    def close(self) -> None:
        self._reserve.close()
        self._connection.close()


def _stored_size() -> int:
    """Bytes of the running configuration as sysrepo stores it (srpjson_get_path)."""
    _, folder, prefix = ffi.places()
    with suppress(FileNotFoundError):
        return (folder / f"{prefix}_{MODULE}.running").stat().st_size
    return 0


def read(session: ffi.Session, path: str = TREE) -> str:
    """Running configuration as JSON text, or what of it an XPath selects; the session of an event
    sees the new one."""
    import sysrepo

    try:
        with session.get_data_ly(path) as tree:
            text: str = tree.print_mem("json", with_siblings=True, pretty=False)
            return text
    except sysrepo.SysrepoNotFoundError:
        return "{}"


def content(session: ffi.Session, modules: Sequence[str]) -> str:
    """Configuration of modules as one JSON document."""
    import sysrepo

    whole: dict[str, object] = {}
    for module in modules:
        with suppress(sysrepo.SysrepoNotFoundError), session.get_data_ly(f"/{module}:*") as tree:
            whole |= json.loads(tree.print_mem("json", with_siblings=True, pretty=False))
    return json.dumps(whole)
