"""SID routes: written, read back, rejected, counted."""

from __future__ import annotations

import errno
import json
import time
from ipaddress import IPv6Address, IPv6Network

import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.contract.kernel.conftest import Run, encap_of

pytestmark = pytest.mark.contract

BASE = int(IPv6Address("fc00:1::"))


def end(number: int) -> SidRoute:
    return SidRoute(IPv6Network((BASE + number, 128)), Behavior.END, SID_TABLE)


def test_every_attribute_reads_back(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    sid = end(1)
    assert kernel.apply([Create(sid)]) == []
    seen = kernel.observe([]).objects[sid.key]
    assert seen.object == sid
    assert seen.ours
    (route,) = json.loads(run(f"ip -6 -j -d -s route show table {SID_TABLE}"))
    assert route["dst"] == "fc00:1::1"
    assert route["protocol"] == "86"
    assert route["metric"] == 1024
    assert route["dev"] == sid_device
    encap = encap_of(route)
    assert encap["action"] == "End"
    assert encap["stats64"] == {"packets": 0, "bytes": 0, "errors": 0}


def test_shorter_prefix(kernel: LinuxKernel, sid_device: str) -> None:
    sid = SidRoute(IPv6Network("fc00:1:0:5::/64"), Behavior.END, SID_TABLE)
    assert kernel.apply([Create(sid), Create(end(1))]) == []
    objects = kernel.observe([]).objects
    assert objects[sid.key].object == sid
    assert kernel.sid_counters() == {sid.prefix: (0, 0, 0), end(1).prefix: (0, 0, 0)}


def test_create_fails_when_there(kernel: LinuxKernel, sid_device: str) -> None:
    action = Create(end(1))
    assert kernel.apply([action]) == []
    (rejected,) = kernel.apply([action])
    assert rejected.action is action
    assert rejected.errno == errno.EEXIST


def test_delete_of_missing_is_no_error(kernel: LinuxKernel, sid_device: str) -> None:
    assert kernel.apply([Delete(end(1))]) == []


def test_unknown_device(kernel: LinuxKernel) -> None:
    (rejected,) = kernel.apply([Create(end(1))])
    assert rejected.errno == errno.ENODEV
    assert "srv6mgr" in rejected.message


def test_batch_goes_on_behind_a_failure(kernel: LinuxKernel, sid_device: str) -> None:
    actions = [Create(end(i)) for i in range(1, 501)]
    assert kernel.apply([actions[250]]) == []
    (rejected,) = kernel.apply(actions)
    assert rejected.action is actions[250]
    assert rejected.errno == errno.EEXIST
    objects = kernel.observe([]).objects
    assert all(objects[a.object.key].object == a.object for a in actions)


def test_all_of_many_batches_fail(kernel: LinuxKernel, sid_device: str) -> None:
    actions = [Create(end(i)) for i in range(1, 2001)]
    assert kernel.apply(actions) == []
    rejected = kernel.apply(actions)
    assert [r.action for r in rejected] == actions
    assert {r.errno for r in rejected} == {errno.EEXIST}


def test_foreign_routes_survive(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    # At the place of one of ours, beside it with another metric, and where we have none.
    encap = "encap seg6local action End count dev srv6mgr"
    run(f"ip -6 route add fc00:1::1 {encap} table {SID_TABLE} proto 99 metric 1024")
    run(f"ip -6 route add fc00:1::2 {encap} table {SID_TABLE} proto 99 metric 512")
    run(f"ip -6 route add fc00:1::3 {encap} table {SID_TABLE} proto 99 metric 1024")
    (rejected,) = kernel.apply([Create(end(1)), Create(end(2))])
    assert rejected.action.object == end(1)
    objects = kernel.observe([]).objects
    assert not objects[end(1).key].ours
    assert objects[end(2).key].ours
    beside = objects[f"{end(2).key} metric 512"]
    assert isinstance(beside.object, UnknownRoute)
    assert not beside.ours
    assert kernel.sid_counters().keys() == {end(2).prefix}
    assert kernel.apply([Delete(end(i)) for i in range(1, 4)]) == []
    left = kernel.observe([]).objects.values()
    assert sorted(str(s.object.prefix) for s in left if isinstance(s.object, SidRoute)) == [
        "fc00:1::1/128",
        "fc00:1::2/128",
        "fc00:1::3/128",
    ]
    assert not any(s.ours for s in left if isinstance(s.object, SidRoute))


@pytest.mark.parametrize(
    "encap",
    [
        "encap seg6local action End.B6 srh segs fc00:9::1 count dev srv6mgr",
        "encap seg6 mode encap segs fc00:9::1 dev srv6mgr",
        "dev srv6mgr",
        "unreachable",
    ],
)
def test_what_we_do_not_model_differs(
    kernel: LinuxKernel, sid_device: str, run: Run, encap: str
) -> None:
    sid = end(1)
    kind, _, rest = encap.partition(" ") if encap == "unreachable" else ("", "", encap)
    route = f"{kind} fc00:1::1 {rest}"
    run(f"ip -6 route add {route} table {SID_TABLE} proto 86 metric 1024")
    seen = kernel.observe([]).objects[sid.key]
    assert isinstance(seen.object, UnknownRoute)
    assert seen.object.description
    assert seen.ours
    assert kernel.apply([Replace(seen.object, sid)]) == []
    assert kernel.observe([]).objects[sid.key].object == sid


def test_missing_counters_differ(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    sid = end(1)
    run(
        "ip -6 route add fc00:1::1 encap seg6local action End dev srv6mgr"
        f" table {SID_TABLE} proto 86 metric 1024"
    )
    seen = kernel.observe([]).objects[sid.key].object
    assert isinstance(seen, SidRoute)
    assert not seen.counters
    assert seen != sid
    assert kernel.sid_counters() == {}


def test_a_foreign_route_behind_leaves_room(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    run(f"ip -6 route add blackhole fc00:1::1 table {SID_TABLE} proto 99 metric 2048")
    run(f"ip -6 route add fc00:1::2 dev lo table {SID_TABLE} proto 99 metric 2048")
    objects = kernel.observe([]).objects
    assert end(1).key not in objects
    assert not objects[f"{end(1).key} metric 2048"].ours
    assert kernel.apply([Create(end(1)), Create(end(2))]) == []
    assert kernel.observe([]).objects[end(1).key].object == end(1)
    assert kernel.apply([Delete(end(1)), Delete(end(2))]) == []
    assert run(f"ip -6 route show table {SID_TABLE}").count("metric 2048") == 2


def test_unknown_route_of_ours_is_deleted(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    run(f"ip -6 route add fc00:1::1 dev srv6mgr table {SID_TABLE} proto 86 metric 7")
    seen = kernel.observe([]).objects[end(1).key]
    assert kernel.apply([Delete(seen.object)]) == []
    assert end(1).key not in kernel.observe([]).objects


def test_replace_moves_another_metric(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    sid = end(1)
    run(
        "ip -6 route add fc00:1::1 encap seg6local action End count dev srv6mgr"
        f" table {SID_TABLE} proto 86 metric 7"
    )
    before = kernel.observe([]).objects[sid.key].object
    assert kernel.apply([Replace(before, sid)]) == []
    objects = kernel.observe([]).objects
    assert objects[sid.key].object == sid
    assert [k for k in objects if k.startswith("route6")] == [sid.key]


def test_nexthop_object_differs(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    run("ip -6 nexthop add id 7 encap seg6local action End count dev srv6mgr")
    run(f"ip -6 route add fc00:1::1 nhid 7 table {SID_TABLE} proto 86 metric 1024")
    assert isinstance(kernel.observe([]).objects[end(1).key].object, UnknownRoute)


def test_device_going_down_takes_sids(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    assert kernel.apply([Create(end(1))]) == []
    run(f"ip link set {sid_device} down; ip link set {sid_device} up")
    assert end(1).key not in kernel.observe([]).objects


def test_reading_writes_nothing(kernel: LinuxKernel, sid_device: str) -> None:
    assert kernel.apply([Create(end(1))]) == []
    before = kernel.writes
    kernel.observe(["net/ipv6/conf/all/forwarding"])
    kernel.sid_counters()
    assert kernel.writes == before


def test_counts_every_write(kernel: LinuxKernel, sid_device: str) -> None:
    before = kernel.writes
    kernel.apply([Create(end(i)) for i in range(1, 1201)])
    assert kernel.writes == before + 1200


@pytest.mark.parametrize("count", [10_000])
def test_time(
    kernel: LinuxKernel, sid_device: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    sids = [end(i) for i in range(1, count + 1)]

    def seconds(what: str, call: object) -> None:
        assert callable(call)
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        with capsys.disabled():
            print(f"{what:<12} {count:>7} SIDs {took:8.3f} s {count / took:10.0f}/s")

    seconds("install", lambda: kernel.apply([Create(s) for s in sids]))
    seconds("observe", lambda: kernel.observe([]))
    seconds("observe", lambda: kernel.observe([]))
    seconds("counters", kernel.sid_counters)
    seconds("counters", kernel.sid_counters)
    assert len(kernel.sid_counters()) == count
    seconds("delete", lambda: kernel.apply([Delete(s) for s in sids]))
    assert kernel.sid_counters() == {}
