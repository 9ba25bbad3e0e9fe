"""Errors of a sysrepo session with all members that an rpc-error has."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import cffi

from srv6mgrd.datastore import ffi

_DECLARATIONS = """
int sr_err_get_netconf_error(const void *err, const char **error_type, const char **error_tag,
    const char **error_app_tag, const char **error_path, const char **error_message,
    const char ***error_info_elements, const char ***error_info_values, uint32_t *count);
int sr_session_push_error_data(void *session, uint32_t size, const void *data);
void free(void *pointer);
"""
_FORMAT = b"NETCONF"
# sr_error_t of errors that callbacks return (sysrepo_types.h).
OPERATION_FAILED, CALLBACK_FAILED = 10, 14


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """``code`` is sr_error_t. The rest is RFC 6241 section 4.3, where sysrepo knows it."""

    code: int
    message: str
    tag: str = ""
    type: str = ""
    app_tag: str = ""
    path: str = ""
    bad_element: str = ""

    @property
    def is_own(self) -> bool:
        """Whether srv6mgrd set it (``set_error_infos``). sysrepo's own with a tag are NACM's."""
        return bool(self.tag) and self.code in (OPERATION_FAILED, CALLBACK_FAILED)


@cache
def _library() -> tuple[cffi.FFI, Any]:
    declared = cffi.FFI()
    declared.cdef(_DECLARATIONS)
    return declared, declared.dlopen("libsysrepo.so.7")


def error_infos(session: ffi.Session) -> list[ErrorInfo]:
    """The errors of the session's last call."""
    from _sysrepo import ffi as binding
    from _sysrepo import lib

    info = binding.new("sr_error_info_t **")
    if lib.sr_session_get_error(session.cdata, info) or info[0] == binding.NULL:
        return []
    found = []
    for n in range(info[0].err_count):
        error = info[0].err[n]
        message = binding.string(error.message).decode(errors="replace") if error.message else ""
        known = None
        if error.error_format and binding.string(error.error_format) == _FORMAT:
            address = int(binding.cast("uintptr_t", binding.addressof(error)))
            known = _of_netconf(int(error.err_code), address)
        found.append(known or ErrorInfo(int(error.err_code), message))
    return found


def set_error_infos(session: ffi.Session, infos: Iterable[ErrorInfo]) -> None:
    """Return these errors to the client whose event the implicit ``session`` belongs to.

    Not with ``sr_session_set_netconf_error``, which sets the code itself.
    """
    from _sysrepo import ffi as binding
    from _sysrepo import lib

    declared, library = _library()
    pointer = declared.cast("void *", int(binding.cast("uintptr_t", session.cdata)))
    template = binding.new("char[]", b"%s")
    for info in infos:
        message = binding.new("char[]", info.message.encode())
        lib.sr_session_set_error(session.cdata, _FORMAT, info.code, template, message)
        element = ("bad-element", info.bad_element) if info.bad_element else ()
        parts = [
            *_texts(info.type, info.tag, info.app_tag, info.path),
            struct.pack("=I", len(element) // 2),
            *_texts(*element),
        ]
        # Where one fails for lack of memory the message is left.
        for part in parts:
            library.sr_session_push_error_data(pointer, len(part), part)


def _texts(*texts: str) -> list[bytes]:
    return [f"{text}\0".encode() for text in texts]


def _of_netconf(code: int, address: int) -> ErrorInfo | None:
    declared, lib = _library()
    texts = [declared.new("const char **") for _ in range(5)]
    lists = [declared.new("const char ***") for _ in range(2)]
    count = declared.new("uint32_t *")
    pointer = declared.cast("void *", address)
    if lib.sr_err_get_netconf_error(pointer, *texts, *lists, count):
        return None

    def text(pointer: Any) -> str:
        found = declared.string(pointer) if pointer else b""
        return found.decode(errors="replace") if isinstance(found, bytes) else str(found)

    type_, tag, app_tag, path, message = (text(t[0]) for t in texts)
    pairs = {text(lists[0][0][n]): text(lists[1][0][n]) for n in range(count[0])}
    for each in lists:
        lib.free(declared.cast("void *", each[0]))
    return ErrorInfo(code, message, tag, type_, app_tag, path, pairs.get("bad-element", ""))
