"""Runs in pygnmi's own environment: its protobufs can't share a process with gnmi_pb's.

Argument: JSON with target, root and calls, each [method, keyword arguments]. Prints a JSON list
of results, or of {"error": text}.
"""

import json
import sys

from pygnmi.client import gNMIclient

asked = json.loads(sys.argv[1])
results = []
with gNMIclient(
    target=tuple(asked["target"]), path_root=asked["root"], gnmi_timeout=20, **asked["client"]
) as client:
    for method, arguments in asked["calls"]:
        if "set" in method:
            for field in ("update", "replace"):
                arguments[field] = [tuple(pair) for pair in arguments.get(field, [])]
        try:
            answer = getattr(client, method)(**arguments)
            if method == "subscribe2":
                collected = []
                for message in answer:
                    collected.append(message)
                    if "sync_response" in message:
                        break
                answer = collected
        except Exception as e:
            answer = {"error": str(e)}
        results.append(answer)
print(json.dumps(results, default=str))
