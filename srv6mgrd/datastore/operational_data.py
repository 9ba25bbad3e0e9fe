"""Answers to readers of sysrepo's operational datastore, as JSON text.

The binding takes Python objects only, which are slow to make and to convert.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from srv6mgrd.datastore import shared_memory
from srv6mgrd.datastore.ffi import Session, Subscriptions, check, library, pointer

if TYPE_CHECKING:
    from srv6mgrd.datastore.events import InOwnThread

_LOG = logging.getLogger(__name__)


class OperationalData:
    """Subscriptions to readers' questions, from ``subscribe`` to ``close``."""

    def __init__(
        self, session: Session, answer: Callable[[str, str], str | None], *, strict: bool = True
    ) -> None:
        """``answer`` gives, for the path of a subscription and the xpath that a reader asked for,
        a document from the root down; it is called in a thread of its own, one question at a time.
        Unless ``strict``, what the schema does not know is left out of it."""
        self._questions = Subscriptions(session)
        self._thread: InOwnThread | None = None

        @library()[0].callback("sr_oper_get_items_cb")
        def called(
            event: Any, _sub: Any, _module: Any, path: Any, asked: Any, _id: Any, to: Any, _p: Any
        ) -> int:
            import _sysrepo

            try:
                document = answer(_text(path), _text(asked) if asked else "")
                # sysrepo writes it into shared memory.
                if document is not None and (problem := shared_memory.lacks(len(document))):
                    _LOG.error("operational data of %s: %s", _text(path), problem)
                    return int(_sysrepo.lib.SR_ERR_CALLBACK_FAILED)
                if document is not None:
                    _attach(event, to, document, strict=strict)
            except Exception:
                # No exception may pass into C.
                _LOG.exception("operational data of %s", _text(path))
                return int(_sysrepo.lib.SR_ERR_CALLBACK_FAILED)
            return 0

        self._called = called

    def subscribe(self, module: str, *paths: str) -> None:
        """Answer for each of the paths, beside the configuration that is there. Once. Raises
        OSError without a file descriptor left."""
        import _sysrepo

        from srv6mgrd.datastore.events import InOwnThread

        ffi, lib = library()
        session = self._questions.session
        self._thread = InOwnThread("operational")
        for path in paths:
            code = lib.sr_oper_get_subscribe(
                pointer(session.cdata),
                module.encode(),
                path.encode(),
                self._called,
                ffi.NULL,
                _sysrepo.lib.SR_SUBSCR_OPER_MERGE | _sysrepo.lib.SR_SUBSCR_NO_THREAD,
                self._questions.held,
            )
            check(session, "sr_oper_get_subscribe", code)
        self._thread.follow(self._questions)

    def close(self) -> None:
        """Blocks until the question that is being answered is."""
        if self._thread is not None:
            self._thread.close()
        self._questions.close()


def _text(raw: Any) -> str:
    text = library()[0].string(raw)
    return text.decode() if isinstance(text, bytes) else text


def _attach(event: Any, to: Any, document: str, *, strict: bool) -> None:
    """Hand a document to the reader of an event: a tree, or a part of the one at ``to``."""
    import _libyang
    import _sysrepo
    import libyang
    from sysrepo.session import SysrepoSession

    ffi = library()[0]
    address = int(ffi.cast("uintptr_t", event))
    session = SysrepoSession(_sysrepo.ffi.cast("sr_session_ctx_t *", address), True)
    with session.get_ly_ctx() as context:
        tree = context.parse_data_mem(document, "json", parse_only=True, strict=strict)
        if tree is None:
            return
        if to[0] == ffi.NULL:
            to[0] = ffi.cast("void *", int(_libyang.ffi.cast("uintptr_t", tree.cdata)))
            return
        parent = _libyang.ffi.cast("struct lyd_node *", int(ffi.cast("uintptr_t", to[0])))
        libyang.DNode.new(context, parent).root().merge(tree, destruct=True)
