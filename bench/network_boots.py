"""On the host, before ``bench.network``: rehearsals in the lab, each in one of its own.

A boot leaves one file, ``bench.network`` reads them. Needs Python alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.network_intent import routers, with_sites
from srv6net.command.toml import written
from srv6net.intent.inventory import inventory
from srv6net.proposal import propose
from srv6net.rehearsal.plan import rehearsal
from srv6net.transaction.record import Revision

OUTPUT = Path("build/lab/network")
# Routers and sites, by part.
SIZES = {"rehearse": ((4, 5), (10, 10)), "edges": ((40, 40),)}
# MiB of the lab for itself and for each router.
_LAB, _ROUTER = 1024, 160


def main(parts: list[str]) -> int:
    for part, sizes in SIZES.items():
        for edges, sites in sizes if not parts or part in parts else ():
            print(f"network: {edges} routers and {sites} sites", flush=True)
            if status := _rehearsed(f"{part}-{edges}-{sites}", edges, sites):
                return status
    return 0


def _rehearsed(name: str, edges: int, sites: int) -> int:
    known = inventory(routers(edges))
    made = rehearsal(propose(with_sites(edges, sites), known, Revision(), 1.0), known)
    out = (OUTPUT / name).absolute()
    out.mkdir(parents=True, exist_ok=True)
    (out.parent / f"{name}.plan.json").write_text(made.as_json())
    (out.parent / f"{name}.toml").write_text(written(made.topology))
    memory = str(_LAB + _ROUTER * edges)
    command = [
        "lab/lab", "run", "--limit", "1500", "--topology", str(out.parent / f"{name}.toml"), "--",
        "/opt/srv6mgr/bin/python", "-m", "lab.guest.rehearsal",
        f"/src/{OUTPUT}/{name}.plan.json",
    ]  # fmt: skip
    started = time.monotonic()
    environment = {**os.environ, "LAB_OUT": str(out), "LAB_MEMORY": memory}
    status = subprocess.run(command, env=environment, check=False).returncode
    took = time.monotonic() - started
    if status:
        return status
    found = json.loads((out / "rehearsal.json").read_text())
    if found["problems"]:
        print("\n".join(found["problems"]), file=sys.stderr)
        return 1
    (OUTPUT / f"{name}.json").write_text(json.dumps({"all": took, **found["seconds"]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
