"""A pygnmi client that stays: one JSON request per line in, one JSON answer per line out.

Runs in pygnmi's own environment, since its protobufs can't share a process with gnmi-pb. A start
of it costs more than a hundred calls.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from typing import Any

import grpc
from pygnmi.client import gNMIclient


class Session:
    """Calls of one client; its subscriptions are numbered."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._subscriptions: list[Any] = []

    def answer(self, method: str, arguments: dict[str, Any]) -> Any:
        if method == "subscribe":
            self._subscriptions.append(self._client.subscribe2(**arguments))
            return len(self._subscriptions) - 1
        if method == "next":
            return self._next(**arguments)
        if method == "close":
            return self._subscriptions[arguments["subscription"]].close()
        for verb in ("update", "replace"):
            if arguments.get(verb):
                arguments[verb] = [tuple(operation) for operation in arguments[verb]]
        return getattr(self._client, method)(**arguments)

    def _next(self, subscription: int, timeout: float) -> Any:
        """What the server sent next; None when it sent nothing for that long."""
        stream = self._subscriptions[subscription]
        try:
            return stream.get_update(timeout)
        except TimeoutError:
            if stream.error is not None:
                raise stream.error from None
            return None


def rejection(error: Exception) -> dict[str, str]:
    """gRPC status and words; of an error that is not gRPC's, its own name and words."""
    cause = getattr(error, "orig_exc", None) or error
    if isinstance(cause, grpc.RpcError):
        return {"code": cause.code().name, "message": cause.details() or ""}
    return {"code": type(cause).__name__, "message": str(error)}


def main() -> int:
    logging.disable(logging.CRITICAL)  # it logs what it raises as well
    threading.excepthook = lambda _: None  # and what it keeps in `error`
    with gNMIclient(**json.loads(sys.argv[1])) as client:
        session = Session(client)
        for line in sys.stdin:
            call = json.loads(line)
            try:
                answer = {"answer": session.answer(call["method"], call["arguments"])}
            except Exception as error:
                answer = {"error": rejection(error)}
            print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    try:
        status = main()
    except Exception as error:
        print(json.dumps({"error": rejection(error)}), flush=True)
        status = 1
    sys.exit(status)
