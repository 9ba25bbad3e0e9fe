"""A configuration in JSON (RFC 7951) as XML (RFC 7950), without a look at the model: also one that
is not valid."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

_YANG = Path(__file__).resolve().parents[2] / "yang"
_NAMESPACE = re.compile(r"^\s*namespace\s+\"?([^\s\";]+)", re.MULTILINE)


@cache
def namespaces() -> Mapping[str, str]:
    """Of our modules, by their names, which are prefixes in what is written here."""
    found = {}
    for file in _YANG.glob("*.yang"):
        if (declared := _NAMESPACE.search(file.read_text())) is not None:
            found[file.stem] = declared[1]
    return found


def as_xml(config: Mapping[str, Any]) -> str:
    return "".join(_element(name, value, "") for name, value in config.items())


def _element(name: str, value: Any, module: str) -> str:
    if isinstance(value, list) and value != [None]:
        return "".join(_element(name, item, module) for item in value)
    own, _, local = name.rpartition(":")
    module = own or module
    if isinstance(value, Mapping):
        inside = "".join(_element(child, below, module) for child, below in value.items())
    elif isinstance(value, bool):
        inside = str(value).lower()
    else:
        inside = "" if value in (None, [None]) else escape(str(value))
    known = namespaces().get(module)
    namespace = f' xmlns="{known or "urn:" + module}"'
    prefix, _, _ = str(value).partition(":")
    if isinstance(value, str) and prefix in namespaces():
        namespace += f' xmlns:{prefix}="{namespaces()[prefix]}"'
    return f"<{local}{namespace}>{inside}</{local}>"
