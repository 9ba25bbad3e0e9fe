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
from bench.reconcile_lab import Lab
from bench.report import describe_machine
from lab.guest.catalogue import Service

OUTPUT = Path(os.environ.get("LAB_OUT", ".")) / "gnmi.json"


def main() -> int:
    if sys.argv[1:] and "set" not in sys.argv[1:]:
        return 0
    machine = describe_machine()
    runs = {"machine": machine, "goals": [asdict(goal) for goal in goals_of(Noted())]}
    OUTPUT.write_text(json.dumps(runs))
    return 0


class Noted(Lab):
    """With srv6-gnmid, and both daemons under ``bench.daemon_stages``."""

    def start(self) -> None:
        for daemon, file in notes().items():
            command = ("python", "-m", "bench.daemon_stages", daemon, str(file))
            self._router.start_service(Service(daemon, command))

    def stop(self) -> None:
        for daemon in reversed(notes()):
            self._router.stop(daemon)


if __name__ == "__main__":
    sys.exit(main())
