"""Ten thousand routes, rules and VRFs of others, through commits, rejections, faults, repairs, a
lost journal and the end of it all: each is there as it was."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

import pytest

from srv6mgrd.model.desired import Desired, Vrf
from srv6mgrd.model.rejection import RejectedError
from tests.contract.kernel.conftest import Run
from tests.contract.reconcile.test_crash import Process
from tests.transitions import BLUE, EVERYTHING, RED, vrfs

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("vrf")]

VRFS, RULES, ROUTES = 50, 950, 9200
# The main table, those of our VRFs and of theirs, the table of SIDs.
TABLES = (254, 100, 200, 300, 77, 8986, *range(10000, 10000 + VRFS))
PROTOCOLS = ("boot", "static", "bgp", "99", "201")
FAULTS = """
ip -6 route flush table 8986 proto 86; ip route flush table 100 proto 86
ip link del srv6mgr; ip link del red; ip -6 rule del pref 2000 to fcbb:0:1::/48 proto 86
ip link set eth2 down; ip link set eth2 up; echo 0 > /proc/sys/net/vrf/strict_mode
echo 0 > /proc/sys/net/ipv6/conf/all/forwarding
"""


def theirs(dice: random.Random) -> list[str]:
    """Commands of iproute2, the family of each in front."""
    lines = []
    for i in range(VRFS):
        lines += [f"4 link add theirs{i} type vrf table {10000 + i}", f"4 link set theirs{i} up"]
    for _ in range(RULES):
        family, to = prefix(dice)
        # Some are in front of ours, none takes what is declared.
        priority = dice.choice([dice.randrange(1, 1000), dice.randrange(3000, 30000)])
        what = dice.choice([f"lookup {dice.choice(TABLES)}", "blackhole", "unreachable"])
        lines.append(f"{family} rule add pref {priority} to {to} {what} proto 99")
    for _ in range(ROUTES):
        family, to = prefix(dice)
        kind, how = dice.choice(
            [
                ("blackhole", ""),
                ("unreachable", ""),
                ("", "dev eth9"),
                ("", "encap seg6 mode encap segs fc00:a::1,fc00:b::1 dev eth9"),
                *([("", "encap seg6local action End count dev eth9")] if family == 6 else []),
            ]
        )
        lines.append(
            f"{family} route add {kind} {to} table {dice.choice(TABLES)}"
            f" metric {dice.randrange(1, 4000)} proto {dice.choice(PROTOCOLS)} {how}"
        )
    return lines


def prefix(dice: random.Random) -> tuple[int, str]:
    if dice.random() < 0.4:
        network4 = IPv4Network((dice.getrandbits(32) & 0x7FFFFFFF | 1 << 24, 24), strict=False)
        return 4, str(network4.supernet(new_prefix=dice.choice([20, 22, 24])))
    # Half of them near our locator, within its block.
    base = int(IPv6Network("fcbb:0:1::/48").network_address)
    near = base | dice.getrandbits(16) << 80 | (0x100 + dice.getrandbits(12)) << 64
    number = near if dice.random() < 0.5 else 0x2001_0DB8 << 96 | dice.getrandbits(96)
    return 6, str(IPv6Network((number, dice.choice([64, 80, 128])), strict=False))


def seen(run: Run) -> Counter[str]:
    """All that iproute2 prints of links, rules and routes."""
    shown = run(
        "ip -d -o link; ip -4 rule; ip -6 rule; ip -4 -d route show table all;"
        " ip -6 -d route show table all"
    )
    return Counter(line.rstrip() for line in shown.splitlines())


def test_ten_thousand_foreign_objects(run: Run, tmp_path: Path) -> None:
    run("for i in 1 2 9; do ip link add eth$i type dummy; ip link set eth$i up; done")
    lines = theirs(random.Random(8986))
    for family in (4, 6):
        batch = tmp_path / f"batch{family}"
        mine = [line[2:] for line in lines if line.startswith(f"{family} ")]
        batch.write_text("\n".join(mine) + "\n")
        # What exists already by chance is left out.
        run(f"ip -{family} -force -batch {batch} 2>/dev/null || true")
    owner = ("eth1", "eth2", "dummy0")
    before = Counter(
        {line: n for line, n in seen(run).items() if not any(name in line for name in owner)}
    )
    assert before.total() > 10_000
    assert sum("blackhole" in line for line in before) > 1000

    def unharmed(what: str) -> None:
        missing = before - seen(run)
        assert not missing, f"after {what}: {missing.total()}, such as {next(iter(missing))}"

    process = Process(tmp_path / "journal.sqlite")
    process.reconciler.commit(EVERYTHING)
    unharmed("a commit")
    process.reconciler.commit(vrfs(RED, BLUE))
    process.reconciler.commit(vrfs(replace(RED, table=200), replace(BLUE, table=100)))
    unharmed("commits")
    taken = vrfs(RED, Vrf("green", 10007))
    with pytest.raises(RejectedError, match="table 10007"):
        process.reconciler.commit(taken)
    unharmed("a refused commit")
    process.reconciler.commit(EVERYTHING)
    run(FAULTS)
    process.reconciler.repair()
    assert process.reconciler.repair().actions == []
    unharmed("faults and repairs")
    process.close()
    for file in tmp_path.glob("journal*"):
        file.unlink()
    process = Process(tmp_path / "journal.sqlite")
    process.ends_at(EVERYTHING)
    run(FAULTS)
    process.ends_at(EVERYTHING)
    unharmed("a lost journal")
    process.reconciler.commit(Desired())
    unharmed("the end")
    assert not any(item.ours for item in process.kernel.observe([]).objects.values())
    process.close()
