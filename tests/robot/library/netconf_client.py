"""An ncclient that stays: one JSON request per line in, one JSON answer per line out.

Runs on the node that manages others, over SSH with a key.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from ncclient import manager
from ncclient.operations.rpc import RPCError
from ncclient.xml_ import to_ele


def answer(session: Any, method: str, arguments: dict[str, Any]) -> str:
    if method == "dispatch":
        return str(session.dispatch(to_ele(arguments["xml"])))
    reply = getattr(session, method)(**arguments)
    return str(reply)


def rejection(error: Exception) -> dict[str, str]:
    """error-tag and words; of an error that is not NETCONF's, its own name and words."""
    if isinstance(error, RPCError):
        first: Any = error.errlist[0] if getattr(error, "errlist", None) else error
        return {"tag": first.tag, "message": first.message or ""}
    return {"tag": type(error).__name__, "message": str(error)}


def main() -> int:
    logging.disable(logging.CRITICAL)  # it logs what it raises as well
    host, key = sys.argv[1:]
    session: Any = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if session is None:
                session = manager.connect_ssh(
                    host=host, port=830, username="root", key_filename=key, hostkey_verify=False,
                    allow_agent=False, look_for_keys=False, timeout=60,
                )  # fmt: skip
                session.timeout = 120
            reported: dict[str, Any] = {"answer": answer(session, **asked)}
        except Exception as error:
            reported = {"error": rejection(error)}
        print(json.dumps(reported), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
