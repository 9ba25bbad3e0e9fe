"""State of SIDs, which srv6-netconfd reads from the store, beside the way of all other data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from lab.waiting import wait_until
from srv6mgrd.counters import proxies
from srv6mgrd.counters.node import publish
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.netconf.client import NS, Client, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import OTHER, ROUTER, SID, sid, srv6

SIDS = "/s:srv6/s:local-sids/s:sid"
OF_SID = f"{SIDS}[s:prefix='{SID}']"
# Always true, and more than a plain path: sysrepo answers.
LONG_WAY = "[true()]"
PROXY = "urn:srv6mgr:yang:srv6mgr-proxy"
OPERATIONAL = "<nmda:datastore>ds:operational</nmda:datastore>"


def get(client: Client, xpath: str) -> Any:
    return client.rpc(f'<nc:get><nc:filter type="xpath" select="{xpath}"/></nc:get>')


def get_data(client: Client, xpath: str, more: str = "") -> Any:
    filter_ = f"<nmda:xpath-filter>{xpath}</nmda:xpath-filter>"
    return client.rpc(f"<nmda:get-data>{OPERATIONAL}{filter_}{more}</nmda:get-data>")


def reported(tree: Any) -> dict[str, dict[str, str]]:
    """Values of each SID by the names of their leaves."""
    return {
        entry.findtext("s:prefix", namespaces=NS): {
            leaf.tag: leaf.text for leaf in entry.iter() if len(leaf) == 0
        }
        for entry in tree.iterfind(".//s:sid", NS)
    }


@pytest.fixture(autouse=True)
def counted(client: Client, router: Router) -> None:
    client.edit(ROUTER)
    client.edit(srv6(sid(OTHER)))
    now = time.time_ns()
    router.store.set_statuses({
        ObjectRef(Kind.SID, SID): ObjectStatus(InstallStatus.INSTALLED, since=now, repairs=2),
        ObjectRef(Kind.LOCATOR, "main"): ObjectStatus(InstallStatus.INSTALLED, since=now),
        ObjectRef(Kind.SID, OTHER): ObjectStatus(
            InstallStatus.FAILED, "SID <x>: a & b; try", now, last_repair=now - 10**9
        ),
    })  # fmt: skip
    counters = {SID: SidCounters(7, 700, 1, now), OTHER: SidCounters(8, 2**64 - 1, 0, 0)}
    router.store.set_counters(counters, {}, now)


@pytest.fixture
def elsewhere(server: Server) -> Iterator[None]:
    """The server's store is another one than that which sysrepo is answered from."""
    aside = server.store.with_name("aside")
    server.store.rename(aside)
    store = StoreWriter(server.store)
    store.set_statuses({ObjectRef(Kind.SID, SID): ObjectStatus(InstallStatus.INSTALLED)})
    store.set_counters({SID: SidCounters(42, 4200, 0, 0)}, {}, time.time_ns())
    yield
    store.close()
    aside.rename(server.store)


@pytest.mark.parametrize("sids", [SIDS, OF_SID, f"{SIDS}[s:prefix='::9/128']"])
@pytest.mark.parametrize(
    "below", ["", "/s:counters", "/s:counters/s:in-octets", "/s:reason", "/s:last-repair"]
)
def test_it_is_what_sysrepo_has(client: Client, sids: str, below: str) -> None:
    path = f"{sids}/s:state{below}"
    whole = reported(get(client, path + LONG_WAY))
    assert reported(get(client, path)) == whole
    assert reported(get_data(client, path)) == whole
    assert bool(whole) == ("::9/" not in sids and (sids == SIDS or "repair" not in below))


SUBTREES = {
    "counters": "<s:sid><s:state><s:counters/></s:state></s:sid>",
    "state": "<s:sid><s:state/></s:sid>",
    "of one": f"<s:sid><s:prefix>{SID}</s:prefix><s:state><s:counters/></s:state></s:sid>",
    "with keys": "<s:sid><s:prefix/><s:state/></s:sid>",
}


@pytest.mark.parametrize("kind", SUBTREES)
@pytest.mark.usefixtures("elsewhere")
def test_it_comes_from_the_store(client: Client, kind: str) -> None:
    filter_ = srv6(f"<s:local-sids>{SUBTREES[kind]}</s:local-sids>")
    for tree in (
        client.rpc(f"<nc:get><nc:filter>{filter_}</nc:filter></nc:get>"),
        client.rpc(
            f"<nmda:get-data>{OPERATIONAL}<nmda:subtree-filter>{filter_}</nmda:subtree-filter>"
            "</nmda:get-data>"
        ),
    ):
        assert reported(tree)[SID][f"{{{NS['s']}}}in-pkts"] == "42"


@pytest.mark.usefixtures("elsewhere")
def test_keys_are_compared_in_canonical_form(client: Client) -> None:
    one = f"{SIDS}[s:prefix='FCBB:0:1:64:0::/64']/s:state/s:counters/s:in-pkts"
    assert texts(get(client, one), "//s:in-pkts") == ["42"]
    rejected = f"{SIDS}[s:prefix='nothing']/s:state/s:counters"
    assert reported(get(client, rejected)) == {}


ALL = "/s:srv6/s:local-sids/s:sid"
ONE = f"{ALL}[s:prefix='{OTHER}']"
DENIED = "<acm:read-default>deny</acm:read-default>"
# Defaults and rules (name of their list's group, path, action), in order.
RULES: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "one SID": ("", [("*", ONE, "deny")]),
    "counters": ("", [("*", f"{ALL}/s:state/s:counters", "deny")]),
    "a leaf of one": ("", [("*", f"{ONE}/s:state/s:counters/s:in-pkts", "deny")]),
    "all but one": ("", [("*", ONE, "permit"), ("*", ALL, "deny")]),
    "all, which comes first": ("", [("*", ALL, "deny"), ("*", ONE, "permit")]),
    "all but a leaf": ("", [("*", f"{ALL}/s:state/s:reason", "permit"), ("*", "/s:srv6", "deny")]),
    "all but the counters": (DENIED, [("*", f"{ALL}/s:state/s:counters", "permit")]),
    "all but the counters of one": (DENIED, [("*", f"{ONE}/s:state/s:counters", "permit")]),
    "all by default": (DENIED, []),
    "nothing": (DENIED, [("*", "/", "permit")]),
    "of others": ("", [("operators", ALL, "deny")]),
    "of the user's group": ("", [("guests", ALL, "deny")]),
    "of a group of the system": ("", [("nogroup", ALL, "deny")]),
    "elsewhere": ("", [("*", "/s:srv6/s:vrfs", "deny")]),
    "where NACM is off": (f"<acm:enable-nacm>false</acm:enable-nacm>{DENIED}", []),
    "where groups of the system are no groups": (
        "<acm:enable-external-groups>false</acm:enable-external-groups>",
        [("nogroup", ALL, "deny")],
    ),
}
HIDE_NOTHING = {
    "nothing", "of others", "elsewhere", "where NACM is off",
    "where groups of the system are no groups",
}  # fmt: skip


def nacm(defaults: str, rules: Sequence[tuple[str, str, str]]) -> str:
    lists = "".join(
        f"<acm:rule-list><acm:name>{number}</acm:name><acm:group>{group}</acm:group><acm:rule>"
        f"<acm:name>one</acm:name><acm:path>{path}</acm:path>"
        f"<acm:access-operations>read</acm:access-operations><acm:action>{action}</acm:action>"
        "</acm:rule></acm:rule-list>"
        for number, (group, path, action) in enumerate(rules)
    )
    guests = (
        "<acm:groups><acm:group><acm:name>guests</acm:name><acm:user-name>nobody</acm:user-name>"
        "</acm:group></acm:groups>"
    )
    return f"<acm:nacm>{defaults}{guests}{lists}</acm:nacm>"


@pytest.fixture
def alice(server: Server, client: Client) -> Iterator[Client]:
    alice = Client(server.socket, "nobody")
    yield alice
    alice.close()
    client.edit('<acm:nacm nc:operation="remove"/>')


@pytest.mark.parametrize("kind", RULES)
def test_rules_hide_what_they_hide_by_sysrepo(client: Client, alice: Client, kind: str) -> None:
    client.edit(nacm(*RULES[kind]))
    for below in ("", "/s:counters", "/s:reason"):
        path = f"{SIDS}/s:state{below}"
        assert reported(get(alice, path)) == reported(get(alice, path + LONG_WAY)), path
        assert reported(get_data(alice, path)) == reported(get_data(alice, path + LONG_WAY)), path
    whole = reported(get(client, f"{SIDS}/s:state"))
    assert set(whole) == {SID, OTHER}
    assert (reported(get(alice, f"{SIDS}/s:state")) == whole) == (kind in HIDE_NOTHING)


@pytest.mark.usefixtures("elsewhere")
def test_with_rules_it_comes_from_the_store(client: Client, alice: Client) -> None:
    client.edit(nacm(*RULES["one SID"]))
    path = f"{SIDS}/s:state/s:counters/s:in-pkts"
    assert texts(get(alice, path), "//s:in-pkts") == ["42"]
    client.edit(nacm("", [("*", f"{ALL}[s:prefix='{SID}']/s:state", "deny")]))
    assert reported(get(alice, path)) == {}


# What has all of the state of SIDs beside other data, and the same the long way.
WHOLE = {
    "everything": ("/*", f"/*{LONG_WAY}"),
    "srv6": ("/s:srv6", f"/s:srv6{LONG_WAY}"),
    "SIDs": ("/s:srv6/s:local-sids", f"/s:srv6/s:local-sids{LONG_WAY}"),
    "entries": (SIDS, SIDS + LONG_WAY),
}


def leaves(tree: Any) -> set[tuple[str, str]]:
    """Paths and values below srv6, of list entries with their keys; of the rest paths alone."""
    found = set()
    for leaf in tree.iter():
        steps = [leaf, *leaf.iterancestors()]
        path = "/".join(
            node.tag + "".join(node.xpath("*[1]/text()")[:1] if "}sid" in node.tag else [])
            for node in reversed(steps)
        )
        value = leaf.text if len(leaf) == 0 and f"{{{NS['s']}}}srv6" in path else ""
        found.add((path, value or ""))
    return found


CONFIG = "<nmda:config-filter>{}</nmda:config-filter>"
MORE = (
    "", CONFIG.format("true"), CONFIG.format("false"),
    "<nmda:max-depth>3</nmda:max-depth>", "<nmda:with-origin/>",
)  # fmt: skip


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("rules", ["", "one SID", "counters", "all but the counters"])
def test_all_of_it_is_what_sysrepo_has(
    client: Client, alice: Client, kind: str, rules: str
) -> None:
    plain, long = WHOLE[kind]
    client.edit(nacm(*RULES.get(rules, ("", []))))
    for reader in (client, alice):
        whole = leaves(get(reader, long))
        assert leaves(get(reader, plain)) == whole
        for more in MORE:
            assert leaves(get_data(reader, plain, more)) == leaves(get_data(reader, long, more))
    assert any(SID in path and value == "7" for path, value in leaves(get(client, plain)))


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("what", ["", f"<nc:filter>{srv6('')}</nc:filter>"])
def test_of_all_of_it_state_of_sids_comes_from_the_store(client: Client, what: str) -> None:
    data = what.replace("nc:filter", "nmda:subtree-filter")
    for rpc in (
        f"<nc:get>{what}</nc:get>",
        f"<nmda:get-data>{OPERATIONAL}{data}</nmda:get-data>",
        f"<nmda:get-data>{OPERATIONAL}{data}{CONFIG.format('false')}</nmda:get-data>",
    ):
        tree = client.rpc(rpc)
        assert texts(tree, f"//s:sid[s:prefix='{SID}']/s:state/s:counters/s:in-pkts") == ["42"]
        configured = [] if "config-filter" in rpc else ["End"]
        assert texts(tree, f"//s:sid[s:prefix='{OTHER}']/s:behavior") == configured
        assert texts(tree, f"//s:sid[s:prefix='{OTHER}']/s:state") == []
        assert texts(tree, "//s:locator/s:state/s:install-status") == ["installed"]


def test_all_of_it_has_the_state_of_proxies(client: Client, server: Server) -> None:
    """Which the store has no room for: srv6mgrd reports it."""
    proxy = (
        f'<proxy xmlns="{PROXY}"><inner-type>ipv6</inner-type>'
        "<interface>eth2</interface><next-hop>2001:db8::2</next-hop></proxy>"
    )
    client.edit(srv6(sid(OTHER, "End.AD", more=proxy)))
    state = {"to-function": {"pkts": "3"}}
    reported_by_srv6mgrd = proxies.beside(server.store)
    publish(reported_by_srv6mgrd, {OTHER: state})
    plain, long = WHOLE["everything"]
    tree = get(client, plain)
    assert leaves(tree) == leaves(get(client, long))
    packets = "//p:proxy/p:state/p:to-function/p:pkts/text()"
    assert tree.xpath(packets, namespaces={"p": PROXY}) == ["3"]
    reported_by_srv6mgrd.unlink()


def test_without_a_store_sysrepo_answers(client: Client, server: Server) -> None:
    aside = server.store.with_name("aside")
    server.store.rename(aside)
    try:
        assert set(reported(get(client, f"{SIDS}/s:state"))) == {SID, OTHER}
    finally:
        aside.rename(server.store)


@pytest.mark.parametrize("way", ["", LONG_WAY], ids=["from the store", "through sysrepo"])
def test_status_is_unknown_once_srv6mgrd_reports_no_more(
    client: Client, router: Router, way: str
) -> None:
    router.store.renew_lease(0)
    try:
        found = reported(get(client, f"{OF_SID}{way}/s:state"))[SID]
        assert found[f"{{{NS['s']}}}install-status"] == "unknown"
        assert "srv6mgrd does not report" in found[f"{{{NS['s']}}}reason"]
    finally:
        router.store.renew_lease(86_400)
    found = reported(get(client, f"{OF_SID}{way}/s:state"))[SID]
    assert found[f"{{{NS['s']}}}install-status"] == "installed"


def test_without_srv6mgrd_other_objects_have_a_status_too(client: Client, router: Router) -> None:
    installed = ObjectStatus(InstallStatus.INSTALLED, since=time.time_ns())
    route = "192.0.2.0/24"
    refs = [
        ObjectRef(Kind.LOCATOR, "main"),
        ObjectRef(Kind.VRF, "red"),
        ObjectRef(Kind.VRF_BGP, "red"),
        ObjectRef(Kind.INTERFACE, "eth1"),
        ObjectRef(Kind.ROUTE, f"red {route}"),
        ObjectRef(Kind.ROUTE, f"main {route}"),
    ]
    router.store.set_statuses(dict.fromkeys(refs, installed))
    red = "s:vrfs/s:vrf[s:name='red']"
    paths = ["s:locators", f"{red}/s:state", f"{red}/bgp:bgp", "s:interfaces", red, "*[4]"]

    def statuses() -> list[list[str]]:
        found = (get(client, f"/s:srv6/{path}") for path in paths)
        return [texts(tree, "//*[local-name()='install-status']") for tree in found]

    before = statuses()
    assert before[:4] == [["installed"]] * 4
    assert before[4] == ["installed"] * 3
    with router.gone():
        wait_until(lambda: statuses() == before)
        router.store.renew_lease(0)
        unknown = [["unknown"] * len(each) for each in before]
        assert statuses() == unknown
    router.store.renew_lease(86_400)
    assert statuses() == before
