"""In the lab, where FRR and VRFs are: what a Set of ten thousand SIDs takes.

    python -m bench.gnmi_lab [set]

Leaves its goals as JSON for ``bench.gnmi``.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from bench.gnmi_node import notes
from bench.gnmi_set import goals_of
from bench.report import describe_machine
from lab.guest.catalogue import Service
from lab.guest.nodes import Node
from lab.guest.services import Router

OUTPUT = Path(os.environ.get("LAB_OUT", ".")) / "gnmi.json"
ROUTER = "pe1"


def main() -> int:
    if sys.argv[1:] and "set" not in sys.argv[1:]:
        return 0
    machine = describe_machine()
    runs = {"machine": machine, "goals": [asdict(goal) for goal in goals_of(Lab())]}
    OUTPUT.write_text(json.dumps(runs))
    return 0


class Lab:
    name = "lab"

    def __init__(self) -> None:
        self._router = Router(ROUTER)
        self._router.start("redis", "frr", "sysrepo")

    def start(self) -> None:
        for daemon, file in notes().items():
            command = ("python", "-m", "bench.daemon_stages", daemon, str(file))
            self._router.start_service(Service(daemon, command))

    def stop(self) -> None:
        for daemon in reversed(notes()):
            self._router.stop(daemon)

    def run(self, *command: str) -> str:
        return Node(ROUTER).run(command, timeout=1200).stdout


if __name__ == "__main__":
    sys.exit(main())
