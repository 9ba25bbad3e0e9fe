"""Requests have a budget: what a filter may cost is known, and nobody waits for who spends more."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lab.waiting import wait_until
from tests.contract.netconf.client import (
    Client,
    acting_as,
    rejected,
    texts,
    with_namespaces,
)
from tests.contract.netconf.conftest import Server
from tests.contract.netconf.data import OTHER, ROUTER, SID, sid, srv6, vrf
from tests.contract.netconf.wire import BASE, Wire, framed

HOSTILE = "//*[count(//*[count(//*) = 1]) = 1]"
SIDS = "//s:sid/s:prefix"


def get(filter_: str, source: str = "") -> str:
    name = "get-config" if source else "get"
    inside = f"<nc:source><nc:{source}/></nc:source>" if source else ""
    return f"<nc:{name}>{inside}{filter_}</nc:{name}>"


def by_xpath(xpath: str) -> str:
    return f'<nc:filter type="xpath" select="{xpath}"/>'


def by_subtree(inside: str) -> str:
    return f"<nc:filter>{srv6(f'<s:local-sids>{inside}</s:local-sids>')}</nc:filter>"


def children(server: Server) -> list[int]:
    """Processes that the server has started."""
    found = []
    for task in Path(f"/proc/{server.process.pid}/task").iterdir():
        try:
            found += [int(child) for child in (task / "children").read_text().split()]
        except FileNotFoundError:
            continue  # the thread is gone
    return found


@pytest.fixture(autouse=True)
def configured(client: Client) -> None:
    client.edit(ROUTER)
    client.edit(srv6(sid(OTHER)))


def ask(server: Server, inside: str) -> Wire:
    """A session that has asked, and waits for the answer."""
    wire = Wire(server.socket, seconds=50)
    wire.send(
        framed(f'<rpc xmlns="{BASE}" message-id="1">{with_namespaces(inside)}</rpc>'.encode())
    )
    return wire


@pytest.mark.parametrize("source", ["", "running"])
def test_a_costly_filter_holds_up_nobody(server: Server, client: Client, source: str) -> None:
    with ask(server, get(by_xpath(HOSTILE), source)):
        wait_until(lambda: children(server))
        begin = time.monotonic()
        for table in ("101", "102", "103"):
            client.edit(srv6(vrf(table=table)))
        assert time.monotonic() - begin < 3
        assert children(server)
    # Its client is gone.
    wait_until(lambda: not children(server), timeout=3)


def test_the_end_of_a_session_ends_its_evaluation(server: Server, client: Client) -> None:
    with ask(server, get(by_xpath(HOSTILE))) as wire:
        wait_until(lambda: children(server))
        sessions = texts(client.rpc("<nc:get/>"), "//m:sessions/m:session/m:session-id")
        (other,) = set(sessions) - {client.id}
        client.manager.kill_session(other)
        wait_until(lambda: not children(server), timeout=3)
        assert wire.ended()


def test_who_only_sends_no_more_gets_the_answer(server: Server) -> None:
    with ask(server, get(by_xpath("//s:sid[s:vrf = 'red']/s:prefix"))) as wire:
        wire.socket.shutdown(socket.SHUT_WR)
        assert texts(wire.reply(), SIDS) == [SID]


def test_work_has_an_end(server: Server) -> None:
    with ask(server, get(by_xpath(HOSTILE))) as wire:
        error = wire.reply()
    assert texts(error, "//nc:error-tag") == ["resource-denied"]
    assert "filter: its evaluation takes longer" in texts(error, "//nc:error-message")[0]


@pytest.mark.parametrize(
    "inside",
    [
        get(by_xpath(" or ".join(["1 = 2"] * 20_000))),
        "<nmda:get-data><nmda:datastore>ds:running</nmda:datastore><nmda:xpath-filter>"
        + " or ".join(["1 = 2"] * 20_000)
        + "</nmda:xpath-filter></nmda:get-data>",
        "<sn:establish-subscription><sn:stream>NETCONF</sn:stream><sn:stream-xpath-filter>"
        + " or ".join(["1 = 2"] * 20_000)
        + "</sn:stream-xpath-filter></sn:establish-subscription>",
        "<n:create-subscription><n:filter type='xpath' select='"
        + " or ".join(["1 = 2"] * 20_000)
        + "'/></n:create-subscription>",
    ],
)
def test_a_long_expression(server: Server, inside: str) -> None:
    begin = time.monotonic()
    with ask(server, inside) as wire:
        error = wire.reply()
    assert texts(error, "//nc:error-tag") == ["too-big"]
    assert "8192" in texts(error, "//nc:error-message")[0]
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize(
    "nested",
    [
        "(" * 90 + "1" + ")" * 90,
        "not(" * 90 + "1" + ")" * 90,
        "-" * 4000 + "1",
    ],
)
def test_a_nested_expression(server: Server, client: Client, nested: str) -> None:
    """The server outlives it; what is nested too deeply ends the process that evaluates it."""
    with ask(server, get(by_xpath(nested), "running")) as wire:
        assert wire.reply() is not None
    assert client.texts("//s:vrf/s:name") == ["red"]


def test_some_at_a_time(server: Server, client: Client) -> None:
    """Of one user two are evaluated; the next waits for a while, and is rejected."""
    hostile = [ask(server, get(by_xpath(HOSTILE))) for _ in range(2)]
    wait_until(lambda: len(children(server)) == 2)
    rejected(lambda: client.rpc(get(by_xpath("//s:sid[s:vrf]"))), "resource-denied", "of user root")
    # What is plain needs no place.
    assert texts(client.rpc(get(by_xpath("/s:srv6/s:local-sids/s:sid/s:prefix"))), SIDS)
    for wire in hostile:
        wire.socket.close()


@pytest.mark.parametrize(
    ("xpath", "found"),
    [
        ("//s:sid[s:vrf='red']/s:prefix", [SID]),
        ("//s:sid[not(s:vrf)]", [OTHER]),
        ("/s:srv6/s:local-sids/s:sid[last()]", [OTHER]),
        ("/s:srv6/s:local-sids/s:sid[s:vrf = ../../s:vrfs/s:vrf/s:name]", [SID]),
        ("/s:srv6/s:vrfs | /s:srv6/s:local-sids/s:sid[s:vrf]", [SID]),
        (f"/s:srv6/s:local-sids/s:sid[s:prefix='{SID}' or s:prefix='{OTHER}']", [SID, OTHER]),
        ("//s:sid[derived-from-or-self(s:behavior, 's:End.DT46')]", [SID]),
        ("//s:nothing", []),
    ],
)
def test_what_is_not_plain(client: Client, xpath: str, found: list[str]) -> None:
    for source in ("", "running"):
        tree = client.rpc(get(by_xpath(xpath), source))
        assert sorted(texts(tree, SIDS)) == found
    for datastore in ("running", "operational"):
        data = client.rpc(
            f"<nmda:get-data><nmda:datastore>ds:{datastore}</nmda:datastore>"
            f"<nmda:xpath-filter>{xpath}</nmda:xpath-filter></nmda:get-data>"
        )
        assert sorted(texts(data, SIDS)) == found


def test_a_value_is_no_selection(client: Client) -> None:
    """RFC 6241 section 8.9.5.1."""
    for source in ("", "running"):
        call = get(by_xpath("1 = 2"), source)
        rejected(lambda call=call: client.rpc(call), "invalid-value", "selects no nodes")


def test_levels_of_what_is_not_plain(client: Client) -> None:
    def levels(depth: int, filter_: str) -> list[str]:
        data = client.rpc(
            "<nmda:get-data><nmda:datastore>ds:running</nmda:datastore>"
            f"{filter_}<nmda:max-depth>{depth}</nmda:max-depth></nmda:get-data>"
        )
        return sorted(texts(data, "//s:sid/*"))

    xpath = "<nmda:xpath-filter>/s:srv6/s:local-sids/s:sid[s:vrf]</nmda:xpath-filter>"
    assert levels(1, xpath) == [SID]
    assert len(levels(2, xpath)) > 2
    both = srv6("<s:local-sids><s:sid/></s:local-sids><s:vrfs/>")
    subtree = f"<nmda:subtree-filter>{both}</nmda:subtree-filter>"
    assert levels(1, subtree) == [SID, OTHER]


def test_defaults_of_what_is_not_plain(client: Client) -> None:
    xpath = "//s:locator[s:name='main']"
    mode = "<wd:with-defaults>{}</wd:with-defaults>"
    for name, lengths in (("report-all", ["32"]), ("explicit", [])):
        tree = client.rpc(get(by_xpath(xpath) + mode.format(name), "running"))
        assert texts(tree, "//s:block-length") == lengths


def test_a_filter_sees_only_what_its_user_may_read(client: Client, server: Server) -> None:
    """A predicate on what is hidden would say whether it holds."""
    client.edit(
        "<acm:nacm><acm:groups><acm:group><acm:name>guests</acm:name><acm:user-name>nobody"
        "</acm:user-name></acm:group></acm:groups><acm:rule-list><acm:name>guests</acm:name>"
        "<acm:group>guests</acm:group><acm:rule><acm:name>hide</acm:name>"
        "<acm:path>/s:srv6/s:vrfs</acm:path><acm:access-operations>read</acm:access-operations>"
        "<acm:action>deny</acm:action></acm:rule></acm:rule-list></acm:nacm>"
    )
    guest = Client(server.socket, user="nobody")
    xpath = by_xpath("//s:sid[/s:srv6/s:vrfs/s:vrf/s:table-id = 100]/s:prefix")
    for source in ("", "running"):
        assert texts(client.rpc(get(xpath, source)), SIDS)
        assert texts(guest.rpc(get(xpath, source)), SIDS) == []
    guest.close()
    client.edit('<acm:nacm nc:operation="remove"/>')


def cpu(server: Server) -> int:
    """Ticks that the server and its processes have taken; the machine's load does not count."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def sids(count: int) -> str:
    entry = (
        "<s:sid><s:prefix>fcbb:0:1:{:x}::/64</s:prefix><s:locator>main</s:locator>"
        "<s:behavior>s:End</s:behavior></s:sid>"
    )
    entries = "".join(entry.format(number) for number in range(0x1000, 0x1000 + count))
    return srv6(f"<s:local-sids>{entries}</s:local-sids>")


FILTERS = {
    "plain": by_xpath("/s:srv6/s:local-sids/s:sid/s:prefix"),
    "a search": by_xpath("//s:sid/s:prefix"),
    "subtree": by_subtree("<s:sid><s:behavior>s:End</s:behavior></s:sid>"),
}


@pytest.mark.parametrize("filter_", FILTERS.values(), ids=FILTERS)
def test_ten_times_the_data_take_ten_times_the_work(
    server: Server, client: Client, filter_: str
) -> None:
    spent = []
    for count in (100, 1000):
        client.edit(sids(count))
        client.rpc(get(filter_, "running"))
        before = cpu(server)
        for _ in range(3):
            found = client.rpc(get(filter_, "running"))
        spent.append(cpu(server) - before)
        assert len(texts(found, SIDS)) >= count
    few, many = spent
    assert many < 20 * max(few, 3), spent


def test_ten_times_the_subtree_takes_ten_times_the_work(server: Server, client: Client) -> None:
    spent = []
    client.edit(sids(300))
    for count in (100, 1000):
        wanted = "".join(
            f"<s:sid><s:prefix>fcbb:0:1:{n:x}::/64</s:prefix></s:sid>"
            for n in range(0x1000, 0x1000 + count)
        )
        filter_ = by_subtree(wanted)
        before = cpu(server)
        for _ in range(5):
            client.rpc(get(filter_, "running"))
        spent.append(cpu(server) - before)
    few, many = spent
    assert many < 20 * max(few, 3), spent


def test_a_subtree_that_compares_too_much(server: Server, client: Client) -> None:
    """Each node of the filter is compared to each entry, as it names no key."""
    client.edit(sids(2000))
    wanted = "<s:sid><s:vrf>none</s:vrf></s:sid>" * 10_000
    with ask(server, get(by_subtree(wanted), "running")) as wire:
        error = wire.reply()
    assert texts(error, "//nc:error-tag") == ["too-big"]
    assert "compares more than" in texts(error, "//nc:error-message")[0]


SIBLINGS = {
    "unknown": srv6("".join(f"<s:n{n}/>" for n in range(1001))),
    "of no namespace": "".join(f"<n{n}/>" for n in range(1001)),
    "keys": srv6("<s:vrfs><s:vrf>" + "<s:name>a</s:name>" * 1001 + "</s:vrf></s:vrfs>"),
    "at the top": "<s:srv6/>" * 1001,
}


@pytest.mark.parametrize("inside", SIBLINGS.values(), ids=SIBLINGS)
@pytest.mark.parametrize("around", ["<nc:get><nc:filter>{}</nc:filter></nc:get>",
                                    "<nc:edit-config><nc:target><nc:candidate/></nc:target>"
                                    "<nc:config>{}</nc:config></nc:edit-config>"])  # fmt: skip
def test_siblings_that_libyang_reads_in_quadratic_time(
    client: Client, inside: str, around: str
) -> None:
    rejected(lambda: client.rpc(around.format(inside)), "too-big", "1000 elements that are no")


def test_entries_of_lists_may_be_many(client: Client) -> None:
    """Also of several lists in turn, and in another module's namespace."""
    client.edit(sids(2000))
    names = "".join(f"<s:interface>eth{n}</s:interface>" for n in range(2000))
    client.edit(srv6(vrf("blue", "102", more=names)), target="candidate")
    client.manager.discard_changes()
    wanted = "<s:sid/><bgp:nothing/>" * 900
    assert texts(client.rpc(get(by_subtree(wanted), "running")), SIDS)


def test_a_long_message_of_who_writes_nothing(server: Server, client: Client) -> None:
    """libyang would make fifty times as much memory of it."""
    many = "<s:sid/>" * 20_000
    with acting_as("nobody"), ask(server, get(by_subtree(many))) as wire:
        error = wire.reply()
        assert wire.ended()
    assert texts(error, "//nc:error-tag") == ["too-big"]
    before = server.resident()
    held = []
    with acting_as("nobody"):
        for _ in range(20):
            held.append(Wire(server.socket))
            held[-1].send(b"\n#100000000\n<rpc ")
            assert texts(held[-1].reply(), "//nc:error-tag") == ["too-big"]
    assert server.resident() - before < 30 << 10
    for wire in held:
        wire.socket.close()
    # Who may write sends configurations.
    assert texts(client.rpc(get(by_subtree(many))), SIDS)


def test_two_large_messages_are_taken_at_a_time(server: Server, client: Client) -> None:
    """libyang makes a multiple of each of them. What is no larger than 16 MiB waits for none."""
    held = []
    for _ in range(2):
        held.append(Wire(server.socket))
        held[-1].send(b"\n#20000000\n<rpc ")
    # They have their places when all of this has been taken.
    for wire in held:
        wire.send(b"x" * 1_000_000)
    third = Wire(server.socket)
    with ThreadPoolExecutor(1) as pool:
        whole = f"<get-config><source><running/></source></get-config>{' ' * 17_000_000}"
        reply = pool.submit(third.call, whole)
        with pytest.raises(TimeoutError):
            reply.result(0.5)
        client.config()
        held[0].socket.close()
        assert reply.result(30).find(f"{{{BASE}}}data") is not None
    third.socket.close()
    held[1].socket.close()


def test_sessions_of_a_user_are_counted(server: Server) -> None:
    with acting_as("nobody"):
        held = [Wire(server.socket) for _ in range(64)]
        with pytest.raises((EOFError, OSError)):
            Wire(server.socket)
    # Others still get in, and the user, once it ended one.
    with Wire(server.socket) as wire:
        assert texts(wire.call("<close-session/>"), "//nc:ok") == ["ok"]
    held.pop().socket.close()

    def gets_in() -> bool:
        try:
            with acting_as("nobody"):
                held.append(Wire(server.socket))
        except (EOFError, OSError):
            return False
        return True

    wait_until(gets_in)
    for wire in held:
        wire.socket.close()
