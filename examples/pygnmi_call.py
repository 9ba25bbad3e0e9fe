"""One gNMI call through pygnmi, which is not our code: JSON on stdin, JSON on stdout.

Runs in pygnmi's own environment, since its protobufs can't share a process with gnmi-pb.
"""

from __future__ import annotations

import json
import logging
import sys

import grpc
from pygnmi.client import gNMIclient


def main() -> int:
    logging.disable(logging.CRITICAL)  # it logs what it raises as well
    call = json.load(sys.stdin)
    arguments = call["arguments"]
    for verb in ("update", "replace"):
        if arguments.get(verb):
            arguments[verb] = [tuple(operation) for operation in arguments[verb]]
    try:
        with gNMIclient(target=(call["target"], ""), insecure=True, gnmi_timeout=60) as client:
            answer = getattr(client, call["method"])(**arguments)
    except Exception as error:
        json.dump({"error": _rejection(error)}, sys.stdout)
        return 1
    json.dump(answer, sys.stdout)
    return 0


def _rejection(error: BaseException | None) -> dict[str, str]:
    """gRPC status and words of an error, however deep pygnmi wrapped it."""
    outer = error
    while error is not None:
        if isinstance(error, grpc.RpcError):
            return {"code": error.code().name, "message": error.details() or ""}
        wrapped = [a for a in error.args if isinstance(a, grpc.RpcError)]
        error = wrapped[0] if wrapped else error.__cause__ or error.__context__
    return {"code": type(outer).__name__, "message": str(outer)}


if __name__ == "__main__":
    sys.exit(main())
