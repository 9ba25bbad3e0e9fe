"""Removes secrets from what goes into a support bundle. Pure.

Twice: what is known to be a secret, because the schema or a setting says so, is removed wherever
it turns up, in whatever text; and lines in which secrets are written are cut, of any program,
since FRR and the settings hold secrets that srv6mgr does not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

REMOVED = "(secret)"

# Shorter ones are removed as words of their own alone, else they would turn up everywhere.
_LONG = 6

# All that follows the word, up to the end of the line: FRR (bgpd, isisd, ospfd, bfdd, ldpd, mgmtd).
_FRR = re.compile(
    r"(?im)((?:^|[ -])(?:password|key-string|authentication-key|message-digest-key \d+ md5"
    r"|authentication (?:md5|text)|secret)[ ]+)(?!authentication\b)\S.*$"
)
# PREFIX = VALUE or "PREFIX": "VALUE", in TOML, INI, JSON and command lines.
_ASSIGNED = re.compile(
    r"(?i)([\w.-]*(?:password|passphrase|passwd|secret|token|private[-_]key)[\w.-]*[\"']?\s*[:=]\s*)"
    r"(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s,}\]]+)"
)
# Settings that name a file, or do not hold a secret.
_NO_SECRET = re.compile(r"(?i)(?:_file|_directory|-file|password_again)[\"']?\s*[:=]\s*$")
_HASH = re.compile(r"\$?(?:scrypt|argon2\w*|pbkdf2[\w-]*|[1256y]|2[aby])\$[^\s\"',]+")
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----.*?(?:-----END \1-----|\Z)", re.DOTALL)
# user:password@ in a URL
_URL = re.compile(r"(\w+://[^\s/:@]*:)[^\s/@]+@")


@dataclass(frozen=True, slots=True)
class Scrubber:
    """``known`` are the secrets themselves."""

    known: frozenset[str] = frozenset()

    def text(self, text: str) -> str:
        """The text without secrets."""
        for secret in sorted(self.known, key=len, reverse=True):
            for form in _forms(secret):
                text = _without(form, text)
        text = _PEM.sub(rf"-----BEGIN \1----- {REMOVED}", text)
        text = _FRR.sub(rf"\g<1>{REMOVED}", text)
        text = _ASSIGNED.sub(_assigned, text)
        text = _URL.sub(rf"\g<1>{REMOVED}@", text)
        return _HASH.sub(REMOVED, text)


def _assigned(found: re.Match[str]) -> str:
    if _NO_SECRET.search(found[1]):
        return found[0]
    quote = found[2][0] if found[2][0] in "\"'" else ""
    return f"{found[1]}{quote}{REMOVED}{quote}"


def _forms(secret: str) -> Iterator[str]:
    """As text, JSON, XML, and as Python and the shell print it."""
    seen = (secret, json.dumps(secret)[1:-1], escape(secret), escape(secret, {'"': "&quot;"}),
            repr(secret)[1:-1])  # fmt: skip
    yield from dict.fromkeys(form for form in seen if form.strip())


def _without(secret: str, text: str) -> str:
    if len(secret) >= _LONG:
        return text.replace(secret, REMOVED)
    return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", lambda _: REMOVED, text)


def secrets_in(tree: Any, names: Collection[str]) -> Iterator[str]:
    """Values of leaves with these names (without module), in RFC 7951 JSON."""
    if isinstance(tree, Mapping):
        for member, value in tree.items():
            if member.rpartition(":")[2] in names:
                yield from _values(value)
            else:
                yield from secrets_in(value, names)
    elif isinstance(tree, list):
        for value in tree:
            yield from secrets_in(value, names)


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _values(one)
    elif isinstance(value, Mapping):
        yield from _values(list(value.values()))
    elif value is not None:
        yield str(value)


def frr_secrets(running: str) -> Iterator[str]:
    """Secrets in FRR's configuration, those of others too: the last word of such a line."""
    for found in _FRR.finditer(running):
        yield found[0].split()[-1]


def gathered(sources: Iterable[Callable[[], Iterable[str]]]) -> frozenset[str]:
    """All secrets that can be learnt; a source that can't be read gives none."""
    found: set[str] = set()
    for source in sources:
        try:
            found.update(secret for secret in source() if secret.strip())
        except Exception:
            continue
    return frozenset(found)
