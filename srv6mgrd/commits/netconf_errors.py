"""Errors of sysrepo and libyang in the words of all northbounds, as NETCONF has them. Pure.

srv6-netconfd asks for the words of what it meets itself (request ``word``), so that there is one
place for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from srv6mgrd.commits import netconf_texts
from srv6mgrd.commits.fields import Fields, ProtocolError
from srv6mgrd.datastore.error_info import ErrorInfo
from srv6mgrd.datastore.rejections import (
    Complaint,
    Lookup,
    complaint,
    explain,
    is_framing,
)
from srv6mgrd.model import names
from srv6mgrd.model.rejection import Rejection

# Of one answer; a mistake in each of 10,000 entries is one mistake.
_MOST = 20
_UNAUTHORIZED = 11
# error-tag by sr_error_t (sysrepo_types.h), where the message says no more; else operation-failed.
_BY_CODE = {
    1: "invalid-value",
    4: "resource-denied",
    5: "data-missing",
    6: "data-exists",
    8: "operation-not-supported",
    _UNAUTHORIZED: "access-denied",
    12: "in-use",
}
# error-tag by error-app-tag; of constraints it is operation-failed (RFC 7950 section 15).
_BY_APP_TAG = {
    "instance-required": "data-missing",
    "value-syntax": "invalid-value",
    "value-range": "invalid-value",
    "value-length": "invalid-value",
    "value-unknown": "invalid-value",
    "missing": "missing-element",
    "data-exists": "bad-element",
    "unknown-element": "unknown-element",
    "read-only": "bad-element",
}
_WITH_ELEMENT = frozenset({"missing-element", "bad-element", "unknown-element"})
_ROOT = "/srv6mgr-srv6:srv6"
_OPERATION = re.compile(r"/[\w.-]+:([\w.-]+)")


def read(request: Fields) -> tuple[list[ErrorInfo], Mapping[str, str]]:
    """Of a request, as ``answer.of_infos`` writes them, and the values of keys that no entry has,
    by path. Raises ProtocolError."""
    found: list[dict[str, str]] = []
    for name, value in request.all:
        kind, _, member = name.partition("error-")
        if kind or not member:
            continue
        if member == "code":
            found.append({})
        if found:
            found[-1][member.replace("-", "_")] = value.decode(errors="replace")
    values = {one.get("path", ""): one.pop("value") for one in found if "value" in one}
    try:
        infos = [ErrorInfo(int(one.pop("code")), one.pop("message", ""), **one) for one in found]
        return infos, values
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"request word: {error}") from error


def reported(
    infos: Sequence[ErrorInfo], lookup: Lookup = lambda _: None, held: Lookup = lambda _: None
) -> list[ErrorInfo]:
    """The errors, without their framing; ``lookup`` and ``held`` as in ``explain``."""
    telling = [info for info in infos if not is_framing(info.message)] or list(infos)
    found: list[ErrorInfo] = []
    for info in telling:
        for one in _of_one(info, lookup, held):
            if one not in found:
                found.append(one)
            if len(found) == _MOST:
                return found
    return found


def _of_one(info: ErrorInfo, lookup: Lookup, held: Lookup) -> list[ErrorInfo]:
    found = complaint(info)
    path = found.path
    if info.is_own:
        return [_of_rejection(replace(info, tag=""), rejection) for rejection in explain([found])]
    # Where it is a parameter of an operation, too.
    place = path[max(0, path.find(_ROOT)) :]
    if (known := netconf_texts.known(found.message)) is not None:
        name = _object(names.of_path(place))
        cause = known.cause
        if known.element and place.endswith("]"):
            # The entry itself, which has a name.
            cause = re.sub(rf"^{re.escape(known.element)}\b", "it", cause)
        message = f"{name}: {cause}; {known.remedy}"
        return [
            replace(
                info, message=message, tag=known.tag, app_tag=known.app_tag, path=path,
                type=info.type or "application", bad_element=known.element or info.bad_element,
            )
        ]  # fmt: skip
    rejections = explain([Complaint(found.message, place)], lookup, held=held)
    above = path[: len(path) - len(place)]
    return [
        _of_rejection(replace(info, path=above + _place(rejection, place)), rejection)
        for rejection in rejections
    ]


def _place(rejection: Rejection, place: str) -> str:
    """The offender, which may be another node than libyang names. What the model does not know has
    no path of its own: error-info names it (RFC 6241 appendix A)."""
    return place if rejection.tag == "unknown-element" else rejection.path or place


def _of_rejection(info: ErrorInfo, rejection: Rejection) -> ErrorInfo:
    translated_errors = replace(rejection, object=_object(rejection.object))
    known = replace(info, message=str(translated_errors), path=info.path or rejection.path)
    if info.tag:
        return known
    app_tag = info.app_tag or rejection.app_tag
    tag = _BY_APP_TAG.get(app_tag) or _BY_CODE.get(info.code, "operation-failed")
    element = rejection.element or info.bad_element
    protocol = "protocol" if info.code == _UNAUTHORIZED else "application"
    return replace(
        known,
        tag=tag,
        type=info.type or protocol,
        app_tag=app_tag,
        bad_element=element if tag in _WITH_ELEMENT else "",
    )


def _object(name: str) -> str:
    """Of an operation's parameter its name, where an object of the configuration has none."""
    if found := _OPERATION.match(name):
        return found[1]
    return "request" if name == "value" else name
