"""One run of ``bench.model``, in a fresh process: ``libyang|sysrepo MODULES DATA``.

Prints what it took as JSON: ``name/unit`` to number.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOP = "srv6mgr-srv6"
TIMEOUT_MS = 600_000


def validation(modules: Path, data: bytes) -> dict[str, float]:
    """Parse and validate by libyang."""
    import libyang

    with libyang.Context(f"{modules}:/usr/share/yang/modules/sysrepo:/opt/yang") as context:
        for file in sorted(modules.glob("*.yang")):
            context.load_module(file.stem)

        def parse() -> Any:
            return context.parse_data_mem(data, "json", strict=True, no_state=True)

        seconds, tree = _timed(parse)
        memory = _peak()
        tree.free()
    return {"validation/s": seconds, "memory/MiB": memory}


def commit(_: Path, data: bytes) -> dict[str, float]:
    """Commit by sysrepo of the whole, then of one more SID."""
    import sysrepo

    one = {
        "srv6mgr-srv6:srv6": {
            "local-sids": {
                "sid": [{"prefix": "fcbb:0:1:fff0::/64", "locator": "MAIN", "behavior": "End"}]
            }
        }
    }
    with sysrepo.SysrepoConnection() as connection, connection.start_session("running") as session:
        session.replace_config_ly(None, TOP, timeout_ms=TIMEOUT_MS)
        with connection.get_ly_ctx() as context:
            tree = context.parse_data_mem(data, "json", parse_only=True, strict=True)
            whole, _none = _timed(
                lambda: session.replace_config_ly(tree, TOP, timeout_ms=TIMEOUT_MS)
            )
            more = context.parse_data_mem(json.dumps(one), "json", parse_only=True, strict=True)
            session.edit_batch_ly(more)
            single, _none = _timed(lambda: session.apply_changes(timeout_ms=TIMEOUT_MS))
            more.free()
    return {"commit/s": whole, "commit of 1 more/s": single, "memory/MiB": _peak()}


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    how, modules, data = sys.argv[1:]
    run = {"libyang": validation, "sysrepo": commit}[how]
    print(json.dumps(run(Path(modules), Path(data).read_bytes())))


if __name__ == "__main__":
    main()
