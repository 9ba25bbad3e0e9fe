"""A process that takes part in commits as srv6mgrd does: ``python -m ... FOLDER [HOLD]``.

It holds each commit for HOLD seconds where the kernel would be written, and prints a line when it
serves and when a commit begins.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.contract.gnmi.client import Core


def main() -> None:
    core = Core(Path(sys.argv[1]) / "store")
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0

    def hold() -> None:
        print("commit", flush=True)
        time.sleep(seconds)

    core.hold = hold
    print("serving", flush=True)
    sys.stdin.read()
    core.close()


if __name__ == "__main__":
    main()
