"""Subscriptions to changes (gnmi-specification.md 3.5.1.5.2)."""

from __future__ import annotations

import json
import time
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb
from gnmi_pb import gnmi_pb2_grpc as stubs

from srv6mgrd.model.proxy_state import ProxyCounts, ProxyState
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.contract.gnmi.client import Client, Core, deletes, shown, subscription, updates
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import ENTRY, INSTALLED, RED, RED_REF, SID, SID_REF

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
    core.report({SID_REF: INSTALLED})
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


def test_a_rejected_set_is_not_seen(router: Client, core: Core) -> None:
    with router.subscribe(subscription("/srv6")) as stream:
        stream.until_sync()
        core.veto = "VRF red: no; try again"
        with pytest.raises(grpc.RpcError):
            router.set(update={f"{RED}/table-id": 101})
        assert stream.quiet()


def test_install_status_is_reported_on_change(router: Client, core: Core) -> None:
    status = f"{ENTRY}/state/install-status"
    core.report(
        {SID_REF: ObjectStatus(InstallStatus.PENDING, "VRF red is missing"), RED_REF: INSTALLED}
    )
    with router.subscribe(subscription("/srv6/local-sids/sid/state")) as stream:
        assert stream.until_sync()[status] == "pending"
        core.report({SID_REF: INSTALLED, RED_REF: INSTALLED})
        assert updates(stream.next().update) == {
            status: "installed",
            f"{ENTRY}/state/reason": "",
            f"{ENTRY}/state/since": "1970-01-01T00:00:01.000000000+00:00",
        }
        core.report({RED_REF: INSTALLED})
        assert deletes(stream.next().update) == [f"{ENTRY}/state"]
        assert stream.quiet()


def test_a_new_object_brings_its_state(router: Client, core: Core) -> None:
    blue = "/srv6/vrfs/vrf[name=blue]"
    with router.subscribe(subscription("/srv6/vrfs")) as stream:
        stream.until_sync()
        router.set(update={blue: {"table-id": 200}})
        assert updates(stream.next().update) == {f"{blue}/name": "blue", f"{blue}/table-id": 200}
        core.report({ObjectRef(Kind.VRF, "blue"): INSTALLED})
        assert updates(stream.next().update)[f"{blue}/state/install-status"] == "installed"


def test_counters_are_reported_on_change_when_asked_for(router: Client, core: Core) -> None:
    core.report({SID_REF: INSTALLED})
    core.count({SID: SidCounters(1, 100, 0, 5)}, at=1)
    with router.subscribe(subscription(f"{ENTRY}/state/counters")) as stream:
        assert stream.until_sync()[f"{ENTRY}/state/counters/in-pkts"] == "1"
        core.count({SID: SidCounters(2, 100, 0, 5)}, at=7)
        while (change := stream.next().update).timestamp != 7:
            pass
        assert updates(change) == {f"{ENTRY}/state/counters/in-pkts": "2"}


@pytest.mark.parametrize("mode", [pb.ON_CHANGE, pb.TARGET_DEFINED])
def test_what_a_proxy_learns_is_reported_on_change(router: Client, core: Core, mode: int) -> None:
    prefix, chain = IPv6Network("fcbb:0:1:ad::/64"), f"{PROXY}/state/chain"
    router.set(update={PROXY_SID: AD})
    first, second = map(IPv6Address, ("fcbb:0:2::", "fcbb:0:3::"))
    source = IPv6Address("2001:db8:a::1")
    core.learn({prefix: ProxyState(ProxyCounts(1, 100), source, (first,), 1_000_000_000)})
    with router.subscribe(subscription(chain, mode)) as stream:
        assert stream.until_sync()[f"{chain}/segment[index=0]/sid"] == "fcbb:0:2::"
        # Packets alone are no change.
        core.learn({prefix: ProxyState(ProxyCounts(2, 200), source, (first,), 1_000_000_000)})
        assert stream.quiet()
        core.learn({prefix: ProxyState(ProxyCounts(3, 300), source, (second,), 2_000_000_000)})
        assert updates(stream.next().update) == {
            f"{chain}/segment[index=0]/sid": "fcbb:0:3::",
            f"{chain}/last-learned": "1970-01-01T00:00:02.000000000+00:00",
        }
        core.learn({prefix: ProxyState(ProxyCounts())})
        assert f"{chain}/segment[index=0]/sid" in deletes(stream.next().update)


def test_counters_of_a_proxy_are_reported_on_change_when_asked_for(
    router: Client, core: Core
) -> None:
    prefix, counted = IPv6Network("fcbb:0:1:ad::/64"), f"{PROXY}/state/errors"
    router.set(update={PROXY_SID: AD})
    core.learn({prefix: ProxyState(ProxyCounts())})
    with router.subscribe(subscription(counted)) as stream:
        assert stream.until_sync()[f"{counted}/hop-limit"] == "0"
        core.learn({prefix: ProxyState(ProxyCounts(hop_limit=1))})
        assert updates(stream.next().update) == {f"{counted}/hop-limit": "1"}


def test_counters_of_all_sids_are_reported_on_change(router: Client, core: Core) -> None:
    """They are sent as they are stored, but for those that do not change."""
    others = [f"fcbb:0:1:{n:x}::/64" for n in (0x201, 0x202)]
    entry = "/srv6/local-sids/sid[prefix={}]"
    end = {"locator": "main", "behavior": "End"}
    router.set(update={entry.format(p): end for p in others})
    sids = [SID, *others]
    core.report({ObjectRef(Kind.SID, p): INSTALLED for p in sids})

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


def test_what_a_slow_reader_missed_is_reported_and_hinders_nobody(
    router: Client, core: Core, server: Server
) -> None:
    """It gets the latest values with the number of those that it missed (2.1, duplicates); what
    waits for it takes no more memory, however long it doesn't read."""
    sids = [f"fcbb:0:1:{n:x}::/64" for n in range(0x1000, 0x1000 + 200)]
    entries = [{"prefix": p, "locator": "main", "behavior": "End"} for p in sids]
    router.set(update={"/srv6/local-sids": {"sid": entries}})
    core.report({ObjectRef(Kind.SID, p): INSTALLED for p in sids})
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
