"""The schema and the model list, read from sysrepo's libyang context."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from srv6mgrd.counters import alarms
from srv6mgrd.gnmi.schema import Base, Kind, Node, root

# Of these the state is served: what they configure is no part of the configuration that commits
# and confirmed commits are about.
_STATE_ALONE = frozenset({alarms.MODULE})


@dataclass(frozen=True, slots=True)
class ModelData:
    """A model as Capabilities names it (gnmi-specification.md 2.6.1)."""

    name: str
    organization: str
    version: str


@dataclass(frozen=True, slots=True)
class Models:
    """What is served: the schema, the list for Capabilities, the modules that hold config."""

    root: Node
    served: tuple[ModelData, ...]
    configurable: tuple[str, ...]


def load(context: Any, patterns: Iterable[str]) -> Models:
    """Schema of the modules whose name matches one of ``patterns`` (shell style)."""
    wanted = tuple(patterns)
    top = root()
    served, configurable = [], []
    for module in context:
        name = module.name()
        if not any(fnmatchcase(name, p) for p in wanted):
            continue
        # Not what a module says of itself: a data model is known by its revision.
        served.append(ModelData(name, _organization(module), _revision(module)))
        if not module.implemented():
            continue
        children = list(module.children())
        state_alone = name in _STATE_ALONE
        for child in children:
            _add(top, child, state_alone=state_alone)
        if state_alone:
            continue
        # RPCs and notifications are no configuration either.
        if any(not c.config_false() for c in children if c.nodetype() in _kinds()):
            configurable.append(name)
    return Models(top, tuple(sorted(served, key=lambda m: m.name)), tuple(configurable))


def _organization(module: Any) -> str:
    import _libyang
    from libyang.util import c2str

    text = module.cdata.org if module.cdata else _libyang.ffi.NULL
    return str(c2str(text) or "")


def _revision(module: Any) -> str:
    revision = next(iter(module.revisions()), None)
    return str(revision.date()) if revision is not None else ""


def _kinds() -> dict[int, Kind]:
    from libyang.schema import SNode

    return {
        SNode.CONTAINER: Kind.CONTAINER,
        SNode.LIST: Kind.LIST,
        SNode.LEAF: Kind.LEAF,
        SNode.LEAFLIST: Kind.LEAF_LIST,
    }


def _add(parent: Node, snode: Any, *, state_alone: bool = False) -> None:
    """Add ``snode`` and what is below; choices and cases are no data nodes, their children are."""
    from libyang.schema import SNode

    nodetype = snode.nodetype()
    if nodetype in (SNode.CHOICE, SNode.CASE):
        for child in snode.children():
            _add(parent, child, state_alone=state_alone)
        return
    kind = _kinds().get(nodetype)
    if kind is None:  # RPC, action, notification, anydata: not addressed by gNMI
        return
    is_config = not snode.config_false()
    if state_alone and is_config and kind is not Kind.CONTAINER:
        return
    node = Node(snode.name(), snode.module().name(), kind, config=is_config and not state_alone)
    node.hidden = parent.hidden or denies_all(snode)
    if kind is Kind.LIST:
        node.keys = tuple(k.name() for k in list(snode.keys()))
    elif kind is Kind.CONTAINER:
        node.presence = snode.presence() is not None
    parent.add(node)
    if node.is_leaf:
        declared = snode.type()
        node.typedef = str(declared.name()).rpartition(":")[2]
        node.base = _base(declared)
        return
    for child in snode.children():
        _add(node, child, state_alone=state_alone)
    if state_alone and not node.children:
        del parent.children[node.member]


def denies_all(snode: Any) -> bool:
    """Report if a schema node carries ``nacm:default-deny-all`` (RFC 8341 section 3.4.5)."""
    return snode.get_extension("default-deny-all", prefix="ietf-netconf-acm") is not None


def _base(declared: Any) -> Base:
    from libyang.schema import Type

    base = declared.base()
    if base == Type.LEAFREF:
        return _base(declared.leafref_type())
    return {
        Type.BOOL: Base.BOOL,
        Type.EMPTY: Base.EMPTY,
        Type.BINARY: Base.BINARY,
        Type.DEC64: Base.DECIMAL,
        Type.IDENT: Base.IDENTITY,
        Type.UNION: Base.UNION,
        Type.INT8: Base.INT,
        Type.INT16: Base.INT,
        Type.INT32: Base.INT,
        Type.INT64: Base.INT64,
        Type.UINT8: Base.UINT,
        Type.UINT16: Base.UINT,
        Type.UINT32: Base.UINT,
        Type.UINT64: Base.UINT64,
    }.get(base, Base.STRING)
