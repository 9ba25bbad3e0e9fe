"""What libsysrepo and libyang offer and their Python bindings leave out, reached by dlopen.

The bindings compile their own cffi modules, whose types can't be mixed with these: pointers cross
as integers. Errors are raised as the sysrepo binding's own exceptions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, ClassVar

import cffi

from srv6mgrd.datastore import shared_memory

_LOG = logging.getLogger(__name__)

_SYSREPO = "libsysrepo.so.7"
_LIBYANG = "libyang.so.3"

_DECLARATIONS = """
const void *sr_get_change_diff(void *session);
int sr_nacm_init(void *session, uint32_t opts, void **subscription);
void sr_nacm_destroy(void);
int sr_nacm_set_user(void *session, const char *user);
int sr_unsubscribe(void *subscription);
int sr_session_push_orig_data(void *session, uint32_t size, const void *data);
int sr_session_get_orig_data(void *session, uint32_t idx, uint32_t *size, const void **data);
int sr_session_set_orig_name(void *session, const char *name);
typedef int (*sr_oper_get_items_cb)(void *session, uint32_t sub_id, const char *module_name,
                                    const char *path, const char *request_xpath,
                                    uint32_t request_id, void **parent, void *private_data);
int sr_oper_get_subscribe(void *session, const char *module_name, const char *path,
                          sr_oper_get_items_cb callback, void *private_data, uint32_t opts,
                          void **subscription);
"""

_LIBYANG_DECLARATIONS = """
int lyd_find_sibling_first(const void *siblings, const void *target, void **match);
"""

# Of libyang's printer_data.h, not in the binding: tags defaults that nobody set.
_PRINT_WD_IMPL_TAG = 0x80

# A session of the binding (sysrepo.SysrepoSession); the binding carries no types.
Session = Any


@cache
def _library() -> tuple[cffi.FFI, Any]:
    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    return ffi, ffi.dlopen(_SYSREPO)


@cache
def _libyang() -> tuple[cffi.FFI, Any]:
    ffi = cffi.FFI()
    ffi.cdef(_LIBYANG_DECLARATIONS)
    return ffi, ffi.dlopen(_LIBYANG)


def _pointer(cdata: Any) -> Any:
    """A pointer of the binding as one of ours."""
    import _sysrepo

    return _library()[0].cast("void *", int(_sysrepo.ffi.cast("uintptr_t", cdata)))


def _check(session: Session, function: str, code: int) -> None:
    if code:
        from sysrepo.errors import SysrepoError

        raise SysrepoError.new("; ".join(errors(session)) or f"{function} failed", code)


def change_diff(session: Session, *, tagged: bool = False, most: int = -1) -> str | None:
    """The change of an event session as JSON, ``yang:operation`` in the metadata of its nodes.

    Several times faster than the binding's ``get_changes`` (one print, not an object per leaf).
    Valid only within the callback. Defaults are printed too: a leaf that falls back to its
    default would be missing otherwise; ``tagged`` if asked for
    (RFC 6243 section 3.4). Of one that is longer than ``most`` bytes these alone: to copy all of
    it would hold every thread. None when the change is empty.
    """
    import _libyang

    ffi, lib = _library()
    diff = lib.sr_get_change_diff(_pointer(session.cdata))
    if diff == ffi.NULL:
        return None
    node = _libyang.ffi.cast("struct lyd_node *", int(ffi.cast("uintptr_t", diff)))
    printed, out = _libyang.lib, _libyang.ffi.new("char **")
    options = printed.LYD_PRINT_WITHSIBLINGS | printed.LYD_PRINT_SHRINK
    options |= _PRINT_WD_IMPL_TAG if tagged else printed.LYD_PRINT_WD_ALL
    with session.get_ly_ctx() as context:
        if printed.lyd_print_mem(out, node, printed.LYD_JSON, options):
            raise context.error("a change can't be printed")
    try:
        if not out[0]:
            return None
        return str(_libyang.ffi.string(out[0], most).decode(errors="replace"))
    finally:
        printed.free(out[0])


def errors(session: Session) -> tuple[str, ...]:
    """Messages of the session's last call, one by one; the binding joins them with commas."""
    from _sysrepo import ffi, lib

    info = ffi.new("sr_error_info_t **")
    if lib.sr_session_get_error(session.cdata, info) or info[0] == ffi.NULL:
        return ()
    found = (info[0].err[i].message for i in range(info[0].err_count))
    return tuple(ffi.string(m).decode(errors="replace") for m in found if m)


class Nacm:
    """NETCONF access control (RFC 8341) for sessions of this process.

    sysrepo has it once per process: the first of these begins it on a connection of its own, the
    last one that is closed ends it.
    """

    _guard: ClassVar[Lock] = Lock()
    _users: ClassVar[int] = 0
    _held: ClassVar[tuple[Any, Session, Any]]

    def __init__(self) -> None:
        ffi, self._lib = _library()
        with Nacm._guard:
            if not Nacm._users:
                import sysrepo

                connection = sysrepo.SysrepoConnection()
                session = connection.start_session("running")
                held = ffi.new("void **")
                code = self._lib.sr_nacm_init(_pointer(session.cdata), 0, held)
                _check(session, "sr_nacm_init", code)
                Nacm._held = connection, session, held[0]
            Nacm._users += 1

    def set_user(self, session: Session, user: str | None) -> None:
        """From now on the rules for ``user`` filter reads and reject writes; None: no rules."""
        ffi = _library()[0]
        name = ffi.NULL if user is None else user.encode()
        _check(
            session, "sr_nacm_set_user", self._lib.sr_nacm_set_user(_pointer(session.cdata), name)
        )

    @contextmanager
    def acting(self, session: Session, user: str) -> Iterator[None]:
        """The rules for ``user`` within, none afterwards."""
        from sysrepo.errors import SysrepoError

        from srv6mgrd.datastore.error_info import error_infos

        self.set_user(session, user)
        try:
            yield
        except SysrepoError as error:
            # The next call takes them from the session.
            error.infos = error_infos(session)
            raise
        finally:
            self.set_user(session, None)

    def close(self) -> None:
        with Nacm._guard:
            Nacm._users -= 1
            if not Nacm._users:
                connection, session, subscription = Nacm._held
                self._lib.sr_unsubscribe(subscription)
                self._lib.sr_nacm_destroy()
                session.stop()
                connection.disconnect()


class OperationalData:
    """Answers to readers of the operational datastore, as JSON text.

    The binding takes Python objects only, which are slow to make and to convert.
    """

    def __init__(
        self, session: Session, answer: Callable[[str, str], str | None], *, strict: bool = True
    ) -> None:
        """``answer`` gives, for the path of a subscription and the xpath that a reader asked for,
        a document from the root down; it is called in a thread of sysrepo's, one at a time.
        Unless ``strict``, what the schema does not know is left out of it."""
        ffi, self._lib = _library()
        self._session = session
        self._held = ffi.new("void **")

        @ffi.callback("sr_oper_get_items_cb")
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

    def subscribe(self, module: str, path: str) -> None:
        """Answer for what is at ``path``, beside the configuration that is there."""
        import _sysrepo

        code = self._lib.sr_oper_get_subscribe(
            _pointer(self._session.cdata),
            module.encode(),
            path.encode(),
            self._called,
            _library()[0].NULL,
            _sysrepo.lib.SR_SUBSCR_OPER_MERGE,
            self._held,
        )
        _check(self._session, "sr_oper_get_subscribe", code)

    def close(self) -> None:
        if self._held[0]:
            self._lib.sr_unsubscribe(self._held[0])
            self._held[0] = _library()[0].NULL


def _text(pointer: Any) -> str:
    raw = _library()[0].string(pointer)
    return raw.decode() if isinstance(raw, bytes) else raw


def _attach(event: Any, to: Any, document: str, *, strict: bool) -> None:
    """Hand a document to the reader of an event: a tree, or a part of the one at ``to``."""
    import _libyang
    import _sysrepo
    import libyang
    from sysrepo.session import SysrepoSession

    ffi = _library()[0]
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


def set_originator(session: Session, name: str, *data: bytes) -> None:
    """Name the originator to the receivers of this session's changes.

    One originator name a session: sysrepo ties the data to it.
    """
    lib, pointer = _library()[1], _pointer(session.cdata)
    _check(
        session, "sr_session_set_orig_name", lib.sr_session_set_orig_name(pointer, name.encode())
    )
    for item in data:
        code = lib.sr_session_push_orig_data(pointer, len(item), item)
        _check(session, "sr_session_push_orig_data", code)


def originator_data(session: Session, index: int) -> bytes | None:
    """Data ``index`` that the originator of an event pushed; None when there is none."""
    ffi, lib = _library()
    size, data = ffi.new("uint32_t *"), ffi.new("const void **")
    if lib.sr_session_get_orig_data(_pointer(session.cdata), index, size, data):
        return None
    return bytes(ffi.buffer(data[0], size[0]))


def duplicate(tree: Any) -> str | None:
    """Path of a list entry that ``tree`` (a DNode with its siblings, no state) holds twice.

    libyang looks for duplicates when it validates; a merge before that hides them. One hash
    look-up for each entry: 10 ms for ten thousand.
    """
    import _libyang as binding

    ours, lib = _libyang()
    # Called by the binding's types: casting each node twice would take as long as all the rest.
    find = binding.ffi.cast(
        "int (*)(struct lyd_node *, struct lyd_node *, struct lyd_node **)",
        int(ours.cast("uintptr_t", ours.addressof(lib, "lyd_find_sibling_first"))),
    )
    match = binding.ffi.new("struct lyd_node **")
    nested: dict[Any, bool] = {}

    def holds_lists(schema: Any) -> bool:
        if schema not in nested:
            child = binding.lib.lysc_node_child(schema)
            nested[schema] = False
            while child and not nested[schema]:
                if child.flags & binding.lib.LYS_CONFIG_W:
                    nested[schema] = child.nodetype == binding.lib.LYS_LIST or holds_lists(child)
                child = child.next
        return nested[schema]

    def walk(node: Any) -> Any:
        first, known, listed, deeper = node, None, False, False
        while node:
            schema = node.schema
            if schema != known:
                known, listed = schema, bool(schema) and schema.nodetype == binding.lib.LYS_LIST
                deeper = bool(schema) and holds_lists(schema)
            if listed and not find(first, node, match) and match[0] != node:
                return node
            if deeper and (child := binding.lib.lyd_child(node)) and (found := walk(child)):
                return found
            node = node.next
        return None

    found = walk(binding.lib.lyd_first_sibling(tree.cdata)) if tree is not None else None
    if not found:
        return None
    path = binding.lib.lyd_path(found, binding.lib.LYD_PATH_STD, binding.ffi.NULL, 0)
    try:
        return str(binding.ffi.string(path).decode())
    finally:
        binding.lib.free(path)
