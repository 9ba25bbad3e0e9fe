"""Texts of libyang and sysrepo that NETCONF alone meets: operations, XPath, XML. Pure.

Those about configured values are in ``datastore.rejections``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from srv6mgrd.datastore.connection import OVERDUE, SMALLER, TAKEN_BACK


@dataclass(frozen=True, slots=True)
class Reported:
    """What an rpc-error says for a text; ``element`` is the name that is wrong."""

    tag: str
    app_tag: str
    cause: str
    remedy: str
    element: str = ""


# libyang 3.13, sysrepo 3.7. Cause and element have groups of the pattern.
_TEXTS = {
    r'(?:RPC|Action) "(?P<element>[^"]*)" not found.*': Reported(
        "operation-not-supported", "", "{element} is no operation here",
        "see get-schema for those there are",
    ),
    r'No (?:\(implemented\) )?module with namespace "(?P<element>[^"]*)".*': Reported(
        "unknown-namespace", "", "namespace {element} is unknown",
        "see the capabilities for those there are",
    ),
    r'Unknown XML prefix "(?P<element>[^"]*)".*': Reported(
        "unknown-namespace", "", "prefix {element} is not declared", "declare it with xmlns",
    ),
    r'Annotation definition for attribute "(?P<element>[^"]*)" not found.*': Reported(
        "unknown-attribute", "", "attribute {element} is unknown", "remove it",
    ),
    r'Mandatory choice "(?P<choice>[^"]*)" data do not exist.*': Reported(
        "data-missing", "missing-choice", "{choice} is missing", "add one of its cases",
    ),
    r'Node "(?P<element>[^"]*)" to be created already exists.*': Reported(
        "data-exists", "data-exists", "{element} exists already", "use merge or replace",
    ),
    r'Node "(?P<element>[^"]*)" (?:to be deleted )?does not exist.*': Reported(
        "data-missing", "data-missing", "{element} does not exist", "use remove, or leave it out",
    ),
    r"(?P<why>(?:Unexpected|Unparsed|Unknown|Wrong|Cannot|Invalid number|Non-prefixed).*"
    r" [Xx][Pp]ath[^.]*).*": Reported(
        "invalid-value", "value-syntax", "the XPath expression is not understood ({why})",
        "correct it",
    ),
    r'XPath ".*" result is not a node set.*': Reported(
        "invalid-value", "", "the XPath expression selects no nodes but has a value",
        "select nodes",
    ),
    r'XPath ".*" does not select any notifications.*|Failed to collect modules to subscribe.*':
    Reported("invalid-value", "", "the filter selects no notifications", "correct it"),
    # All that sysrepo says of a subscriber that is stopped, or died meanwhile.
    rf".*{OVERDUE.pattern}.*": Reported("operation-failed", "timed-out", TAKEN_BACK, SMALLER),
    r"User callback failed\.?": Reported(
        "operation-failed", "timed-out",
        "operational state is not reported, since srv6mgrd does not answer",
        "see systemctl status srv6mgrd, or read the configuration alone",
    ),
    r"Missing .*operation.*": Reported(
        "missing-element", "", "it names no operation", "name one, such as get",
    ),
    r'(?:Invalid character sequence|Unexpected end-of-input|Unexpected input data|Opening "'
    r"|Opening and closing|Expecting |Missing ).*": Reported(
        "malformed-message", "", "it is no well-formed XML", "correct it",
    ),
}  # fmt: skip
_COMPILED = tuple(
    (re.compile(pattern, re.DOTALL), reported) for pattern, reported in _TEXTS.items()
)


def known(message: str) -> Reported | None:
    """What is said of a text; None for other texts."""
    for pattern, reported in _COMPILED:
        if found := pattern.fullmatch(message):
            groups = found.groupdict()
            cause = reported.cause.format(**groups)
            return Reported(
                reported.tag, reported.app_tag, cause, reported.remedy, groups.get("element", "")
            )
    return None
