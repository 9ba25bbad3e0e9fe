"""The nftables table at the boundary, read back, changed by others, beside theirs."""

from __future__ import annotations

import errno
import subprocess
from ipaddress import IPv6Address, IPv6Network

import pytest

from srv6mgrd.kernel import facilities
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.boundary.object import Boundary, UnknownBoundary, boundary
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.contract.kernel.conftest import Run

pytestmark = pytest.mark.contract

SIDS = [IPv6Network("fcbb::/32"), IPv6Network("fcbc::/32"), IPv6Network("fd00::1/128")]
SOURCE = IPv6Address("2001:db8::1")
WANTED = boundary(["to-ce", "red", "x" * 15], SIDS, [SOURCE])
CLOSED = boundary(["lo", "srv6mgr", "to-p"], SIDS, [SOURCE], closed=True)
FOREIGN = "nft add table ip6 theirs; nft add chain ip6 theirs c; nft add rule ip6 theirs c accept"


@pytest.fixture(autouse=True)
def nftables(namespace: None) -> None:
    if reason := facilities.nftables():
        pytest.skip(f"kernel without nftables: {reason}")
    # The probe is made for a namespace of its own.
    subprocess.run(["nft", "delete", "table", "ip6", "srv6mgr"], check=True)


def found(kernel: LinuxKernel) -> object:
    seen = kernel.observe([]).objects.get(WANTED.key)
    return None if seen is None else seen.object


def test_blocks_side_by_side(kernel: LinuxKernel) -> None:
    # They don't collapse into one prefix.
    blocks = [IPv6Network("fcbb:1::/32"), IPv6Network("fcbb:2::/32"), IPv6Network("fcbb:3::/48")]
    wanted = boundary(["to-ce"], blocks, [SOURCE])
    assert kernel.apply([Create(wanted)]) == []
    assert found(kernel) == wanted


def test_is_read_back(kernel: LinuxKernel, run: Run) -> None:
    assert found(kernel) is None
    assert kernel.apply([Create(WANTED)]) == []
    seen = kernel.observe([]).objects[WANTED.key]
    assert seen.object == WANTED
    assert seen.ours
    (rejected,) = kernel.apply([Create(WANTED)])
    assert rejected.errno == errno.EEXIST
    shown = " ".join(run("nft list table ip6 srv6mgr").split())
    assert 'comment "srv6mgr"' in shown
    assert 'elements = { "red", "to-ce", "xxxxxxxxxxxxxxx" }' in shown
    assert "elements = { fcbb::/32, fcbc::/32, fd00::1 }" in shown
    assert "type filter hook prerouting priority raw; policy accept;" in shown
    assert "iifname @customers jump customer" in shown
    assert "ip6 daddr @sids counter packets 0 bytes 0 drop" in shown
    assert "rt type 4 counter packets 0 bytes 0 drop" in shown
    assert "ip6 saddr @sources counter packets 0 bytes 0 drop" in shown
    assert kernel.apply([Delete(WANTED), Delete(WANTED)]) == []
    assert found(kernel) is None


def test_every_interface_but_those_of_the_core_is_read_back(kernel: LinuxKernel, run: Run) -> None:
    assert kernel.apply([Create(CLOSED)]) == []
    seen = kernel.observe([]).objects[CLOSED.key]
    assert (seen.object, seen.ours) == (CLOSED, True)
    shown = " ".join(run("nft list table ip6 srv6mgr").split())
    assert "iifname != @core jump customer" in shown
    assert all(f'"{name}"' in shown for name in CLOSED.interfaces)


@pytest.mark.parametrize(
    "wanted", [WANTED, CLOSED, boundary([], SIDS, [SOURCE]), boundary(["a"], [], [])], ids=str
)
def test_the_lines_of_a_plan_do_the_same(kernel: LinuxKernel, run: Run, wanted: Boundary) -> None:
    """As nft shows it; what nft sends for it is not the same, byte by byte."""

    def shown() -> str:
        # Sets and chains are shown in the order in which they came.
        return "\n".join(sorted(run("nft list table ip6 srv6mgr").splitlines()))

    before = boundary(["b"], SIDS[:1], [])
    assert kernel.apply([Create(before)]) == []
    made = shown()
    assert kernel.apply([Replace(before, wanted)]) == []
    changed = shown()
    assert kernel.apply([Delete(wanted)]) == []

    run(Create(before).command)
    assert shown() == made
    run(Replace(before, wanted).command)
    assert shown() == changed
    run(Delete(wanted).command)
    assert found(kernel) is None


@pytest.mark.parametrize(
    "after",
    [
        boundary(["red"], SIDS, [SOURCE]),
        CLOSED,
        boundary([], SIDS, [], closed=True),
        boundary(["red", "blue"], SIDS[:1], []),
        boundary([], [IPv6Network("fcbb::/33"), IPv6Network("fcbb:8000::/34")], [SOURCE]),
        boundary(["a"], [IPv6Network("ffff::/16"), IPv6Network("::/16")], [SOURCE]),
        boundary((f"eth{i}" for i in range(2500)), SIDS, map(IPv6Address, range(1500))),
    ],
)
def test_changes_in_place(kernel: LinuxKernel, after: Boundary) -> None:
    assert kernel.apply([Create(WANTED), Replace(WANTED, after)]) == []
    assert found(kernel) == after
    assert kernel.apply([Replace(after, WANTED)]) == []
    assert found(kernel) == WANTED


@pytest.mark.parametrize("wanted", [WANTED, CLOSED], ids=["open", "closed"])
@pytest.mark.parametrize(
    "change",
    [
        "nft flush chain ip6 srv6mgr customer",
        "nft insert rule ip6 srv6mgr boundary accept",
        "nft add rule ip6 srv6mgr customer accept",
        "nft 'add chain ip6 srv6mgr other { type filter hook prerouting priority -400; }'",
        "nft 'add chain ip6 srv6mgr boundary { policy drop; }'",
        "nft 'add set ip6 srv6mgr more { type ifname; }'",
        "nft delete rule ip6 srv6mgr customer handle $(nft -a list chain ip6 srv6mgr customer"
        " | sed -n 's/.*rt type.*handle //p')",
        "nft flush table ip6 srv6mgr",
    ],
)
def test_other_rules_are_seen_and_replaced(
    kernel: LinuxKernel, run: Run, change: str, wanted: Boundary
) -> None:
    assert kernel.apply([Create(wanted)]) == []
    run(change)
    seen = kernel.observe([]).objects[wanted.key]
    assert isinstance(seen.object, UnknownBoundary)
    assert seen.ours
    assert kernel.apply([Replace(seen.object, wanted)]) == []
    assert found(kernel) == wanted


def test_an_inverted_rule_is_another_one(kernel: LinuxKernel, run: Run) -> None:
    assert kernel.apply([Create(CLOSED)]) == []
    run("nft flush chain ip6 srv6mgr boundary")
    run("nft add rule ip6 srv6mgr boundary iifname @core jump customer")
    assert isinstance(found(kernel), UnknownBoundary)


@pytest.mark.parametrize(
    "change",
    [
        "delete element ip6 srv6mgr customers { red }",
        "add element ip6 srv6mgr sids { fe00::/8 }",
        "flush set ip6 srv6mgr sources",
    ],
)
def test_other_elements_are_seen_and_replaced(kernel: LinuxKernel, run: Run, change: str) -> None:
    assert kernel.apply([Create(WANTED)]) == []
    run(f"nft '{change}'")
    changed = found(kernel)
    assert isinstance(changed, Boundary)
    assert changed != WANTED
    assert kernel.apply([Replace(changed, WANTED)]) == []
    assert found(kernel) == WANTED


def test_foreign_tables(kernel: LinuxKernel, run: Run) -> None:
    run(FOREIGN)
    before = run("nft -a list table ip6 theirs")
    assert kernel.apply([Create(WANTED), Delete(WANTED)]) == []
    run("nft add table ip6 srv6mgr")
    seen = kernel.observe([]).objects[WANTED.key]
    assert not seen.ours
    (rejected,) = kernel.apply([Delete(seen.object)])
    assert rejected.errno == errno.EPERM
    assert "table ip6 srv6mgr" in run("nft list tables")
    assert run("nft -a list table ip6 theirs") == before


def test_nothing_is_left_of_what_the_kernel_rejects(kernel: LinuxKernel) -> None:
    bad = Boundary(("a", "a"), (), ())
    (rejected,) = kernel.apply([Create(bad)])
    assert rejected.errno == errno.EEXIST
    assert found(kernel) is None
