"""libyang's and sysrepo's error texts in words an operator can act on. Pure.

Every northbound shows these: ``VRF blue: table 100 is already used by VRF red; choose another
table-id``. Rejections by srv6mgrd itself are in these terms and pass unchanged, as do the
error-messages of our YANG modules, which are cause and remedy. A text that isn't known here is
shown as it came, behind the object that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from srv6mgrd.datastore.app_tags import APP_TAGS
from srv6mgrd.datastore.error_info import ErrorInfo
from srv6mgrd.model import names
from srv6mgrd.model.checks import table_in_use
from srv6mgrd.model.rejection import Rejection

# Value of a leaf in the tree that was rejected, by data path; None when it isn't there.
Lookup = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error of libyang or sysrepo: its text and the data path of the offender.

    Rejections by srv6mgrd itself have an ``app_tag``; it is None for all others.
    """

    message: str
    path: str = ""
    app_tag: str | None = None
    element: str = ""


# So much of an overlong name is shown.
_SHOWN = 40

# The values of a leaf, and an example: libyang prints only the pattern of its type.
_SHAPES = {
    "prefix": ("IPv6 prefix", "fcbb:0:1:64::/64"),
    "export-sid": ("IPv6 prefix", "fcbb:0:1:64::/64"),
    "export-sid-ipv4": ("IPv6 prefix", "fcbb:0:1:64::/64"),
    "export-sid-ipv6": ("IPv6 prefix", "fcbb:0:1:64::/64"),
    "dynamic-neighbor-prefix": ("IP prefix", "10.0.0.0/8"),
    "ip-prefix": ("IP prefix", "10.0.0.0/8"),
    "source-address": ("IPv6 address", "fcbb:0:1::1"),
    "destination-address": ("IP address", "2001:db8::1"),
    "destination-node-address": ("IP address", "2001:db8::1"),
    "allowed-prefix": ("IP prefix", "10.0.0.0/8"),
    "router-id": ("IPv4 address", "192.0.2.1"),
    "area": ("IPv4 address", "0.0.0.1"),
    "address": ("IP address", "2001:db8::1"),
    "update-source": ("IP address", "2001:db8::1"),
    "next-hop": ("IP address", "2001:db8::1"),
    "ip": ("IPv6 address", "2001:db8::1"),
    "sid": ("IPv6 address", "fcbb:0:2::1"),
    "pass": ("IP prefix, link-local or multicast", "10.0.0.0/8"),
}
_ROUTE_PREFIX = ("IP prefix", "10.0.0.0/8")
_ROUTES = (
    "/srv6mgr-steering:steering/route",
    "/srv6mgr-routing:static-routes/route",
    "/srv6mgr-bgp:bgp/aggregate",
)
_MEASUREMENT = "/srv6mgr-path-measurement:path-measurement/"


def _leaf(path: str) -> str:
    """Name of the last node of a data path."""
    bare = re.sub(r"\[[^]]*\]", "", path)
    return bare.rpartition("/")[2].rpartition(":")[2]


def _key(path: str, list_name: str) -> str:
    found = re.search(rf"/{list_name}\[[\w-]+=(['\"])(.*?)\1\]", path)
    return found[2] if found else path


def complaint(info: ErrorInfo) -> Complaint:
    """An error of a sysrepo session. Messages of constraints are ``text (path "/x")``."""
    if info.is_own:
        return Complaint(info.message, info.path, info.app_tag, info.bad_element)
    found = re.fullmatch(r'(?s)(.*?) \(path "(.*)"\)\.?', info.message)
    text, path = (found[1], found[2]) if found else (info.message, "")
    return Complaint(text, info.path or path)


def explain(
    found: Sequence[Complaint], lookup: Lookup = lambda _: None, *, held: Lookup = lambda _: None
) -> list[Rejection]:
    """The complaints as rejections, sysrepo's own framing left out.

    ``lookup`` reads the rejected tree (and gives a rejected key where an entry has none),
    ``held`` the running configuration.
    """
    lines = [line for c in found for line in _lines(c)]
    telling = [c for c in lines if not is_framing(c.message)] or lines
    out: list[Rejection] = []
    for complaint in telling:
        rejection = _explain(complaint, lookup, held)
        if rejection not in out:
            out.append(rejection)
    return out


def is_framing(message: str) -> bool:
    """Whether a text only says that something failed, which others explain."""
    return _FRAMING.fullmatch(message) is not None


def _lines(found: Complaint) -> list[Complaint]:
    if found.app_tag is not None:
        return [found]
    texts = [text for text in found.message.splitlines() if text]
    # Below a union libyang lists what each of its types thinks; an RPC of srv6mgrd puts one
    # rejection on each line.
    if found.message.startswith("Invalid union value"):
        texts = texts[:1]
    return [Complaint(text, _whole(found.path)) for text in texts]


_ROOT = "/srv6mgr-srv6:srv6"
# Parents that libyang leaves off the path of a duplicate.
_PARENTS = {
    **dict.fromkeys(("locators", "vrfs", "interfaces", "local-sids", "segment-lists"), _ROOT),
    "locator": f"{_ROOT}/locators",
    "vrf": f"{_ROOT}/vrfs",
    "interface": f"{_ROOT}/interfaces",
    "sid": f"{_ROOT}/local-sids",
    "segment-list": f"{_ROOT}/segment-lists",
}


def _whole(path: str) -> str:
    found = re.match(r"/srv6mgr-srv6:([\w-]+)", path)
    if found is None or found[1] not in _PARENTS:
        return path
    return f"{_PARENTS[found[1]]}/{path.removeprefix('/srv6mgr-srv6:')}"


# Lines that sysrepo puts around the one that matters.
_FRAMING = re.compile(
    r"(?:User callback failed\."
    r"|Validation failed\.?"
    r"|Failed to .* data\."
    r"|.*event .* failed.*)",
    re.DOTALL,
)


def _explain(complaint: Complaint, lookup: Lookup, held: Lookup) -> Rejection:
    if complaint.app_tag is not None:
        own = _own(complaint.message)
        tag = complaint.app_tag or own.tag
        return replace(own, tag=tag, path=complaint.path, element=complaint.element)
    for pattern, rule in _RULES:
        if found := re.fullmatch(pattern, complaint.message, re.DOTALL):
            return rule(found, complaint.path, lookup, held)
    return _translated(complaint, lookup)


def _translated(complaint: Complaint, lookup: Lookup) -> Rejection:
    """A text in our words: ``object: cause; remedy``, or from YANG ``cause; remedy``."""
    message, path = complaint.message, complaint.path
    text, _, remedy = message.partition("; ")
    if not path and remedy and ": " in text:
        return _own(message)
    tag = APP_TAGS.get(message, "refused")
    if not remedy:
        text, remedy = message.rstrip("."), "correct it and send it again"
    # With a message of our own, libyang leaves out the value.
    return Rejection(_named(path, lookup), text, remedy, tag, path)


def _own(message: str) -> Rejection:
    """``object: cause; remedy``."""
    text, _, remedy = message.partition("; ")
    # A colon with a blank ends the object; those inside an IPv6 prefix have none.
    name, _, cause = text.partition(": ")
    return Rejection(name, cause, remedy, "refused")


def _unique(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    leaves, first, second = m["leaves"], m["first"], m["second"]
    leaf = leaves.split()[0]
    value = lookup(f"{first}/{leaf}") or lookup(f"{second}/{leaf}")
    # The one that had it before is the one that "already" uses it.
    old, new = (first, second) if held(f"{first}/{leaf}") == value else (second, first)
    if leaf == "table-id" and value is not None:
        return table_in_use(_key(new, "vrf"), int(value), _key(old, "vrf"))
    return Rejection(
        names.of_path(new),
        f"{leaf} {value or ''} is already used by {names.of_path(old)}".replace("  ", " "),
        f"choose another {leaf}",
        "data-not-unique",
        new,
    )


def _leafref(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    value, target = m["value"], m["target"]
    steps = [s.rpartition(":")[2] for s in re.sub(r"\[[^]]*\]", "", target).split("/")]
    of_list = names.OF_LISTS.get(steps[-2] if len(steps) > 1 else "")
    what = of_list(value) if of_list else f"{_leaf(path)} {value}"
    remedy = f"create it or name an existing {of_list('')}" if of_list else "name an existing one"
    return Rejection(
        names.of_path(path), f"{what} does not exist", remedy, "instance-required", path
    )


def _named(path: str, lookup: Lookup) -> str:
    """Object of a path; one that only its bad key names is named by it."""

    def shown(path: str) -> str:
        value = lookup(path) or ""
        return f"{value[:_SHOWN]}{'...' if len(value) > _SHOWN else ''}"

    return names.of_path(path, shown)


def _syntax(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    value, leaf = m["value"], _leaf(path)
    what, example = _SHAPES.get(leaf, ("", ""))
    if leaf == "prefix" and any(part in path for part in _ROUTES):
        what, example = _ROUTE_PREFIX
    if leaf == "source-address" and _MEASUREMENT in path:
        what, example = _SHAPES["address"]
    if leaf == "ip" and ":ipv4/" in path:
        what, example = _SHAPES["router-id"]
    return Rejection(
        _named(path, lambda _: value),
        f"{leaf} {value!r} is no {what}" if what else f"{leaf} {value!r} is not well-formed",
        f"write it like {example}" if what else "see the model for its form",
        "value-syntax",
        path,
    )


def _number(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    value = m["value"]
    quoted = value.isascii() and value.isdigit()
    return Rejection(
        names.of_path(path),
        f"{_leaf(path)} {value!r} is no number",
        "write it without quotes" if quoted else "write a number",
        "value-syntax",
        path,
    )


def _range(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    return Rejection(
        names.of_path(path),
        f"{_leaf(path)} {m['value']} is out of range",
        "see the model for its range",
        "value-range",
        path,
    )


def _length(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    length = len(m["value"])
    cause = f"{_leaf(path)} has {length} characters" if length else f"{_leaf(path)} is empty"
    what = _named(path, lambda _: m["value"])
    return Rejection(what, cause, "see the model for its length", "value-length", path)


def _boolean(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    return Rejection(
        names.of_path(path),
        f"{_leaf(path)} {m['value']!r} is no boolean",
        "write true or false, without quotes",
        "value-syntax",
        path,
    )


def _empty(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    cause = f"{_leaf(path)} takes no value"
    return Rejection(names.of_path(path), cause, "write [null]", "value-syntax", path)


def _too_many(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    cause = f"it has too many entries of {m['node']}"
    remedy = "see the model for how many"
    return Rejection(names.of_path(path), cause, remedy, "too-many-elements", path)


def _when(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    if _leaf(path) == "proxy":
        cause = "only End.AS, End.AD and End.AM have a proxy"
        remedy = "remove proxy or change the behavior"
    else:
        cause = f"{_leaf(path)} does not go with the rest of it"
        remedy = f"remove {_leaf(path)}"
    return Rejection(names.of_path(path), cause, remedy, "unexpected", path)


def _value(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    return Rejection(
        _named(path, lambda _: m["value"]),
        f"{_leaf(path)} {m['value']!r} is not allowed",
        "see the model for its values",
        "value-syntax",
        path,
    )


def _no_json(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    return Rejection("value", f"it is no JSON ({m['why']})", "correct it", "value-syntax", path)


def _shape(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    return Rejection(
        path or f"{m['kind']} {m['node']}",
        f"the value is no JSON {m['wanted']}",
        "correct it",
        "value-syntax",
        path,
    )


def _identity(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    return Rejection(
        names.of_path(path),
        f"{_leaf(path)} {m['value']!r} is unknown",
        "name one that the model has, such as End, End.X, End.DT46"
        if _leaf(path) == "behavior"
        else "name one that the model has",
        "value-unknown",
        path,
    )


def _mandatory(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    leaf = m["leaf"]
    return Rejection(
        names.of_path(path), f"{leaf} is missing", f"add {leaf}", "missing", path, leaf
    )


def _too_few(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    return replace(_mandatory(m, path, lookup, held), tag="too-few-elements", element="")


def _twice(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    what = "it"
    if entry := re.fullmatch(r".*?([\w-]+)\[[\w.-]+=(['\"])(.*)\2\]", path[names.end_of(path) :]):
        what = f"{entry[1]} {entry[3]}"
    cause = f"{what} is declared twice"
    return Rejection(names.of_path(path), cause, "declare it once", "data-exists", path, m["node"])


def _key_missing(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    key = m["key"]
    cause = f"its key {key} is missing"
    return Rejection(names.of_path(path), cause, f"add {key}", "missing", path, key)


def _unknown(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    # The path is that of the parent; the model's spelling shows where the offender is.
    node = m["node"] or "''"
    where = f"{path.rstrip('/')}/{node}" if path else node
    return Rejection(
        names.of_path(path) if path else node,
        f"{where} is unknown to the model",
        "correct the name or remove it",
        "unknown-element",
        where,
        node,
    )


def _state(m: re.Match[str], path: str, lookup: Lookup, held: Lookup) -> Rejection:
    node = m["node"]
    cause = f"{node} is read-only"
    return Rejection(names.of_path(path), cause, "leave it out", "read-only", path, node)


_Rule = Callable[[re.Match[str], str, Lookup, Lookup], Rejection]

# libyang 3.13, src/ly_common.h (LY_VCODE_*), src/validation.c, src/plugins_types/*.c,
# src/parser_json.c.
_RULES: tuple[tuple[str, _Rule], ...] = (
    (
        r'Unique data leaf\(s\) "(?P<leaves>[^"]*)" not satisfied in "(?P<first>.*)" and'
        r' "(?P<second>.*)"\.',
        _unique,
    ),
    (
        r'Invalid leafref value "(?P<value>.*)" - no (?:target )?(?:existing target )?instance'
        r' "(?P<target>.*)"(?: with the same value)?\.',
        _leafref,
    ),
    (r'Mandatory node "(?P<leaf>[^"]*)" instance does not exist\.', _mandatory),
    (r'Too few "(?P<leaf>[^"]*)" instances\.', _too_few),
    (r'Duplicate instance of "(?P<node>[^"]*)"\.', _twice),
    (r'List instance is missing its key "(?P<key>[^"]*)"\.', _key_missing),
    (r'Node "(?P<node>[^"]*)" not found as a child of "[^"]*" node\.', _unknown),
    (r'Node "(?P<node>[^"]*)" not found in the "[^"]*" module\.', _unknown),
    (r'Top-level JSON object member "(?P<node>[^"]*)" must be namespace-qualified\.', _unknown),
    (r'No module named "(?P<node>[^"]*)" in the context\.', _unknown),
    (r'Unexpected (?:data )?state node "(?P<node>[^"]*)" found\.', _state),
    (r'Invalid identityref "(?P<value>.*?)" value - .*', _identity),
    (r'Failed to convert IPv[46] (?:address|prefix) "(?P<value>.*)"\.', _syntax),
    (r'Unsatisfied pattern - "(?P<value>.*)" does not (?:conform to|match) ".*"\.', _syntax),
    (r'Unsatisfied pattern - "(?P<value>.*)" .*', _syntax),
    (r'Invalid non-number-encoded [\w:-]+ value "(?P<value>.*)"\.', _number),
    (r'Value "(?P<value>.*)" is out of type [\w:-]+ min/max bounds\.', _range),
    (r'Unsatisfied range - value "(?P<value>.*)" is out of the allowed range\.', _range),
    (r'Unsatisfied length - string "(?P<value>.*)" length is not allowed\.', _length),
    (r'Invalid non-boolean-encoded boolean value "(?P<value>.*)"\.', _boolean),
    (r'Invalid non-empty-encoded empty value "(?P<value>.*)"\.', _empty),
    (r'Invalid union value "(?P<value>.*?)" - no matching subtype found:?.*', _syntax),
    (r'Too many "(?P<node>[^"]*)" instances\.', _too_many),
    (r'When condition ".*" not satisfied\.', _when),
    (r'Invalid (?:type )?[\w:-]+ value "(?P<value>.*)"\.', _value),
    (
        r"Expecting JSON (?P<wanted>[\w/]+) but (?P<kind>[\w-]+) \"(?P<node>[^\"]*)\" is"
        r" represented in input data as .*",
        _shape,
    ),
    (r"(?P<why>Unexpected end-of-input|Invalid character sequence .*)\.", _no_json),
    (r"(?P<why>Unexpected input data .*|Expecting .*|Missing .*)\.?", _no_json),
)
