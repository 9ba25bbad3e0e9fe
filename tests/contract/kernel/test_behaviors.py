"""Every behavior and headend: written by us, printed as meant by ``ip``, read back as it was."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network
from pathlib import Path

import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.contract.kernel.conftest import Run, pin

pytestmark = pytest.mark.contract

PREFIX = IPv6Network("fc00:1::1/128")
SEGMENTS = tuple(map(IPv6Address, ("fc00:a::1", "fc00:b::2", "fc00:c::3")))
NH6 = IPv6Address("fc00:9::1")
RED = VrfDevice("red", 100, (1 << 28) | 100)


def sid(action: Behavior, **more: object) -> SidRoute:
    return replace(SidRoute(PREFIX, action, SID_TABLE), **more)  # type: ignore[arg-type]


def route(prefix: str, behavior: Headend, table: int = 254, **more: object) -> EncapRoute:
    plain = EncapRoute(ip_network(prefix), table, behavior, SEGMENTS)
    return replace(plain, **more)  # type: ignore[arg-type]


def is_present(kernel: LinuxKernel, obj: Object) -> bool:
    seen = kernel.observe([]).objects.get(obj.key)
    return seen is not None and seen.object == obj and seen.ours


PSP, NEXT_CSID = Flavor.PSP, Flavor.NEXT_CSID
SIDS = [
    (sid(Behavior.END), "action End"),
    (sid(Behavior.END, counters=False), "action End"),
    (sid(Behavior.END, flavors=frozenset({PSP})), "flavors psp"),
    (
        sid(Behavior.END, flavors=frozenset({NEXT_CSID}), csid_lengths=(32, 16)),
        "flavors next-csid lblen 32 nflen 16",
    ),
    (
        sid(Behavior.END, flavors=frozenset({PSP, NEXT_CSID}), csid_lengths=(48, 32)),
        "flavors psp,next-csid lblen 48 nflen 32",
    ),
    (sid(Behavior.END_X, next_hop=NH6), "action End.X nh6 fc00:9::1"),
    (
        sid(Behavior.END_X, next_hop=NH6, flavors=frozenset({NEXT_CSID}), csid_lengths=(32, 16)),
        "action End.X nh6 fc00:9::1 flavors next-csid lblen 32 nflen 16",
    ),
    (sid(Behavior.END_T, lookup_table=254), "action End.T table main"),
    (sid(Behavior.END_T, lookup_table=77), "action End.T table 77"),
    (sid(Behavior.END_DX2, interface=SID_DEVICE), f"action End.DX2 oif {SID_DEVICE}"),
    (sid(Behavior.END_DX6, next_hop=NH6), "action End.DX6 nh6 fc00:9::1"),
    (sid(Behavior.END_DX4, next_hop=IPv4Address("192.0.2.9")), "action End.DX4 nh4 192.0.2.9"),
    (sid(Behavior.END_DT6, lookup_table=254), "action End.DT6 table main"),
    (
        sid(Behavior.END_B6_ENCAPS, segments=SEGMENTS),
        "action End.B6.Encaps segs 3 [ fc00:a::1 fc00:b::2 fc00:c::3 ]",
    ),
    (sid(Behavior.END_B6_ENCAPS, segments=SEGMENTS[:1]), "B6.Encaps segs 1 [ fc00:a::1 ]"),
]


@pytest.mark.parametrize(("obj", "printed"), SIDS, ids=lambda v: v if isinstance(v, str) else "")
def test_sid(kernel: LinuxKernel, sid_device: str, run: Run, obj: SidRoute, printed: str) -> None:
    assert kernel.apply([Create(obj)]) == []
    said = run(f"ip -6 -d route show table {SID_TABLE}")
    assert " ".join(printed.split()) in " ".join(said.split())
    assert is_present(kernel, obj)
    assert is_present(kernel, obj)
    assert kernel.apply([Replace(obj, obj), Delete(obj)]) == []
    assert obj.key not in kernel.observe([]).objects


@pytest.mark.usefixtures("vrf")
@pytest.mark.parametrize("action", [Behavior.END_DT4, Behavior.END_DT6, Behavior.END_DT46])
def test_sid_of_a_vrf(kernel: LinuxKernel, sid_device: str, run: Run, action: Behavior) -> None:
    obj = sid(action, vrf_table=100)
    strict = Sysctl("net/vrf/strict_mode", "1")
    assert kernel.apply([Create(o) for o in (RED, strict, obj)]) == []
    assert f"action {action} vrftable 100" in run(f"ip -6 -d route show table {SID_TABLE}")
    assert is_present(kernel, obj)


def test_interface_of_end_x(kernel: LinuxKernel, sid_device: str) -> None:
    """Kernels that don't know it drop it without a word; that is seen on reading back."""
    obj = sid(Behavior.END_X, next_hop=NH6, interface=SID_DEVICE)
    assert kernel.apply([Create(obj)]) == []
    assert is_present(kernel, obj) or is_present(kernel, replace(obj, interface=None))


def test_bpf(kernel: LinuxKernel, sid_device: str, run: Run, pinned: str) -> None:
    obj = sid(Behavior.END_BPF, bpf_program=pinned)
    assert kernel.apply([Create(obj)]) == []
    assert f"action End.BPF endpoint {pinned}" in run(f"ip -6 -d route show table {SID_TABLE}")
    assert is_present(kernel, obj)
    moved = replace(obj, metric=7)
    assert kernel.apply([Replace(obj, obj), Replace(obj, moved)]) == []
    assert is_present(kernel, moved)


def test_bpf_program_that_is_pinned_anew_is_drift(
    kernel: LinuxKernel, sid_device: str, run: Run, pinned: str
) -> None:
    obj = sid(Behavior.END_BPF, bpf_program=pinned)
    assert kernel.apply([Create(obj)]) == []
    Path(pinned).unlink()
    # Nothing else is there that the SID could take: what it holds goes on.
    assert is_present(kernel, obj)
    pin(pinned)
    seen = kernel.observe([]).objects[obj.key]
    assert isinstance(seen.object, SidRoute)
    assert seen.object != obj
    assert seen.ours
    assert kernel.apply([Replace(seen.object, obj)]) == []
    assert is_present(kernel, obj)


def test_bpf_program_is_missing(kernel: LinuxKernel, sid_device: str) -> None:
    (rejected,) = kernel.apply([Create(sid(Behavior.END_BPF, bpf_program="/nowhere/program"))])
    assert "/nowhere/program" in rejected.message


def test_interface_is_missing(kernel: LinuxKernel, sid_device: str) -> None:
    (rejected,) = kernel.apply([Create(sid(Behavior.END_DX2, interface="gone0"))])
    assert "gone0" in rejected.message


def test_many_of_each(kernel: LinuxKernel, sid_device: str) -> None:
    """Dumps with all layouts mixed come out as with each alone."""
    first = int(IPv6Address("fc00:1::"))
    objects = [replace(SIDS[i % len(SIDS)][0], prefix=IPv6Network(first + i)) for i in range(1500)]
    objects += [
        replace(sid(Behavior.END_X, next_hop=IPv6Address(first + i)), prefix=IPv6Network(first + i))
        for i in range(2000, 4000)
    ]
    assert kernel.apply([Create(o) for o in objects]) == []
    for _ in range(2):
        seen = kernel.observe([]).objects
        assert [seen[o.key].object for o in objects] == objects
    assert len(kernel.sid_counters()) == sum(o.counters for o in objects)


ROUTES = [
    (route("fc00:7::/64", Headend.H_ENCAPS), "encap seg6 mode encap segs 3"),
    (route("::/0", Headend.H_ENCAPS_RED), "encap seg6 mode encap.red segs 3"),
    (route("fc00:7::1/128", Headend.H_ENCAPS_L2, metric=7), "mode l2encap segs 3"),
    (route("fc00:7::/64", Headend.H_ENCAPS_L2_RED, table=100), "mode l2encap.red segs 3"),
    (route("198.51.100.0/24", Headend.H_ENCAPS), "encap seg6 mode encap segs 3"),
    (route("0.0.0.0/0", Headend.H_ENCAPS_RED, table=100), "mode encap.red segs 3"),
    (route("198.51.100.0/24", Headend.H_ENCAPS, hop_limit=42), "hoplimit 42"),
    (route("fc00:7::/64", Headend.H_ENCAPS, hop_limit=255, metric=9), "hoplimit 255"),
    (route("fc00:7::/64", Headend.H_INSERT), "encap seg6 mode inline segs 4"),
]


@pytest.fixture
def tables(run: Run, vrf: None) -> None:
    run("ip link add red type vrf table 100 && ip link set red up")


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(("obj", "printed"), ROUTES, ids=lambda v: v if isinstance(v, str) else "")
def test_headend(
    kernel: LinuxKernel, sid_device: str, run: Run, obj: EncapRoute, printed: str
) -> None:
    assert kernel.apply([Create(obj)]) == []
    said = run(f"ip -{obj.prefix.version} -d route show table {obj.table} proto 86")
    assert printed in said
    # What is inserted has room for the destination.
    room = " ::" if obj.behavior is Headend.H_INSERT else ""
    assert f"[ fc00:a::1 fc00:b::2 fc00:c::3{room} ]" in said
    assert is_present(kernel, obj)
    assert is_present(kernel, obj)
    other = replace(obj, segments=SEGMENTS[:1])
    assert kernel.apply([Replace(obj, other)]) == []
    assert is_present(kernel, other)
    assert kernel.apply([Delete(other), Delete(other)]) == []
    assert obj.key not in kernel.observe([]).objects


def test_source_of_one_route(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    obj = route("198.51.100.0/24", Headend.H_ENCAPS, source=IPv6Address("fc00::5"))
    assert kernel.apply([Create(obj)]) == []
    if is_present(kernel, replace(obj, source=None)):
        pytest.skip("the kernel ignores it")
    assert is_present(kernel, obj)


def test_foreign_route_in_the_way(kernel: LinuxKernel, sid_device: str, run: Run) -> None:
    obj, other = ROUTES[0][0], ROUTES[4][0]
    run(f"ip -6 route add {obj.prefix} dev {sid_device} metric 1024 proto 201")
    run(f"ip route add {other.prefix} dev {sid_device} metric 1024 proto 201")
    rejected = kernel.apply([Create(obj), Create(other)])
    assert [r.action.object for r in rejected] == [obj, other]
    assert kernel.apply([Delete(obj), Delete(other)]) == []
    assert "proto 201" in run("ip -6 route show fc00:7::/64")
    assert "proto 201" in run("ip route show 198.51.100.0/24")


@pytest.mark.parametrize(
    "command",
    [
        "fc00:7::/64 dev srv6mgr",
        "fc00:7::/64 encap seg6 mode encap segs fc00:a::1 dev srv6mgr mtu 1400",
        "fc00:7::/64 encap seg6 mode encap segs fc00:a::1 dev srv6mgr expires 99",
        "fc00:7::/64 encap seg6 mode encap segs fc00:a::1 via fc00:9::2 dev srv6mgr onlink",
        "unreachable fc00:7::/64",
    ],
)
def test_what_differs(kernel: LinuxKernel, sid_device: str, run: Run, command: str) -> None:
    obj = ROUTES[0][0]
    run(f"ip -6 route add {command} proto 86 metric 1024")
    seen = kernel.observe([]).objects[obj.key]
    assert isinstance(seen.object, UnknownRoute)
    assert kernel.apply([Replace(seen.object, obj)]) == []
    assert is_present(kernel, obj)


@pytest.mark.parametrize("address", ["fc00:9::1", "192.0.2.9"])
def test_next_hop(kernel: LinuxKernel, sid_device: str, run: Run, address: str) -> None:
    one = ip_network(address).network_address
    obj = NextHopRoute(one, sid_device, one)
    assert kernel.apply([Create(obj)]) == []
    said = run(f"ip -{one.version} route show {address} proto 86")
    assert f"via {address} dev {sid_device}" in said
    assert is_present(kernel, obj)
    assert kernel.apply([Replace(obj, obj), Delete(obj)]) == []
    assert obj.key not in kernel.observe([]).objects
