"""Writes srv6mgrd/datastore/app_tags.py: which error-app-tag goes with which error-message.

    python docs/app_tags.py [--check]

libyang reports an error's message and its tag; sysrepo passes the message on, and no tag.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN = ROOT / "srv6mgrd/datastore/app_tags.py"
_BODY = re.compile(r'\{((?:[^{}"]|"[^"]*")*)\}')
_MESSAGE = re.compile(r'error-message\s+((?:"[^"]*"[\s+]*)+);')
_TAG = re.compile(r'error-app-tag\s+"?([\w-]+)"?\s*;')
_HEAD = '''# ruff: noqa: E501
"""Tags of the errors of our YANG modules, by their messages. Written by docs/generate.sh."""

from __future__ import annotations

from typing import Final

APP_TAGS: Final = {
'''


def tags(text: str) -> dict[str, str]:
    """Of a YANG module. Raises ValueError for a message without a tag, or with two."""
    found: dict[str, str] = {}
    for (body,) in (match.groups() for match in _BODY.finditer(text)):
        if (message := _MESSAGE.search(body)) is None:
            continue
        reported = "".join(re.findall(r'"([^"]*)"', message[1]))
        tag = _TAG.search(body)
        if tag is None or "\n" in reported or found.setdefault(reported, tag[1]) != tag[1]:
            raise ValueError(f"error-message {reported!r}: it needs one line and one error-app-tag")
    return found


def main() -> int:
    found: dict[str, str] = {}
    for module in sorted((ROOT / "yang").glob("srv6mgr-*.yang")):
        for message, tag in tags(module.read_text()).items():
            if found.setdefault(message, tag) != tag:
                raise ValueError(f"error-message {message!r}: two modules give it two tags")
    text = _written(found)
    if "--check" not in sys.argv:
        WRITTEN.write_text(text)
    elif WRITTEN.read_text() != text:
        print(f"{WRITTEN.relative_to(ROOT)} is stale: run docs/generate.sh")
        return 1
    return 0


def _written(found: dict[str, str]) -> str:
    lines = (
        f"    {json.dumps(message, ensure_ascii=False)}: {json.dumps(tag)},\n"
        for message, tag in sorted(found.items())
    )
    return f"{_HEAD}{''.join(lines)}}}\n"


if __name__ == "__main__":
    sys.exit(main())
