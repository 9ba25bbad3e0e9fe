"""Values under nacm:default-deny-all (RFC 8341 section 3.4.5) in what a caller sends.

sysrepo judges what differs from the running configuration, so that who guesses a password right
would be let through where everybody else is denied. Here the rules are judged, whatever is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from srv6mgrd.datastore.connection import Connection, DeniedError, translated_errors
from srv6mgrd.datastore.user_groups import UserGroups

# RFC 8341 section 2.4: a recovery session is under no rules; sysrepo gives it to this user.
_RECOVERY = "root"
_NACM = "ietf-netconf-acm"
_STEP = re.compile(r"/(?:([\w.-]+):)?([\w.-]+)((?:\[[^=\]]+=(?:'[^']*'|\"[^\"]*\")\])*)")
_KEY = re.compile(r"\[(?:[\w.-]+:)?([\w.-]+)=(?:'([^']*)'|\"([^\"]*)\")\]")


@dataclass(frozen=True, slots=True)
class _Step:
    module: str
    name: str
    keys: Mapping[str, str]

    def covers(self, other: _Step) -> bool:
        return (
            self.name == other.name
            and self.module in ("", other.module)
            and all(other.keys.get(key) == value for key, value in self.keys.items())
        )


def _steps(path: str, *, inherits: bool) -> list[_Step]:
    """``inherits``: a step without module is of the one before, as libyang writes paths."""
    found: list[_Step] = []
    for module, name, keys in _STEP.findall(path):
        given = module or (found[-1].module if inherits and found else "")
        found.append(_Step(given, name, {k: a or b for k, a, b in _KEY.findall(keys)}))
    return found


def permits(nacm: Mapping[str, Any], groups: frozenset[str], path: str, operation: str) -> bool:
    """Whether a rule for these groups permits the operation on a node that is denied to all
    others; the first that matches decides. ``path`` as libyang writes it."""
    if not nacm.get("enable-nacm", True):
        return True
    node = _steps(path, inherits=True)
    for rule in _rules(nacm, groups):
        operations = rule.get("access-operations", "*").split()
        meant = _steps(rule.get("path", "/"), inherits=False)
        if (
            {"*", operation} & set(operations)
            and rule.get("module-name", "*") in ("*", node[-1].module)
            and len(meant) <= len(node)
            and all(one.covers(other) for one, other in zip(meant, node, strict=False))
        ):
            return bool(rule["action"] == "permit")
    return False


def _rules(nacm: Mapping[str, Any], groups: frozenset[str]) -> Iterator[Mapping[str, Any]]:
    for listed in nacm.get("rule-list", ()):
        if groups and (groups | {"*"}) & set(listed.get("group", ())):
            yield from (
                rule
                for rule in listed.get("rule", ())
                if "rpc-name" not in rule and "notification-name" not in rule
            )


def groups_of(
    nacm: Mapping[str, Any], user: str, system: Callable[[str], frozenset[str]]
) -> frozenset[str]:
    """Those of NACM and, unless that is switched off, of the system."""
    found = {
        group["name"]
        for group in nacm.get("groups", {}).get("group", ())
        if user in group.get("user-name", ())
    }
    if nacm.get("enable-external-groups", True):
        found |= system(user)
    return frozenset(found)


class Secrets:
    """Used by one thread, but for ``check_execute``, which any thread calls; everything blocks."""

    def __init__(self, connection: Connection, groups: UserGroups) -> None:
        self._connection = connection
        self._groups = groups
        # Paths of their schema nodes, with the names of these.
        self._known: Mapping[str, bytes] = {}

    def check_edit(self, user: str, documents: Sequence[tuple[bytes, str]]) -> None:
        """Raises DeniedError when a document, with its format, gives a value to a secret that
        ``user`` may not both create and update, UnavailableError when its groups are unknown."""
        if user == _RECOVERY:
            return
        paths = [path for document, form in documents for path in self._paths(document, form)]
        if not paths:
            return
        nacm = self._nacm()
        groups = groups_of(nacm, user, self._groups.of)
        for path in paths:
            if not all(permits(nacm, groups, path, each) for each in ("create", "update")):
                raise DeniedError(
                    f"{path}: access is denied, user {user} may not create and update it, whatever"
                    " it is now; leave it out, or ask for a NACM rule"
                )

    def check_execute(self, user: str, path: str) -> None:
        """Raises DeniedError for an action (RFC 7950 section 7.15) that no rule permits to
        ``user``, whatever ``exec-default`` says, UnavailableError when its groups are unknown. No
        user is a process of root's."""
        if user in ("", _RECOVERY):
            return
        nacm = self._nacm()
        if not permits(nacm, groups_of(nacm, user, self._groups.of), path, "exec"):
            raise DeniedError(
                f"{path}: access is denied, no rule lets user {user} execute it; ask for a NACM"
                " rule"
            )

    def masked(self, user: str, given: str, running: str) -> str:
        """A configuration (RFC 7951 JSON) in which secrets that ``user`` may not read are those
        of the running one, where that has them: messages about it reveal nothing of them."""
        if user in ("", _RECOVERY):
            return given
        paths = self._paths(given.encode(), "json")
        nacm = self._nacm() if paths else {}
        groups = groups_of(nacm, user, self._groups.of)
        hidden = [path for path in paths if not permits(nacm, groups, path, "read")]
        if not hidden:
            return given
        with self._connection.context() as context:
            tree, stored = (_parsed(context, text.encode(), "json") for text in (given, running))
            try:
                for path in hidden:
                    if stored is not None and (found := stored.find_path(path)) is not None:
                        tree.new_path(path, str(found.value()), opt_update=True)
                return str(tree.print_mem("json", with_siblings=True))
            finally:
                for each in (tree, stored):
                    if each is not None:
                        each.free_internal(with_siblings=True)

    def _paths(self, document: bytes, form: str) -> list[str]:
        """Of the secrets in a document; none of one that can't be read, which others reject."""
        import libyang

        with self._connection.context() as context:
            if not self._known:
                self._known = dict(secret_leaves(context))
            # Most documents have none. JSON may write any character as an escape.
            if b"\\u" not in document and not any(n in document for n in self._known.values()):
                return []
            try:
                tree = _parsed(context, document, form)
            except libyang.LibyangError:
                return []
            if tree is None:
                return []
            try:
                return [node.path() for path in self._known for node in tree.find_all(path)]
            finally:
                tree.free_internal(with_siblings=True)

    def _nacm(self) -> Mapping[str, Any]:
        import sysrepo

        with self._connection.session_of("srv6mgrd") as session, translated_errors(session):
            try:
                with session.get_data_ly(f"/{_NACM}:nacm") as data:
                    text = data.print_mem("json", with_siblings=True)
            except sysrepo.SysrepoNotFoundError:
                return {}
        found: Mapping[str, Any] = json.loads(text or "{}").get(f"{_NACM}:nacm", {})
        return found


def _parsed(context: Any, document: bytes, form: str) -> Any:
    return context.parse_data_mem(
        document, form, parse_only=True, no_state=True, opaq=form == "xml", strict=form == "json"
    )


def secret_leaves(context: Any) -> Iterator[tuple[str, bytes]]:
    """Paths and names of the schema nodes of ours that carry ``nacm:default-deny-all``."""
    for module in context:
        if module.implemented() and module.name().startswith("srv6mgr-"):
            for top in module.children():
                yield from _below(top)


def _below(snode: Any) -> Iterator[tuple[str, bytes]]:
    from libyang.schema import SNode

    if snode.nodetype() not in (SNode.CONTAINER, SNode.LIST, SNode.LEAF, SNode.LEAFLIST):
        return
    if snode.get_extension("default-deny-all", prefix=_NACM) is not None:
        yield snode.schema_path(snode.PATH_DATA), snode.name().encode()
    elif snode.nodetype() not in (SNode.LEAF, SNode.LEAFLIST):
        for child in snode.children():
            yield from _below(child)
