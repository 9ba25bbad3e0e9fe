"""The root file system of the image boots a router; the containerlab topology carries a VPN.

On the host, as root: ``make nightly``. The lab brings up the nodes and links of the topology file
and does what containerlab would do with the rest of it (``in_lab.py``).
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from lab import cache, container, packages
from lab.enclosure import CHECKOUT
from lab.progress import Progress
from tests.image import topology


def test_containerlab_accepts_the_topology() -> None:
    assert list(topology.faults(topology.read())) == []


def test_a_wrong_topology_has_faults() -> None:
    table = topology.read()
    table["topology"]["nodes"]["pe1"]["bind"] = []
    table["topology"]["links"][0]["endpoints"][0] = "pe1:eth0"
    assert list(topology.faults(table)) == ["pe1: bind: unknown", "link 0: pe1:eth0: not free"]


def test_it_boots_and_carries_the_vpn(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    debs = packages.built(Progress(), but=packages.TESTING)
    archive = container.only(cache.ensure(container.archive(debs), Progress()), "*.tar")
    container.unpack(archive, tmp_path)
    table = topology.read()
    (tmp_path / "clab.toml").write_text(topology.of_lab(table))
    out = CHECKOUT / "build/lab/image"
    out.mkdir(parents=True, exist_ok=True)
    (out / "clab.json").write_text(json.dumps(table))
    fresh = [word for name in topology.edges(table) for word in ("--fresh", name)]
    done = subprocess.run(
        [CHECKOUT / "lab/lab", "run", "--tries", "2", "--limit", "900",
         "--topology", tmp_path / "clab.toml", *fresh, "--fresh-from", tmp_path,
         "--", "/opt/srv6mgr/bin/python", "-m", "pytest", "-v", "-m", "", "--timeout", "600",
         "tests/image/in_lab.py"],
        env={**os.environ, "LAB_OUT": str(out)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
