"""What validation costs: our modules against the same modules without any ``must``.

Validation of a tree by libyang, and its commit by sysrepo, 10,000 SIDs in 1,000 VRFs. Twice as
many SIDs show whether anything is quadratic. Each run is a process of its own, ours and the peer's
in turn (``bench.model_run``).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.report import Goal, Report

YANG = Path("yang")
STANDARD = Path("/usr/share/yang/modules/sysrepo")
# Of RFCs, as lab/sysrepo.py brings them.
RFCS = Path("/opt/yang")
ROUNDS = 12

_STRING = r"""(?:"[^"]*"|'[^']*')"""
_MUST = re.compile(rf"\n *must {_STRING}(?:\s*\+\s*{_STRING})*\s*(?:;|{{[^}}]*}})")


def without_must(module: str) -> str:
    """A module as it would be if nothing beyond types and references were checked."""
    return _MUST.sub("", module)


def tree(sids: int, vrfs: int) -> dict[str, Any]:
    """A provider edge: every VRF exchanges routes, and has SIDs of the common behaviors."""
    prefixes = [f"fcbb:0:1:{n:x}::/64" for n in range(1, sids + 1)]
    return {
        "srv6mgr-srv6:srv6": {
            "encapsulation": {"source-address": "fcbb:0:1::1"},
            "locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]},
            "vrfs": {"vrf": [_vrf(n, prefixes[n]) for n in range(vrfs)]},
            "segment-lists": {
                "segment-list": [{"name": "PATH", "segment": [{"index": 1, "sid": "fcbb:0:2::1"}]}]
            },
            "local-sids": {"sid": [_sid(n, p, vrfs) for n, p in enumerate(prefixes)]},
            "srv6mgr-bgp:bgp": {"as-number": 65000, "router-id": "10.0.0.1"},
        }
    }


def _vrf(n: int, sid: str) -> dict[str, Any]:
    target = f"65000:{n}"
    bgp = {"rd": target, "import-rt": [target], "export-rt": [target], "export-sid": sid}
    steered = [{"prefix": f"10.{n >> 8}.{n & 255}.0/24", "segment-list": "PATH"}]
    return {
        "name": f"vrf{n}",
        "table-id": 1000 + n,
        "interface": [f"eth{n}"],
        "srv6mgr-bgp:bgp": bgp,
        "srv6mgr-steering:steering": {"route": steered},
    }


def _sid(n: int, prefix: str, vrfs: int) -> dict[str, Any]:
    vrf = {"vrf": f"vrf{n % vrfs}"}
    arguments: dict[str, Any] = (
        {"behavior": "End.DT46", **vrf},
        {"behavior": "End.DT4", **vrf},
        {"behavior": "End.X", "next-hop": "2001:db8::1"},
        {"behavior": "End.B6.Encaps", "segment-list": "PATH"},
        {
            "behavior": "End.AS",
            "srv6mgr-proxy:proxy": {
                "inner-type": "ipv4",
                "interface": f"eth{n}",
                "next-hop": "10.0.0.2",
                "segment-list": "PATH",
                "source-address": "fcbb:0:1::1",
            },
        },
    )[n // vrfs % 5]
    return {"prefix": prefix, "locator": "MAIN", **arguments}


class Place:
    """Modules, and a sysrepo repository of its own that holds them."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.modules = folder / name
        self.modules.mkdir()
        for source in YANG.glob("*.yang"):
            text = source.read_text()
            (self.modules / source.name).write_text(text if name == "ours" else without_must(text))
        self.environment = {
            **os.environ,
            "SYSREPO_REPOSITORY_PATH": str(folder / f"{name}-repository"),
            "SYSREPO_SHM_PREFIX": f"{folder.name}{name}",
        }

    def install(self) -> None:
        command = ["sysrepoctl", "--search-dirs", f"{self.modules}:{STANDARD}:{RFCS}"]
        for line in (YANG / "install.txt").read_text().splitlines():
            module, *features = line.split() or [""]
            if module.startswith("srv6mgr-"):
                command += ["--install", str(self.modules / module)]
                for feature in features:
                    command += ["--enable-feature", feature]
        subprocess.run(command, env=self.environment, check=True, capture_output=True)

    def run(self, how: str, data: Path) -> dict[str, float]:
        """Seconds and MiB of one run."""
        command = [sys.executable, "-m", "bench.model_run", how, str(self.modules), str(data)]
        done = subprocess.run(
            command, env=self.environment, check=True, stdout=subprocess.PIPE, text=True
        )
        found: dict[str, float] = json.loads(done.stdout)
        return found


@contextmanager
def places() -> Iterator[tuple[Path, Place, Place]]:
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        ours, peer = Place(folder, "ours"), Place(folder, "peer")
        try:
            ours.install()
            peer.install()
            yield folder, ours, peer
        finally:
            for left in Path("/dev/shm").glob(f"{folder.name}*"):
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def main() -> int:
    report = Report("model")
    with places() as (folder, ours, peer):
        files = {}
        for sids in (10_000, 20_000):
            files[sids] = folder / f"{sids}.json"
            files[sids].write_text(json.dumps(tree(sids, 1000)))
        for how in ("libyang", "sysrepo"):
            small, large, bare = [], [], []
            for _ in range(ROUNDS):
                small.append(ours.run(how, files[10_000]))
                bare.append(peer.run(how, files[10_000]))
                large.append(ours.run(how, files[20_000]))
            for what in small[0]:
                name, unit = what.split("/")

                def runs(of: list[dict[str, float]], what: str = what) -> list[float]:
                    return [run[what] for run in of]

                report.goals += [
                    Goal(f"{how} {name}, must or none", runs(small), runs(bare), 1.5, unit),
                    Goal(f"{how} {name}, 20k or 10k SIDs", runs(large), runs(small), 2.5, unit),
                ]
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
