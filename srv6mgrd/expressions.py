"""Regular expressions of clients, matched with a bound on the work.

Python's have none: ``(a+)+b`` takes twice as long for each further letter, and all threads wait.
libpcre2, which libyang brings, counts its steps.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import cffi

_LIBRARY = "libpcre2-8.so.0"
_DECLARATIONS = """
void *pcre2_compile_8(const char *pattern, size_t length, uint32_t options, int *error,
                      size_t *offset, void *context);
void pcre2_code_free_8(void *code);
void *pcre2_match_data_create_8(uint32_t size, void *context);
void pcre2_match_data_free_8(void *data);
void *pcre2_match_context_create_8(void *context);
int pcre2_set_match_limit_8(void *context, uint32_t limit);
int pcre2_match_8(const void *code, const char *subject, size_t length, size_t start,
                  uint32_t options, void *data, void *context);
"""
# pcre2.h: PCRE2_ANCHORED, PCRE2_ENDANCHORED, PCRE2_UTF, PCRE2_UCP
_OPTIONS = 0x80000000 | 0x20000000 | 0x00080000 | 0x00020000
# Steps that a match may take: 1 ms, and far more than an expression for a name or a path needs.
_STEPS = 20_000
_KEPT = 256


@cache
def _library() -> tuple[cffi.FFI, Any, Any]:
    """With the limit of a match."""
    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    library: Any = ffi.dlopen(_LIBRARY)
    context = library.pcre2_match_context_create_8(ffi.NULL)
    library.pcre2_set_match_limit_8(context, _STEPS)
    return ffi, library, context


@lru_cache(_KEPT)
def _compiled(expression: str) -> Any:
    """NULL for one that makes no sense."""
    ffi, library, _ = _library()
    raw = expression.encode()
    error, offset = ffi.new("int *"), ffi.new("size_t *")
    code = library.pcre2_compile_8(raw, len(raw), _OPTIONS, error, offset, ffi.NULL)
    return code if code == ffi.NULL else ffi.gc(code, library.pcre2_code_free_8)


def matches_all_of(expression: str, text: str) -> bool:
    """As XML Schema's expressions do: all of the text. One that makes no sense, or takes too many
    steps, matches none."""
    ffi, library, limit = _library()
    code = _compiled(expression)
    if code == ffi.NULL:
        return False
    raw = text.encode()
    # Its own: the library works in it, without the GIL.
    room = library.pcre2_match_data_create_8(1, ffi.NULL)
    found: int = library.pcre2_match_8(code, raw, len(raw), 0, 0, room, limit)
    library.pcre2_match_data_free_8(room)
    return found >= 0
