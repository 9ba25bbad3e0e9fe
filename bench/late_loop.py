"""A daemon that writes the stacks of all its threads whenever its event loop is late.

    python -m bench.late_loop MILLISECONDS FILE MODULE ARGUMENTS...

MODULE has a ``main``; ``srv6mgrd.daemon``, say. FILE gets the stacks while the loop is late, also
where a thread holds the interpreter's lock (faulthandler needs none), then by how much it was late,
and how much of it the daemon ran on a CPU: on a busy machine the rest is others'.
"""

from __future__ import annotations

import asyncio
import faulthandler
import importlib
import sys
import time
from typing import Any, TextIO, cast

from srv6mgrd.vitals import INTERVAL, Vitals

_TICK = 0.005


async def _watch(limit: float, file: TextIO) -> None:
    while True:
        wall, cpu = time.monotonic(), time.process_time()
        faulthandler.dump_traceback_later(_TICK + limit, file=file)
        await asyncio.sleep(_TICK)
        late = time.monotonic() - wall - _TICK
        if late > limit:
            ran = time.process_time() - cpu
            print(f"{1e3 * late:.0f} ms late, {1e3 * ran:.0f} ms on a CPU\n", file=file, flush=True)


def main() -> int:
    limit, path, module, *arguments = sys.argv[1:]
    with open(path, "a", encoding="utf-8") as file:
        run, vitals_class = Vitals.run, cast("Any", Vitals)

        async def watched(vitals: Vitals, interval: float = INTERVAL) -> None:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_watch(float(limit) / 1e3, file))
                tasks.create_task(run(vitals, interval))

        vitals_class.run = watched
        sys.argv = [module, *arguments]
        return int(importlib.import_module(module).main() or 0)


if __name__ == "__main__":
    sys.exit(main())
