"""What pyroute2, extended by docs/upstream, and we make of each other's routes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any

import pyroute2
import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.plan.actions import Create
from tests.contract.kernel.test_behaviors import NH6, SEGMENTS

pytestmark = pytest.mark.contract

PATCH = Path(__file__).parents[3] / "docs/upstream/pyroute2-seg6local.patch"
FIRST = int(IPv6Network("fc00:1::1/128").network_address)
READ = """
import json, sys
from pyroute2 import IPRoute

def plain(value):
    if isinstance(value, dict) and "attrs" in value:
        return {a[0]: plain(a[1]) for a in value["attrs"]}
    return value

with IPRoute() as ip:
    routes = ip.get_routes(family=10, table=int(sys.argv[1]))
    found = {r.get_attr("RTA_DST"): plain(r.get_attr("RTA_ENCAP")) for r in routes}
    print(json.dumps(found, default=repr))
"""
WRITE = """
import json, sys
from pyroute2 import IPRoute

with IPRoute() as ip:
    ip.route("add", proto=86, priority=1024, **json.loads(sys.argv[1]))
"""
ZERO = {"SEG6_LOCAL_CNT_PACKETS": 0, "SEG6_LOCAL_CNT_BYTES": 0, "SEG6_LOCAL_CNT_ERRORS": 0}


def hunks(patch: str) -> Iterator[tuple[str, int, list[str], list[str]]]:
    """File, line, old and new lines of each hunk of a unified diff, the last ones first."""
    for part in patch.split("\n--- a/")[1:]:
        path, _, rest = part.partition("\n")
        for hunk in reversed(rest.split("\n@@ -")[1:]):
            head, *lines = hunk.removesuffix("\n").split("\n")
            old, new = ([x[1:] for x in lines if x[:1] != sign] for sign in "+-")
            yield path, int(head.partition(",")[0]) - 1, old, new


class Patched:
    """pyroute2 with the patch, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        installed = Path(pyroute2.__file__).parent
        shutil.copytree(installed, folder / "pyroute2", ignore=shutil.ignore_patterns("*.pyc"))
        for path, at, old, new in hunks(PATCH.read_text()):
            if not path.startswith("pyroute2/"):
                continue  # pyroute2's own tests: docs/upstream/check.sh
            lines = (folder / path).read_text().split("\n")
            assert lines[at : at + len(old)] == old, f"{path}: not the file that was patched"
            lines[at : at + len(old)] = new
            (folder / path).write_text("\n".join(lines))

    def run(self, program: str, *arguments: object) -> str:
        argv = [sys.executable, "-c", program, *map(str, arguments)]
        environment = {"PYTHONPATH": str(self._folder)}
        return subprocess.run(
            argv, env=environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def routes(self, table: int) -> dict[str, dict[str, Any]]:
        """RTA_ENCAP by RTA_DST."""
        found: dict[str, dict[str, Any]] = json.loads(self.run(READ, table))
        return found


@pytest.fixture(scope="module")
def patched(tmp_path_factory: pytest.TempPathFactory) -> Patched:
    return Patched(tmp_path_factory.mktemp("pyroute2"))


def numbered(*sids: SidRoute) -> list[SidRoute]:
    return [replace(sid, prefix=IPv6Network(FIRST + n)) for n, sid in enumerate(sids)]


def test_pyroute2_reads_each_attribute_that_we_write(
    kernel: LinuxKernel, sid_device: str, patched: Patched
) -> None:
    end = SidRoute(IPv6Network(FIRST), Behavior.END, SID_TABLE)
    uncounted = replace(end, counters=False)
    flavored = frozenset({Flavor.PSP, Flavor.NEXT_CSID})
    sids = numbered(
        end,
        uncounted,
        replace(uncounted, flavors=flavored, csid_lengths=(48, 32)),
        replace(uncounted, action=Behavior.END_X, next_hop=NH6),
        replace(uncounted, action=Behavior.END_T, lookup_table=254),
        replace(uncounted, action=Behavior.END_DX2, interface="lo"),
        replace(uncounted, action=Behavior.END_B6_ENCAPS, segments=SEGMENTS),
    )
    assert kernel.apply([Create(sid) for sid in sids]) == []

    found = list(patched.routes(SID_TABLE).values())

    assert found[0] == {"SEG6_LOCAL_ACTION": 1, "SEG6_LOCAL_COUNTERS": ZERO}
    assert found[1] == {"SEG6_LOCAL_ACTION": 1}
    assert found[2]["SEG6_LOCAL_FLAVORS"] == {
        "SEG6_LOCAL_FLV_OPERATION": 1 << 1 | 1 << 4,
        "SEG6_LOCAL_FLV_LCBLOCK_BITS": 48,
        "SEG6_LOCAL_FLV_LCNODE_FN_BITS": 32,
    }
    assert found[3] == {"SEG6_LOCAL_ACTION": 2, "SEG6_LOCAL_NH6": str(NH6)}
    assert found[4] == {"SEG6_LOCAL_ACTION": 3, "SEG6_LOCAL_TABLE": 254}
    assert found[5] == {"SEG6_LOCAL_ACTION": 4, "SEG6_LOCAL_OIF": 1}
    assert found[6]["SEG6_LOCAL_ACTION"] == 10, found[6]
    assert set(found[6]["SEG6_LOCAL_SRH"]["segs"]) == {*map(str, SEGMENTS)}


@pytest.mark.parametrize("headend", [Headend.H_ENCAPS, Headend.H_ENCAPS_RED], ids=str)
def test_pyroute2_reads_how_we_encapsulate(
    kernel: LinuxKernel, sid_device: str, patched: Patched, headend: Headend
) -> None:
    route = EncapRoute(IPv6Network("fc00:9::/64"), 254, headend, SEGMENTS)
    assert kernel.apply([Create(route)]) == []

    header = patched.routes(254)["fc00:9::"]["SEG6_IPTUNNEL_SRH"]

    reduced = headend is Headend.H_ENCAPS_RED
    assert header["mode"] == ("encap.red" if reduced else "encap")
    # The first segment of a reduced header is in the destination alone, and as ::
    assert [*map(str, SEGMENTS)] == header["segs"][::-1]


def test_we_read_what_pyroute2_writes(
    kernel: LinuxKernel, sid_device: str, patched: Patched
) -> None:
    sid = SidRoute(IPv6Network(FIRST), Behavior.END, SID_TABLE, flavors=frozenset({Flavor.PSP}))
    index = kernel.observe([]).interfaces[SID_DEVICE]
    encap = {
        "type": "seg6local",
        "action": "End",
        "counters": True,
        "flavors": {"operation": ["psp"]},
    }
    request = {"dst": str(sid.prefix), "oif": index, "table": SID_TABLE, "encap": encap}

    patched.run(WRITE, json.dumps(request))

    seen = kernel.observe([]).objects[sid.key]
    assert seen.object == sid
    assert seen.ours
