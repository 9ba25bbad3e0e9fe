"""Subscribe (gnmi-specification.md 3.5)."""

from __future__ import annotations

import json
import time
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_ext_pb2 as ext
from gnmi_pb import gnmi_pb2 as pb
from gnmi_pb import gnmi_pb2_grpc as stubs

from srv6mgrd.model.proxy_state import ProxyCounts, ProxyState
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.gnmi.client import Client, Core, deletes, shown, subscription, updates
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import SID, SRV6

ENTRY = f"/srv6/local-sids/sid[prefix={SID}]"
RED = "/srv6/vrfs/vrf[name=red]"
PROXY_SID = "/srv6/local-sids/sid[prefix=fcbb:0:1:ad::/64]"
PROXY = f"{PROXY_SID}/proxy"
AD = {
    "locator": "main",
    "behavior": "End.AD",
    "srv6mgr-proxy:proxy": {
        "inner-type": "ipv6",
        "interface": "fw",
        "next-hop": "2001:db8:9::2",
    },
}
ONCE, POLL = pb.SubscriptionList.ONCE, pb.SubscriptionList.POLL
SID_REF, RED_REF = ObjectRef(Kind.SID, SID), ObjectRef(Kind.VRF, "red")
INSTALLED = ObjectStatus(InstallStatus.INSTALLED, since=1_000_000_000)


@pytest.fixture
def router(gnmi: Client) -> Client:
    gnmi.set(update={"/srv6": SRV6})
    return gnmi


def refused(gnmi: Client, *subscriptions: Any, **fields: Any) -> grpc.StatusCode:
    with gnmi.subscribe(*subscriptions, **fields) as stream, pytest.raises(grpc.RpcError) as e:
        stream.drain()
    code: grpc.StatusCode = e.value.code()  # type: ignore[attr-defined]
    return code


def test_once_gives_leaves_then_sync_then_ends(router: Client) -> None:
    asked = pb.SubscriptionList(
        mode=ONCE, encoding=pb.PROTO, subscription=[subscription("/srv6/vrfs")]
    )
    answers = list(router.stub.Subscribe(iter([pb.SubscribeRequest(subscribe=asked)])))
    assert answers[-1].sync_response
    leaves: dict[str, Any] = {}
    for answer in answers[:-1]:
        leaves |= updates(answer.update)
    assert leaves == {f"{RED}/name": "red", f"{RED}/table-id": 100, f"{RED}/interface": ["eth1"]}


def test_once_says_nothing_of_what_is_not_there(router: Client) -> None:
    with router.subscribe(
        subscription("/srv6/vrfs/vrf[name=green]"), subscription(f"{RED}/table-id"), mode=ONCE
    ) as stream:
        assert stream.until_sync() == {f"{RED}/table-id": 100}


def test_poll_tells_what_is_then_answers_each_poll(router: Client) -> None:
    with router.subscribe(subscription(f"{RED}/table-id"), mode=POLL) as stream:
        assert stream.until_sync() == {f"{RED}/table-id": 100}
        assert stream.quiet()
        for table in (100, 101):
            router.set(update={f"{RED}/table-id": table})
            stream.send(pb.SubscribeRequest(poll=pb.Poll()))
            assert stream.until_sync() == {f"{RED}/table-id": table}


def test_on_change_tells_values_then_only_what_changes(router: Client) -> None:
    with router.subscribe(subscription("/srv6/vrfs")) as stream:
        assert stream.until_sync()[f"{RED}/table-id"] == 100
        before = time.time_ns()
        router.set(
            update={
                f"{RED}/table-id": 101,
                "/srv6/locators/locator[name=b]": {"prefix": "fcbb:0:2::/48"},
            }
        )
        change = stream.next().update
        assert updates(change) == {f"{RED}/table-id": 101}
        assert before <= change.timestamp <= time.time_ns()
        assert stream.quiet()


def test_on_change_tells_deletes_at_the_branch(router: Client) -> None:
    with router.subscribe(subscription("/srv6")) as stream:
        stream.until_sync()
        router.set(delete=[ENTRY, f"{RED}/interface"])
        change = stream.next().update
        assert sorted(deletes(change)) == [ENTRY, f"{RED}/interface"]
        assert not change.update


def test_on_change_below_a_deleted_branch(router: Client, core: Core) -> None:
    core.tell({SID_REF: INSTALLED})
    with router.subscribe(
        subscription("/srv6/local-sids/sid[prefix=*]/state/install-status"),
        subscription("/srv6/vrfs/vrf/table-id"),
    ) as stream:
        assert set(stream.until_sync()) == {f"{ENTRY}/state/install-status", f"{RED}/table-id"}
        router.set(delete=["/srv6"])
        assert sorted(deletes(stream.next().update)) == [
            f"{ENTRY}/state/install-status",
            f"{RED}/table-id",
        ]


def test_a_leaf_back_at_its_default_is_an_update(router: Client) -> None:
    length = "/srv6/locators/locator[name=main]/function-length"
    router.set(update={length: 20})
    with router.subscribe(subscription(length)) as stream:
        assert stream.until_sync() == {length: 20}
        router.set(delete=[length])
        change = stream.next().update
        assert updates(change) == {length: 16}
        assert not change.delete


def test_a_refused_set_is_not_seen(router: Client, core: Core) -> None:
    with router.subscribe(subscription("/srv6")) as stream:
        stream.until_sync()
        core.veto = "VRF red: no; try again"
        with pytest.raises(grpc.RpcError):
            router.set(update={f"{RED}/table-id": 101})
        assert stream.quiet()


def test_install_status_is_told_on_change(router: Client, core: Core) -> None:
    status = f"{ENTRY}/state/install-status"
    core.tell(
        {SID_REF: ObjectStatus(InstallStatus.PENDING, "VRF red is missing"), RED_REF: INSTALLED}
    )
    with router.subscribe(subscription("/srv6/local-sids/sid/state")) as stream:
        assert stream.until_sync()[status] == "pending"
        core.tell({SID_REF: INSTALLED, RED_REF: INSTALLED})
        assert updates(stream.next().update) == {
            status: "installed",
            f"{ENTRY}/state/reason": "",
            f"{ENTRY}/state/since": "1970-01-01T00:00:01.000000000+00:00",
        }
        core.tell({RED_REF: INSTALLED})
        assert deletes(stream.next().update) == [f"{ENTRY}/state"]
        assert stream.quiet()


def test_a_new_object_brings_its_state(router: Client, core: Core) -> None:
    blue = "/srv6/vrfs/vrf[name=blue]"
    with router.subscribe(subscription("/srv6/vrfs")) as stream:
        stream.until_sync()
        router.set(update={blue: {"table-id": 200}})
        assert updates(stream.next().update) == {f"{blue}/name": "blue", f"{blue}/table-id": 200}
        core.tell({ObjectRef(Kind.VRF, "blue"): INSTALLED})
        assert updates(stream.next().update)[f"{blue}/state/install-status"] == "installed"


def test_counters_are_told_on_change_when_asked_for(router: Client, core: Core) -> None:
    core.tell({SID_REF: INSTALLED})
    core.count({SID: SidCounters(1, 100, 0, 5)}, at=1)
    with router.subscribe(subscription(f"{ENTRY}/state/counters")) as stream:
        assert stream.until_sync()[f"{ENTRY}/state/counters/in-pkts"] == "1"
        core.count({SID: SidCounters(2, 100, 0, 5)}, at=7)
        while (change := stream.next().update).timestamp != 7:
            pass
        assert updates(change) == {f"{ENTRY}/state/counters/in-pkts": "2"}


@pytest.mark.parametrize("mode", [pb.ON_CHANGE, pb.TARGET_DEFINED])
def test_what_a_proxy_learns_is_told_on_change(router: Client, core: Core, mode: int) -> None:
    prefix, chain = IPv6Network("fcbb:0:1:ad::/64"), f"{PROXY}/state/chain"
    router.set(update={PROXY_SID: AD})
    first, second = map(IPv6Address, ("fcbb:0:2::", "fcbb:0:3::"))
    source = IPv6Address("2001:db8:a::1")
    core.learn({prefix: ProxyState(ProxyCounts(1, 100), source, (first,), 1_000_000_000)})
    with router.subscribe(subscription(chain, mode)) as stream:
        assert stream.until_sync()[f"{chain}/segment[index=0]/sid"] == "fcbb:0:2::"
        # Packets alone are no news.
        core.learn({prefix: ProxyState(ProxyCounts(2, 200), source, (first,), 1_000_000_000)})
        assert stream.quiet()
        core.learn({prefix: ProxyState(ProxyCounts(3, 300), source, (second,), 2_000_000_000)})
        assert updates(stream.next().update) == {
            f"{chain}/segment[index=0]/sid": "fcbb:0:3::",
            f"{chain}/last-learned": "1970-01-01T00:00:02.000000000+00:00",
        }
        core.learn({prefix: ProxyState(ProxyCounts())})
        assert f"{chain}/segment[index=0]/sid" in deletes(stream.next().update)


def test_counters_of_a_proxy_are_told_on_change_when_asked_for(router: Client, core: Core) -> None:
    prefix, counted = IPv6Network("fcbb:0:1:ad::/64"), f"{PROXY}/state/errors"
    router.set(update={PROXY_SID: AD})
    core.learn({prefix: ProxyState(ProxyCounts())})
    with router.subscribe(subscription(counted)) as stream:
        assert stream.until_sync()[f"{counted}/hop-limit"] == "0"
        core.learn({prefix: ProxyState(ProxyCounts(hop_limit=1))})
        assert updates(stream.next().update) == {f"{counted}/hop-limit": "1"}


def test_sample_sends_every_interval_with_the_time_of_the_sample(
    router: Client, core: Core
) -> None:
    core.tell({SID_REF: INSTALLED})
    core.count({SID: SidCounters(1, 100, 0, 5)}, at=42)
    counters = subscription(f"{ENTRY}/state/counters/in-pkts", pb.SAMPLE, sample_interval=0.2)
    with router.subscribe(counters, encoding=pb.PROTO) as stream:
        stream.until_sync()
        started = time.monotonic()
        for _ in range(5):
            sample = stream.next().update
            assert updates(sample) == {f"{ENTRY}/state/counters/in-pkts": 1}
            assert sample.timestamp == 42
        assert 0.9 < time.monotonic() - started < 5


def test_suppress_redundant_sends_only_what_changed(router: Client, core: Core) -> None:
    core.tell({SID_REF: INSTALLED})
    core.count({SID: SidCounters(1, 100, 0, 5)})
    counters = subscription(
        f"{ENTRY}/state/counters", pb.SAMPLE, sample_interval=0.1, suppress_redundant=True
    )
    with router.subscribe(counters) as stream:
        assert len(stream.until_sync()) == 4
        assert stream.quiet()
        core.count({SID: SidCounters(2, 100, 0, 5)})
        assert updates(stream.next().update) == {f"{ENTRY}/state/counters/in-pkts": "2"}
        assert stream.quiet()


def test_heartbeats(router: Client) -> None:
    table = f"{RED}/table-id"
    for asked in (
        subscription(table, pb.ON_CHANGE, heartbeat_interval=0.3),
        subscription(
            table, pb.SAMPLE, sample_interval=0.1, suppress_redundant=True, heartbeat_interval=0.3
        ),
    ):
        with router.subscribe(asked) as stream:
            stream.until_sync()
            started = time.monotonic()
            for _ in range(3):
                assert updates(stream.next().update) == {table: 100}
            assert 0.7 < time.monotonic() - started < 5


def test_target_defined_is_on_change_for_status_and_sampled_for_counters(
    router: Client, core: Core
) -> None:
    core.tell({SID_REF: INSTALLED})
    core.count({SID: SidCounters(1, 100, 0, 5)})
    with router.subscribe(subscription(f"{ENTRY}/state", pb.TARGET_DEFINED)) as stream:
        assert len(stream.until_sync()) == 8
        for _ in range(2):
            assert all("/counters/" in p for p in updates(stream.next().update))
        core.tell({SID_REF: ObjectStatus(InstallStatus.DRIFTED, "gone", since=1_000_000_000)})
        seen: dict[str, Any] = {}
        while f"{ENTRY}/state/install-status" not in seen:
            seen |= updates(stream.next().update)
        assert seen[f"{ENTRY}/state/install-status"] == "drifted"


def test_updates_only_begins_with_sync(router: Client) -> None:
    with router.subscribe(subscription("/srv6"), updates_only=True) as stream:
        assert stream.next().sync_response
        router.set(update={f"{RED}/table-id": 102})
        assert updates(stream.next().update) == {f"{RED}/table-id": 102}
    with router.subscribe(subscription("/srv6"), updates_only=True, mode=POLL) as stream:
        assert stream.next().sync_response
        stream.send(pb.SubscribeRequest(poll=pb.Poll()))
        assert stream.until_sync()
    with router.subscribe(subscription("/srv6"), updates_only=True, mode=ONCE) as stream:
        assert stream.next().sync_response


def test_a_path_that_does_not_exist_yet_keeps_the_stream_open(router: Client) -> None:
    green = "/srv6/vrfs/vrf[name=green]"
    with router.subscribe(subscription(green)) as stream:
        assert stream.until_sync() == {}
        router.set(update={green: {"table-id": 300}})
        assert updates(stream.next().update) == {f"{green}/name": "green", f"{green}/table-id": 300}


def test_depth_limits_what_is_told(router: Client, core: Core) -> None:
    depth = ext.Extension(depth=ext.Depth(level=1))
    core.tell({RED_REF: INSTALLED})
    asked = pb.SubscriptionList(subscription=[subscription(RED)], encoding=pb.JSON_IETF)
    request = pb.SubscribeRequest(subscribe=asked, extension=[depth])
    with router.requests(request) as stream:
        own = {f"{RED}/{leaf}" for leaf in ("name", "table-id", "interface")}
        assert set(stream.until_sync()) == own
        core.tell({RED_REF: ObjectStatus(InstallStatus.PENDING, "wait")})
        router.set(update={f"{RED}/table-id": 106})
        assert updates(stream.next().update) == {f"{RED}/table-id": 106}


def test_overlapping_subscriptions_tell_a_leaf_once(router: Client) -> None:
    with router.subscribe(subscription("/srv6/vrfs"), subscription(RED)) as stream:
        stream.until_sync()
        router.set(update={f"{RED}/table-id": 103})
        (update,) = stream.next().update.update
        assert update.val.json_ietf_val == b"103"
        assert stream.quiet()


def test_counters_of_all_sids_are_told_on_change(router: Client, core: Core) -> None:
    """They are sent as they are stored, but for those that stand still."""
    others = [f"fcbb:0:1:{n:x}::/64" for n in (0x201, 0x202)]
    entry = "/srv6/local-sids/sid[prefix={}]"
    end = {"locator": "main", "behavior": "End"}
    router.set(update={entry.format(p): end for p in others})
    sids = [SID, *others]
    core.tell({ObjectRef(Kind.SID, p): INSTALLED for p in sids})

    def count(**packets: int) -> None:
        values = dict.fromkeys(sids, 1) | {sids[int(n[1:])]: v for n, v in packets.items()}
        core.count({p: SidCounters(v, 100, 0, 5) for p, v in values.items()})

    def leaf(n: int) -> str:
        return f"{entry.format(sids[n])}/state/counters/in-pkts"

    count()
    whole = subscription(f"{entry.format('*')}/state/counters")
    leaf_by_leaf = (
        subscription(f"{entry.format('*')}/state/counters/{name}")
        for name in ("in-pkts", "in-octets", "in-errors", "discontinuity-time")
    )
    with (
        router.subscribe(whole) as stream,
        router.subscribe(whole, updates_only=True) as later,
        router.subscribe(whole, subscription(f"{entry.format('*')}/state/reason")) as both,
        router.subscribe(*leaf_by_leaf) as single,
    ):
        assert len(stream.until_sync()) == 4 * len(sids)
        assert later.next().sync_response
        assert len(both.until_sync()) == 5 * len(sids)
        assert len(single.until_sync()) == 4 * len(sids)
        assert stream.quiet()
        count(s1=2)
        for each in (stream, later, both, single):
            assert updates(each.next().update) == {leaf(1): "2"}
            assert each.quiet()
        count(s1=2, s2=9)
        for each in (stream, later, both, single):
            assert updates(each.next().update) == {leaf(2): "9"}
        router.set(delete=[entry.format(others[0])])
        assert deletes(stream.next().update) == [f"{entry.format(others[0])}/state/counters"]
        assert later.next().update.delete
        count(s1=2, s2=10)
        assert updates(stream.next().update) == {leaf(2): "10"}
        assert updates(later.next().update) == {leaf(2): "10"}


@pytest.mark.parametrize(
    "string",
    [
        "/srv6/vrfs/vrf/table-id",
        "/srv6/vrfs/vrf[name=*]/table-id",
        "/srv6/*/vrf/table-id",
        "/srv6/.../table-id",
        "/.../table-id",
    ],
)
def test_wildcards_tell_every_instance_and_those_to_come(router: Client, string: str) -> None:
    tables = {f"{RED}/table-id": 100, "/srv6/vrfs/vrf[name=green]/table-id": 300}
    with router.subscribe(subscription(string)) as stream:
        assert stream.until_sync() == {f"{RED}/table-id": 100}
        router.set(update={"/srv6/vrfs/vrf[name=green]": {"table-id": 300}})
        assert updates(stream.next().update) == {"/srv6/vrfs/vrf[name=green]/table-id": 300}
        router.set(delete=["/srv6/vrfs/vrf[name=green]"])
        assert deletes(stream.next().update) == ["/srv6/vrfs/vrf[name=green]/table-id"]
    router.set(update={"/srv6/vrfs/vrf[name=green]": {"table-id": 300}})
    with router.subscribe(subscription(string), mode=ONCE) as stream:
        assert stream.until_sync() == tables


@pytest.mark.parametrize(
    ("encoding", "field", "values"),
    [
        (pb.JSON_IETF, "json_ietf_val", ("red", 100, ["eth1"], "End.DT46")),
        (pb.JSON, "json_val", ("red", 100, ["eth1"], "End.DT46")),
        (pb.ASCII, "ascii_val", ("red", "100", "eth1", "End.DT46")),
        (pb.PROTO, "", ("red", 100, ["eth1"], "End.DT46")),
    ],
)
@pytest.mark.parametrize("how", [pb.ON_CHANGE, pb.SAMPLE, pb.TARGET_DEFINED])
def test_leaves_in_every_encoding(
    router: Client, how: int, encoding: int, field: str, values: tuple[Any, ...]
) -> None:
    name, table, interfaces, behavior = values
    asked = (subscription(RED, how), subscription(f"{ENTRY}/behavior", how))
    with router.subscribe(*asked, encoding=encoding) as stream:
        leaves: dict[str, Any] = {}
        while not (answer := stream.next()).sync_response:
            leaves |= updates(answer.update)
            fields = {u.val.WhichOneof("value") for u in answer.update.update}
            assert not field or fields == {field}
        assert leaves == {
            f"{RED}/name": name,
            f"{RED}/table-id": table,
            f"{RED}/interface": interfaces,
            f"{ENTRY}/behavior": behavior,
        }
        router.set(update={f"{RED}/table-id": 101})
        told = table
        while told == table:
            told = updates(stream.next().update).get(f"{RED}/table-id", table)
        assert str(told) == "101"


def test_aggregation_and_marking_are_taken_and_leaves_are_sent(router: Client) -> None:
    """3.5.1.2 leaves both to the target."""
    more = {"allow_aggregation": True, "qos": pb.QOSMarking(marking=46)}
    for mode in (ONCE, POLL, pb.SubscriptionList.STREAM):
        with router.subscribe(subscription("/srv6/vrfs"), mode=mode, **more) as stream:
            told = []
            while not (answer := stream.next()).sync_response:
                told.append(answer.update)
            assert not any(n.atomic for n in told)
            paths = [shown(u.path) for n in told for u in n.update]
            assert sorted(paths) == sorted(f"{RED}/{n}" for n in ("interface", "name", "table-id"))


def test_use_models_restricts(router: Client) -> None:
    bgp = {"as-number": 65000, "router-id": "192.0.2.1"}
    only = [pb.ModelData(name="srv6mgr-bgp")]
    router.set(update={"/srv6/bgp": bgp})
    with router.subscribe(subscription("/srv6"), use_models=only) as stream:
        assert stream.until_sync() == {f"/srv6/bgp/{name}": v for name, v in bgp.items()}
        router.set(update={f"{RED}/table-id": 101, "/srv6/bgp/as-number": 65001})
        assert updates(stream.next().update) == {"/srv6/bgp/as-number": 65001}
        assert stream.quiet()
    other = [pb.ModelData(name="openconfig-bgp")]
    assert refused(router, subscription("/srv6"), use_models=other) is UNIMPLEMENTED


def test_no_path_is_told_twice_in_a_notification(router: Client) -> None:
    asked = [subscription(p) for p in ("/", "/srv6", "/srv6/.../table-id", RED, f"{RED}/table-id")]
    with router.subscribe(*asked) as stream:
        told = []
        while not (answer := stream.next()).sync_response:
            assert answer.update.timestamp > 0
            told += [shown(u.path) for u in answer.update.update]
        assert len(told) == len(set(told))


def test_what_a_slow_reader_missed_is_told_and_hinders_nobody(
    router: Client, core: Core, server: Server
) -> None:
    """It gets the latest values with the number of those that it missed (2.1, duplicates); what
    waits for it takes no more memory, however long it doesn't read."""
    sids = [f"fcbb:0:1:{n:x}::/64" for n in range(0x1000, 0x1000 + 200)]
    entries = [{"prefix": p, "locator": "main", "behavior": "End"} for p in sids]
    router.set(update={"/srv6/local-sids": {"sid": entries}})
    core.tell({ObjectRef(Kind.SID, p): INSTALLED for p in sids})
    counters = "/srv6/local-sids/sid[prefix=*]/state/counters/in-pkts"
    asked = pb.SubscriptionList(subscription=[subscription(counters)], encoding=pb.JSON_IETF)
    request = pb.SubscribeRequest(subscribe=asked)
    # It takes in no more ahead than 64 kB.
    options = [("grpc.http2.bdp_probe", 0), ("grpc.use_local_subchannel_pool", 1)]
    slow = grpc.insecure_channel(f"unix:{server.socket}", options=options)
    call = stubs.gNMIStub(slow).Subscribe(iter([request]))
    first = sids[0]

    def pump(begin: int, end: int) -> None:
        """Each value is seen by who reads before the next one comes."""
        leaf = f"/srv6/local-sids/sid[prefix={first}]/state/counters/in-pkts"
        for n in range(begin, end):
            core.count({p: SidCounters(n, 0, 0, 0) for p in sids})
            while updates(stream.next(10).update).get(leaf) != str(n):
                pass

    with router.subscribe(subscription(counters)) as stream:
        stream.until_sync()
        pump(1, 60)
        memory = resident(server)
        pump(60, 120)
        assert resident(server) < memory + 4
    latest, missed = 0, 0
    while latest < 119:
        for update in next(call).update.update:
            if first in shown(update.path):
                latest = int(json.loads(update.val.json_ietf_val))
                missed += update.duplicates
    assert missed > 0
    call.cancel()
    slow.close()


def resident(server: Server) -> float:
    """MiB"""
    status = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    (line,) = (line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def test_target_comes_back(router: Client) -> None:
    with router.subscribe(subscription(RED), prefix=pb.Path(target="pe1")) as stream:
        assert stream.next().update.prefix.target == "pe1"
    with router.subscribe(subscription(RED)) as stream:
        assert not stream.next().update.HasField("prefix")


INVALID, UNIMPLEMENTED = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED


def test_subscriptions_that_are_refused(router: Client) -> None:
    fast = subscription(RED, pb.SAMPLE, sample_interval=0.001)
    assert refused(router, fast) is INVALID
    assert refused(router, subscription(RED, pb.TARGET_DEFINED, sample_interval=1)) is INVALID
    assert refused(router) is INVALID
    assert refused(router, subscription("/srv6/vrfs/vrf[nme=red]")) is INVALID
    assert refused(router, subscription("/interfaces")) is UNIMPLEMENTED
    assert refused(router, subscription("/srv6/nonsense"), mode=ONCE) is UNIMPLEMENTED
    assert refused(router, subscription(RED), encoding=pb.BYTES) is UNIMPLEMENTED


def test_requests_out_of_order(router: Client) -> None:
    asked = pb.SubscribeRequest(subscribe=pb.SubscriptionList(subscription=[subscription(RED)]))
    for first, second in (
        (pb.SubscribeRequest(poll=pb.Poll()), None),
        (pb.SubscribeRequest(), None),
        (asked, asked),
        (asked, pb.SubscribeRequest(poll=pb.Poll())),
    ):
        requests = [first] if second is None else [first, second]
        with router.requests(*requests) as stream, pytest.raises(grpc.RpcError) as e:
            stream.drain()
        assert e.value.code() is INVALID  # type: ignore[attr-defined]


def test_many_streams_end_without_trace(router: Client) -> None:
    for _ in range(20):
        with router.subscribe(subscription("/srv6")) as stream:
            stream.until_sync()
    router.set(update={f"{RED}/table-id": 104})
    assert router.value(f"{RED}/table-id") == 104


def test_counters_of_all_sids_are_those_of_each(router: Client, core: Core) -> None:
    """All at once they are sent as they are stored; one by one they are read leaf by leaf."""
    others = [f"fcbb:0:1:{n:x}::/64" for n in (0x201, 0x202, 0x203)]
    router.set(
        update={
            f"/srv6/local-sids/sid[prefix={p}]": {"locator": "main", "behavior": "End"}
            for p in others
        }
    )
    sids = [SID, *others]
    core.tell({ObjectRef(Kind.SID, p): INSTALLED for p in sids})
    core.count({p: SidCounters(n, 100 * n, 3, 1_000_000_000) for n, p in enumerate(sids, 1)})
    core.store.clear_counters([others[0]], time.time_ns())
    paths = [f"/srv6/local-sids/sid[prefix={p}]/state/counters" for p in sids]
    for encoding in (pb.PROTO, pb.JSON_IETF, pb.JSON, pb.ASCII):
        with router.subscribe(*map(subscription, paths), mode=ONCE, encoding=encoding) as stream:
            each = stream.until_sync()
        whole = subscription("/srv6/local-sids/sid/state/counters")
        with router.subscribe(whole, mode=ONCE, encoding=encoding) as stream:
            assert stream.until_sync() == each
        assert len(each) == 4 * len(sids)
