"""What libsysrepo and libyang offer and their Python bindings leave out, reached by dlopen.

The bindings compile their own cffi modules, whose types can't be mixed with these: pointers cross
as integers. Errors are raised as the sysrepo binding's own exceptions.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import cffi

_SYSREPO = "libsysrepo.so.7"
_LIBYANG = "libyang.so.3"

_DECLARATIONS = """
const void *sr_get_change_diff(void *session);
int sr_nacm_init(void *session, uint32_t opts, void **subscription);
void sr_nacm_destroy(void);
int sr_nacm_set_user(void *session, const char *user);
int sr_unsubscribe(void *subscription);
int sr_unsubscribe_sub(void *subscription, uint32_t sub_id);
const char *sr_get_repo_path(void);
const char *sr_get_shm_path(void);
const char *sr_get_shm_prefix(void);
int sr_get_event_pipe(void *subscription, int *event_pipe);
int sr_subscription_process_events(void *subscription, void *session, void *wake_up_in);
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
def library() -> tuple[cffi.FFI, Any]:
    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    return ffi, ffi.dlopen(_SYSREPO)


@cache
def _libyang() -> tuple[cffi.FFI, Any]:
    ffi = cffi.FFI()
    ffi.cdef(_LIBYANG_DECLARATIONS)
    return ffi, ffi.dlopen(_LIBYANG)


def pointer(cdata: Any) -> Any:
    """A pointer of the binding as one of ours."""
    import _sysrepo

    return library()[0].cast("void *", int(_sysrepo.ffi.cast("uintptr_t", cdata)))


def check(session: Session, function: str, code: int) -> None:
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

    ffi, lib = library()
    diff = lib.sr_get_change_diff(pointer(session.cdata))
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


class Subscriptions:
    """Those that libsysrepo keeps together, with one pipe that announces their events. Made with
    SR_SUBSCR_NO_THREAD."""

    def __init__(self, session: Session, made: Any = None) -> None:
        """``made``: a subscription of the binding, which frees it itself. Else libsysrepo puts them
        into ``held``."""
        ffi = library()[0]
        self.session = session
        self.held = ffi.new("void **", ffi.NULL if made is None else pointer(made.cdata))
        self._is_ours = made is None

    def get_fd(self) -> int:
        """The pipe's end that is readable when there is an event."""
        ffi, lib = library()
        descriptor = ffi.new("int *")
        code = lib.sr_get_event_pipe(self.held[0], descriptor)
        check(self.session, "sr_get_event_pipe", code)
        return int(descriptor[0])

    def process_events(self) -> None:
        """Blocks. Raises SysrepoError; sysrepo has emptied the pipe then."""
        ffi, lib = library()
        code = lib.sr_subscription_process_events(self.held[0], ffi.NULL, ffi.NULL)
        check(self.session, "sr_subscription_process_events", code)

    def end(self) -> None:
        """End them while another thread processes their events: a writer waits for each subscriber,
        and none ends while it does. Raises SysrepoError."""
        check(self.session, "sr_unsubscribe_sub", library()[1].sr_unsubscribe_sub(self.held[0], 0))

    def close(self) -> None:
        ffi, lib = library()
        if self._is_ours and self.held[0]:
            lib.sr_unsubscribe(self.held[0])
        self.held[0] = ffi.NULL


def places() -> tuple[Path, Path, str]:
    """sysrepo's repository, the folder of its shared memory and how the names of its files begin
    there."""
    ffi, lib = library()
    repository, folder, prefix = (
        os.fsdecode(ffi.string(path()))
        for path in (lib.sr_get_repo_path, lib.sr_get_shm_path, lib.sr_get_shm_prefix)
    )
    return Path(repository), Path(folder), prefix


def subscriptions(session: Session) -> list[Subscriptions]:
    """Those of a session of the binding."""
    return [Subscriptions(session, made) for made in session.subscriptions]


def set_originator(session: Session, name: str, *data: bytes) -> None:
    """Name the originator to the receivers of this session's changes.

    One originator name a session: sysrepo ties the data to it.
    """
    lib, of = library()[1], pointer(session.cdata)
    check(session, "sr_session_set_orig_name", lib.sr_session_set_orig_name(of, name.encode()))
    for item in data:
        code = lib.sr_session_push_orig_data(of, len(item), item)
        check(session, "sr_session_push_orig_data", code)


def originator_data(session: Session, index: int) -> bytes | None:
    """Data ``index`` that the originator of an event pushed; None when there is none."""
    ffi, lib = library()
    size, data = ffi.new("uint32_t *"), ffi.new("const void **")
    if lib.sr_session_get_orig_data(pointer(session.cdata), index, size, data):
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
