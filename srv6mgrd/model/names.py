"""Names of declared objects, as messages, logs and the command line show them. Pure.

``kinds.object.Object.label`` names what they become in the kernel and in FRR. Without ``name`` an
entry has no key yet; without ``vrf`` it is in none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from srv6mgrd.model.leaking import DEFAULT_VRF
from srv6mgrd.model.references import Part, Ref
from srv6mgrd.model.status import Kind, ObjectRef


def _named(kind: str, name: object, vrf: str | None = None) -> str:
    return f"{kind}{f' {name}' if name else ''}{f' of VRF {vrf}' if vrf else ''}"


def some(listed: Sequence[object], most: int, between: str = ", ") -> str:
    """The first ``most`` of several, and how many more there are."""
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return between.join(map(str, listed[:most])) + more


def sid(name: object = "") -> str:
    return _named("SID", name)


def vrf(name: str = "") -> str:
    return _named("VRF", name)


def locator(name: str = "") -> str:
    return _named("locator", name)


def segment_list(name: str = "") -> str:
    return _named("segment list", name)


def interface(name: str = "") -> str:
    return _named("interface", name)


def routing_policy(name: str = "") -> str:
    return _named("routing policy", name)


def prefix_set(name: str = "") -> str:
    return _named("prefix set", name)


def community_set(name: str = "") -> str:
    return _named("community set", name)


def as_path_set(name: str = "") -> str:
    return _named("AS path set", name)


def route(name: object = "", vrf: str | None = None) -> str:
    """A steered route."""
    return _named("route", name, vrf)


def static_route(name: object = "", vrf: str | None = None) -> str:
    return _named("static route", name, vrf)


def leak(source: str, vrf: str = DEFAULT_VRF) -> str:
    return f"import of VRF {vrf} from VRF {source}"


def bgp(vrf: str | None = None) -> str:
    return _named("BGP", "", vrf)


def bgp_neighbor(name: str = "", vrf: str | None = None) -> str:
    return _named("BGP neighbor", name, vrf)


def bgp_peer_group(name: str = "", vrf: str | None = None) -> str:
    return _named("BGP peer group", name, vrf)


def ospf(version: int, vrf: str) -> str:
    return _named("OSPF" if version == 2 else "OSPFv3", "", vrf)


def measurement_session(name: str = "") -> str:
    return _named("measurement session", name)


def service_function(name: str = "") -> str:
    return _named("service function", name)


def function_group(name: str = "") -> str:
    return _named("service function group", name)


def chain(name: str = "") -> str:
    return _named("service function chain", name)


def classifier(name: str = "") -> str:
    return _named("classifier", name)


def isis_interface(name: str = "") -> str:
    return _named("IS-IS interface", name)


_KINDS: dict[Kind, Callable[[str], str]] = {
    Kind.SID: sid,
    Kind.VRF: vrf,
    Kind.VRF_BGP: bgp,
    Kind.LOCATOR: locator,
    Kind.SEGMENT_LIST: segment_list,
    Kind.INTERFACE: interface,
    Kind.ROUTING_POLICY: routing_policy,
    Kind.SERVICE_FUNCTION: service_function,
    Kind.SERVICE_FUNCTION_GROUP: function_group,
    Kind.SERVICE_FUNCTION_CHAIN: chain,
    Kind.CLASSIFIER: classifier,
    Kind.OSPF: lambda vrf: ospf(2, vrf),
    Kind.OSPFV3: lambda vrf: ospf(3, vrf),
}


def of_ref(ref: Ref) -> str:
    match ref:
        case ObjectRef(Kind.ROUTE, name):
            table, _, prefix = name.partition(" ")
            return route(prefix, None if table == "main" else table)
        case ObjectRef(Kind.STATIC_ROUTE, name):
            of, _, prefix = name.partition(" ")
            return static_route(prefix, of)
        case ObjectRef(Kind.ROUTE_LEAK, name):
            importer, _, source = name.partition(" ")
            return leak(source, importer)
        case ObjectRef(kind, name):
            return _KINDS[kind](name)
        case Part("peer-group", name):
            return bgp_peer_group(name)
        case Part("neighbor" | "unnumbered-neighbor", name):
            return bgp_neighbor(name)
        case Part("isis-interface", name):
            return isis_interface(name)
        case Part(kind, _):
            return {"bgp": "BGP", "isis": "IS-IS"}[kind]


# By the name of their list; a peer group of BGP is one of a VRF, or not.
OF_LISTS: dict[str, Callable[[str], str]] = {
    "vrf": vrf,
    "sid": sid,
    "locator": locator,
    "segment-list": segment_list,
    "interface": interface,
    "policy-definition": routing_policy,
    "peer-group": lambda name: _named("peer group", name),
    "prefix-set": prefix_set,
    "community-set": community_set,
    "as-path-set": as_path_set,
    "session": measurement_session,
    "service-function": service_function,
    "service-function-group": function_group,
    "service-function-chain": chain,
    "classifier": classifier,
}

_ROOT = "/srv6mgr-srv6:srv6"
_BGP = "/srv6mgr-bgp:bgp"
_ISIS = "/srv6mgr-isis:isis"
_MEASUREMENT = "/srv6mgr-path-measurement:path-measurement"
_CHAINING = f"{_ROOT}/srv6mgr-chain:service-chaining"
_POLICY = f"{_ROOT}/srv6mgr-routing-policy:routing-policy"
_SETS = f"{_POLICY}/defined-sets"


def _entry(path: str, key: str, group: str = "name") -> str:
    """Pattern of a list entry in a data path, its key as a group."""
    return rf"{path}\[{key}=(?P<q_{group}>['\"])(?P<{group}>.*?)(?P=q_{group})\]"


def _list(path: str, key: str) -> str:
    """The same, or the list alone: libyang reports a bad key before it knows the entry."""
    return rf"(?:{_entry(path, key)}|{path}(?![\w-]))"


_VRF = _entry(f"{_ROOT}/vrfs/vrf", "name", "vrf")
# libyang leaves the parents off the path of a duplicate.
_PARENT = f"(?:{_VRF}|{_ROOT}|)"

# Objects within an object come first.
_OBJECTS: tuple[tuple[str, Callable[..., str] | str], ...] = (
    (_PARENT + _list(f"{_BGP}/neighbor", "address"), bgp_neighbor),
    (_PARENT + _list(f"{_BGP}/unnumbered-neighbor", "interface"), bgp_neighbor),
    (_PARENT + _list(f"{_BGP}/peer-group", "name"), bgp_peer_group),
    (_PARENT + _list("/srv6mgr-steering:steering/route", "prefix"), route),
    (_PARENT + _list("/srv6mgr-routing:(?:static-routes/)?route", "prefix"), static_route),
    (_VRF + _entry("/srv6mgr-routing:route-leaking/import-from", "vrf", "source"), leak),
    (_VRF + r"/srv6mgr-routing:route-leaking\b", lambda vrf: _named("import", "", vrf)),
    (_entry(f"{_ROOT}/srv6mgr-routing:default-vrf/import-from", "vrf", "source"), leak),
    (rf"{_ROOT}/srv6mgr-routing:default-vrf\b", "default VRF"),
    (_VRF + r"/srv6mgr-ospf:ospfv3\b", lambda vrf: ospf(3, vrf)),
    (_VRF + r"/srv6mgr-ospf:ospf\b", lambda vrf: ospf(2, vrf)),
    (_list(f"{_ROOT}/vrfs/vrf", "name"), vrf),
    (_list(f"{_ROOT}/local-sids/sid", "prefix"), sid),
    (_list(f"{_ROOT}/locators/locator", "name"), locator),
    (_list(f"{_ROOT}/segment-lists/segment-list", "name"), segment_list),
    (_list(f"{_ROOT}/interfaces/interface", "name"), interface),
    (_list(f"{_POLICY}/policy-definitions/policy-definition", "name"), routing_policy),
    (_list(f"{_SETS}/prefix-sets/prefix-set", "name"), prefix_set),
    (_list(f"{_SETS}/community-sets/community-set", "name"), community_set),
    (_list(f"{_SETS}/as-path-sets/as-path-set", "name"), as_path_set),
    (_list(f"{_CHAINING}/service-function", "name"), service_function),
    (_list(f"{_CHAINING}/service-function-group", "name"), function_group),
    (_list(f"{_CHAINING}/service-function-chain", "name"), chain),
    (_list(f"{_CHAINING}/classifier", "name"), classifier),
    (rf"(?:{_ROOT})?" + _list(f"{_ISIS}/interface", "name"), isis_interface),
    (rf"(?:{_ROOT})?" + _list(f"{_MEASUREMENT}/session", "name"), measurement_session),
    (
        _entry("/srv6mgr-interfaces:ipv[46]/address", "ip"),
        lambda name: f"address {name} of an interface",
    ),
    (rf"{_ROOT}{_BGP}\b", "BGP"),
    (rf"{_ROOT}{_ISIS}\b", "IS-IS"),
    (rf"{_ROOT}{_MEASUREMENT}/reflector\b", "measurement reflector"),
    (rf"{_ROOT}/srv6mgr-accounting:accounting\b", "accounting"),
    (rf"{_CHAINING}\b", "service chaining"),
    (rf"{_ROOT}/encapsulation\b", "encapsulation"),
    (rf"{_ROOT}/boundary\b", "boundary"),
    (rf"{_ROOT}\b", "SRv6"),
)


def of_path(path: str, key: Callable[[str], str | None] = lambda _: None) -> str:
    """The configured object that a data path leads into: ``VRF blue``; else the path. ``key`` is
    asked for that of an entry whose path has none."""
    for pattern, name in _OBJECTS:
        if found := re.match(pattern, path):
            if isinstance(name, str):
                return name
            groups = found.groupdict()
            given = {k: groups[k] for k in ("name", "vrf", "source") if groups.get(k)}
            if "name" in groups and "name" not in given and (found_key := key(path)):
                given["name"] = found_key
            return name(**given)
    return path or "value"


def end_of(path: str) -> int:
    """Where the part of a data path ends that leads to the object."""
    return max((f.end() for pattern, _ in _OBJECTS if (f := re.match(pattern, path))), default=0)
