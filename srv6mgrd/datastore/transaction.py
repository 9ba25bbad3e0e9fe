"""Edits of the running configuration in one sysrepo transaction: all of them or none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from enum import Enum
from typing import Any

from srv6mgrd.datastore import bad_key, ffi
from srv6mgrd.datastore.connection import DeniedError, translated_errors
from srv6mgrd.datastore.rejections import Complaint, explain
from srv6mgrd.model.rejection import RejectedError, Rejection

# How long subscribers may take to carry a change out. The writer is srv6mgrd itself, which is the
# main subscriber, too (docs/adr/0024): a client's own deadline is judged where it waits.
TIMEOUT_MS = 600_000
_LOCK_TIMEOUT_MS = 10_000


# libyang's own words for it (LY_VCODE_DUP).
_TWICE = 'Duplicate instance of "list".'


class Op(Enum):
    """What an edit does with its target (gnmi-specification.md 3.4.4 words them well)."""

    DELETE = "delete"
    REPLACE = "replace"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class Edit:
    """One operation. ``target`` is a data path, "" the root; only a DELETE may name several
    instances. ``document`` is RFC 7951 JSON from the root down to the target and its new value.
    """

    op: Op
    target: str
    document: bytes = b""


class Tree:
    """A libyang tree that may be empty, with all its top-level siblings. Owned by one thread."""

    def __init__(self, context: Any, node: Any = None) -> None:
        self._context = context
        self.node = node

    def find(self, path: str) -> list[Any]:
        return [] if self.node is None else list(self.node.find_all(path))

    def value(self, path: str) -> str | None:
        """Canonical value of a leaf; None when it isn't there."""
        node = None if self.node is None else self.node.find_path(path)
        return None if node is None else str(node.value())

    def parse(self, document: bytes, target: str) -> Any:
        """A tree of ``document``, types checked; it holds nothing beside ``target``."""
        node = self._context.parse_data_mem(
            document, "json", parse_only=True, strict=True, no_state=True
        )
        if node is not None:
            try:
                _check_alone(node, target)
                if (path := ffi.duplicate(node)) is not None:
                    raise RejectedError(explain([Complaint(_TWICE, path)]))
            except BaseException:
                node.free_internal(with_siblings=True)
                raise
        return node

    def merge(self, document: bytes, target: str) -> None:
        node = self.parse(document, target)
        if node is None:
            return
        if self.node is None:
            self.node = node
        else:
            self.node.merge(node, with_siblings=True, destruct=True)

    def remove(self, target: str) -> None:
        """Remove every instance of ``target``; "" removes all."""
        if self.node is None:
            return
        if not target:
            self.free()
            return
        for node in self.find(target):
            if node.cdata == self.node.cdata or node.parent() is None:
                rest = [n for n in self.node.siblings() if n.cdata != node.cdata]
                self.node = rest[0] if rest else None
            node.unlink()
            node.free_internal(with_siblings=False)

    def complete(self) -> None:
        """Add the defaults of what is there."""
        for node in [] if self.node is None else self.node.siblings():
            node.add_defaults(only_node=True, no_state=True)

    def roots(self) -> list[str]:
        """Paths of the top-level nodes."""
        return [] if self.node is None else [n.path() for n in self.node.siblings()]

    def clear(self, path: str) -> None:
        """Add the top-level node ``path``, to be removed by an edit that holds this tree."""
        node = self._context.create_data_path(path)
        node.new_meta("ietf-netconf:operation", "remove")
        if self.node is None:
            self.node = node
        else:
            self.node.merge(node, with_siblings=True, destruct=True)

    def free(self) -> None:
        if self.node is not None:
            self.node.free_internal(with_siblings=True)
            self.node = None


def _steps(target: str) -> list[str]:
    return re.findall(r"/((?:[^/\['\"]|\[[^=\]]+=(?:'[^']*'|\"[^\"]*\")\])+)", target)


def _check_alone(node: Any, target: str) -> None:
    """Reject a value that reaches outside its path; it was put into the document as text."""
    level = node
    steps = _steps(target)
    for n, _ in enumerate(steps, 1):
        siblings = [] if level is None else [s for s in _siblings(level) if not _is_key(s)]
        entries = n == len(steps) and len({s.schema for s in siblings}) == 1
        if len(siblings) > 1 and not entries:
            raise RejectedError(
                [Rejection("value", "it is no single JSON value", "send one value", "value-syntax")]
            )
        if not siblings:
            return
        level = _first_child(siblings[0])


def _siblings(node: Any) -> Iterator[Any]:
    import _libyang

    cdata = _libyang.lib.lyd_first_sibling(getattr(node, "cdata", node))
    while cdata:
        yield cdata
        cdata = cdata.next


def _first_child(cdata: Any) -> Any:
    import _libyang

    child = _libyang.lib.lyd_child(cdata)
    return child or None


def _is_key(cdata: Any) -> bool:
    import _libyang

    return bool(cdata.schema and cdata.schema.flags & _libyang.lib.LYS_KEY)


def _copy(session: ffi.Session, modules: Sequence[str], stack: ExitStack) -> Tree:
    """Running configuration of ``modules`` as a tree of our own."""
    import sysrepo

    tree: Tree | None = None
    context = stack.enter_context(session.get_ly_ctx())
    for module in modules:
        try:
            with session.get_data_ly(f"/{module}:*") as data:
                copy = data.duplicate(with_siblings=True, recursive=True, with_flags=True)
        except sysrepo.SysrepoNotFoundError:
            continue
        if tree is None:
            tree = Tree(context, copy)
        else:
            tree.node.merge(copy, with_siblings=True, destruct=True)
    return tree or Tree(context)


@contextmanager
def _locked(session: ffi.Session, modules: Sequence[str]) -> Iterator[None]:
    with ExitStack() as stack:
        for module in modules:
            session.lock(module, _LOCK_TIMEOUT_MS)
            stack.callback(session.unlock, module)
        yield


# Entered for the write alone: what is read to make the change must be whole.
Acting = Callable[[], AbstractContextManager[None]]


def commit(
    session: ffi.Session,
    modules: Sequence[str],
    edits: Sequence[Edit],
    acting: Acting = nullcontext,
    *,
    bare: bool = False,
) -> None:
    """Apply ``edits`` in their order to the running configuration of ``modules``.

    Blocks until every subscriber has carried the change out. ``acting`` puts the session under
    the access rules of who asks. ``bare`` says that as good as nothing is configured: no matter
    if that is wrong, it only is slower then. Raises RejectedError or a DatastoreError; nothing has
    changed then.
    """
    if not edits:
        return
    try:
        merging = all(e.op is Op.UPDATE for e in edits)
        if merging and not bare:
            _merge(session, modules, edits, acting)
            return
        try:
            _replace(session, modules, edits, acting, defaults=True)
        except DeniedError:
            # Who may not write a leaf may leave it at its default.
            again = _merge if merging else _replace
            again(session, modules, edits, acting)
    finally:
        session.discard_changes()


def preview(session: ffi.Session, modules: Sequence[str], edits: Sequence[Edit]) -> str:
    """The running configuration of ``modules`` as it would be after ``edits``, as RFC 7951 JSON.

    Types are checked, constraints are not. Raises RejectedError or a DatastoreError.
    """
    rejected = _Rejected(session, modules, edits)
    try:
        with translated_errors(session, rejected.value, held=rejected.held):
            node = rejected.tree().node
            text = "{}" if node is None else node.print_mem("json", with_siblings=True)
            return str(text)
    finally:
        rejected.free()


def _merge(
    session: ffi.Session, modules: Sequence[str], edits: Sequence[Edit], acting: Acting
) -> None:
    """Updates alone are one merge; sysrepo reads and locks what it needs by itself."""
    with ExitStack() as stack:
        tree = Tree(stack.enter_context(session.get_ly_ctx()))
        stack.callback(tree.free)
        rejected = _Rejected(session, modules, edits)
        stack.callback(rejected.free)
        with translated_errors(session, rejected.value, held=rejected.held):
            for edit in edits:
                tree.merge(edit.document, edit.target)
            if tree.node is None:
                return
            session.edit_batch_ly(tree.node, "merge")
            with acting():
                session.apply_changes(timeout_ms=TIMEOUT_MS)


def _replace(
    session: ffi.Session,
    modules: Sequence[str],
    edits: Sequence[Edit],
    acting: Acting,
    *,
    defaults: bool = False,
) -> None:
    """The configuration after all edits replaces the one before, under lock.

    With its ``defaults`` in it they don't become part of the difference one by one
    (lyd_val_diff_add); together with what a merge has to seek, sysrepo and libyang then take 0.6 of
    a merge's time for many entries where none were. The right to write defaults is asked for then.
    """
    with ExitStack() as stack:
        rejected = _Rejected(session, modules, edits)
        with translated_errors(session, rejected.value, held=rejected.held):
            stack.enter_context(_locked(session, modules))
        stack.callback(rejected.free)
        with translated_errors(session, rejected.value, held=rejected.held):
            tree = rejected.tree()
            if len(modules) == 1:
                # Spends its tree; what is left for the words of a rejection is built again.
                if defaults:
                    tree.complete()
                node, tree.node = tree.node, None
                rejected.forget()
                with acting():
                    session.replace_config_ly(node, modules[0], TIMEOUT_MS)
                return
            for path in set(rejected.old().roots()) - set(tree.roots()):
                tree.clear(path)
            session.edit_batch_ly(tree.node, "replace")
            with acting():
                session.apply_changes(timeout_ms=TIMEOUT_MS)


class _Rejected:
    """Reads the tree that was rejected, and the one that holds, for the words of a rejection.

    They are built when first asked for: a merge that succeeds needs neither.
    """

    def __init__(self, session: ffi.Session, modules: Sequence[str], edits: Sequence[Edit]) -> None:
        self._session, self._modules, self._edits = session, modules, edits
        self._stack = ExitStack()
        self._old: Tree | None = None
        self._new: Tree | None = None

    def free(self) -> None:
        for tree in (self._old, self._new):
            if tree is not None:
                tree.free()
        self._stack.close()

    def forget(self) -> None:
        """The tree after the edits is spent."""
        self._new = None

    def old(self) -> Tree:
        if self._old is None:
            self._old = _copy(self._session, self._modules, self._stack)
        return self._old

    def tree(self) -> Tree:
        """The tree after the edits."""
        if self._new is None:
            self._new = _copy(self._session, self._modules, self._stack)
            for edit in self._edits:
                if edit.op is not Op.UPDATE:
                    self._new.remove(edit.target)
                if edit.op is not Op.DELETE:
                    self._new.merge(edit.document, edit.target)
        return self._new

    def value(self, path: str) -> str | None:
        """Value of a leaf of the tree; of a key that no entry could be made with, that key."""
        if bad_key.is_without_entry(path):
            with self._session.get_ly_ctx() as context:
                found = (bad_key.find(context, e.document, path) for e in self._edits)
                return next((key for key in found if key is not None), None)
        return self.tree().value(path)

    def held(self, path: str) -> str | None:
        return self.old().value(path)
