"""The part of our schema that the tests need, built by hand, and strategies for it."""

from __future__ import annotations

from srv6mgrd.gnmi.schema import Base, Kind, Node, root

SRV6, BGP, PROXY = "srv6mgr-srv6", "srv6mgr-bgp", "srv6mgr-proxy"


def leaf(name: str, base: Base = Base.STRING, module: str = SRV6, **more: object) -> Node:
    return Node(name, module, Kind.LEAF, base=base, **more)  # type: ignore[arg-type]


def state(*more: Node, module: str = SRV6) -> Node:
    node = Node("state", module, config=False)
    for child in (
        leaf("install-status", module=module, config=False),
        leaf("reason", module=module, config=False),
        leaf("since", module=module, config=False),
        leaf("last-repair", module=module, config=False),
        leaf("repairs", Base.UINT64, module=module, config=False),
        *more,
    ):
        node.add(child)
    return node


def schema() -> Node:
    """As models.load makes it."""
    top = root()
    srv6 = top.add(Node("srv6", SRV6))
    srv6.add(Node("encapsulation", SRV6)).add(
        leaf("source-address", typedef="ipv6-address-no-zone")
    )

    locator = srv6.add(Node("locators", SRV6)).add(Node("locator", SRV6, Kind.LIST, keys=("name",)))
    locator.add(leaf("name"))
    locator.add(leaf("prefix", typedef="ipv6-prefix"))
    locator.add(leaf("function-length", Base.UINT))
    locator.add(state())

    vrf = srv6.add(Node("vrfs", SRV6)).add(Node("vrf", SRV6, Kind.LIST, keys=("name",)))
    vrf.add(leaf("name"))
    vrf.add(leaf("table-id", Base.UINT))
    vrf.add(Node("interface", SRV6, Kind.LEAF_LIST))
    vrf.add(state())
    bgp = vrf.add(Node("bgp", BGP, presence=True))
    bgp.add(leaf("rd", module=BGP))
    bgp.add(Node("redistribute", BGP)).add(leaf("connected", Base.BOOL, BGP))
    bgp.add(state(leaf("advertised-sid", module=BGP, config=False), module=BGP))

    sid = srv6.add(Node("local-sids", SRV6)).add(Node("sid", SRV6, Kind.LIST, keys=("prefix",)))
    sid.add(leaf("prefix", typedef="ipv6-prefix"))
    sid.add(leaf("locator"))
    sid.add(leaf("behavior", Base.IDENTITY))
    sid.add(leaf("vrf"))
    counters = Node("counters", SRV6, config=False)
    for name in ("in-pkts", "in-octets", "in-errors"):
        counters.add(leaf(name, Base.UINT64, config=False))
    counters.add(leaf("discontinuity-time", config=False))
    sid.add(state(counters))
    sid.add(_proxy())
    return top


def _proxy() -> Node:
    proxy = Node("proxy", PROXY, presence=True)
    proxy.add(leaf("interface", module=PROXY))
    state = proxy.add(Node("state", PROXY, config=False))
    errors = state.add(Node("errors", PROXY, config=False))
    errors.add(leaf("no-srh", Base.UINT64, PROXY, config=False, typedef="counter64"))
    chain = state.add(Node("chain", PROXY, config=False))
    chain.add(leaf("source-address", module=PROXY, config=False))
    segment = chain.add(Node("segment", PROXY, Kind.LIST, config=False, keys=("index",)))
    segment.add(leaf("index", Base.UINT, PROXY, config=False))
    segment.add(leaf("sid", module=PROXY, config=False))
    return proxy


def walk(top: Node, path: str) -> Node:
    """The node at a schema path of bare names."""
    node = top
    for name in path.strip("/").split("/"):
        child = node.child(name)
        assert child is not None, (path, name)
        node = child
    return node
