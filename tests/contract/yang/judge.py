"""libyang with our modules as a judge of documents, in the words that every northbound shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import libyang

from srv6mgrd.datastore import bad_key
from srv6mgrd.datastore.connection import of_libyang
from srv6mgrd.datastore.rejections import Complaint, explain
from srv6mgrd.model.rejection import Rejection

YANG = Path("yang")
STANDARD = "/usr/share/yang/modules/sysrepo"
# Of RFCs, as lab/sysrepo.py brings them.
RFCS = "/opt/yang"
INSTANCES = YANG / "instances"

_STRING = r"\"([^\"]*)\""
_APP_TAG = re.compile(rf"error-message\s+{_STRING};\s*error-app-tag {_STRING};")


def context() -> Any:
    """A context with all our modules; the caller destroys it."""
    made = libyang.Context(f"{YANG}:{STANDARD}:{RFCS}")
    for file in sorted(YANG.glob("*.yang")):
        made.load_module(file.stem)
    return made


def app_tags() -> dict[str, str]:
    """error-app-tag by error-message."""
    return {
        message: tag
        for file in YANG.glob("*.yang")
        for message, tag in _APP_TAG.findall(file.read_text())
    }


def judge(judge_context: Any, document: bytes) -> list[Rejection]:
    """Why the document is no valid configuration; empty when it is."""
    try:
        tree = judge_context.parse_data_mem(document, "json", strict=True, no_state=True)
    except libyang.LibyangError as error:
        return explain(of_libyang(error), lambda path: bad_key.find(judge_context, document, path))
    except UnicodeDecodeError:
        # libyang quotes a few bytes of the input, and the binding stumbles over them.
        return explain(_left(judge_context))
    if tree is not None:
        tree.free()
    return []


def _left(judge_context: Any) -> list[Complaint]:
    """The errors that the binding did not get to read, and therefore did not clear."""
    from _libyang import ffi, lib

    def text(chars: Any) -> str:
        return "" if chars == ffi.NULL else ffi.string(chars).decode(errors="replace")

    found = []
    error = lib.ly_err_first(judge_context.cdata)
    while error != ffi.NULL:
        found.append(Complaint(text(error.msg), text(error.data_path)))
        error = error.next
    lib.ly_err_clean(judge_context.cdata, ffi.NULL)
    return found
