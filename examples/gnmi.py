"""gNMI calls to a node, each shown as the gnmic command line that does the same."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from lab.guest.nodes import Node

# Where the kernel says who asks; TLS on port 9339 wants a password or a certificate.
SOCKET = "unix:///run/srv6mgr/gnmi.sock"
_PYTHON = "/opt/pygnmi/bin/python"
_CALL = "/src/examples/pygnmi_call.py"


class GnmiError(Exception):
    """The server rejected a request: ``code`` is the gRPC status, with its message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Gnmi:
    """Calls srv6-gnmid on a node, from that node. ``show`` gets the gnmic command line."""

    def __init__(self, node: Node, show: Callable[[str], None] = lambda _: None) -> None:
        self._node = node
        self._show = show

    def capabilities(self) -> dict[str, Any]:
        self._gnmic("capabilities")
        return self._call("capabilities")

    def get(self, *paths: str, kind: str = "all") -> list[Any]:
        """Values found at the paths, in their order; JSON_IETF."""
        options = ["--path", *paths] if len(paths) == 1 else [f"--path={p}" for p in paths]
        self._gnmic("get", *options, *(["--type", kind] if kind != "all" else []))
        answer = self._call("get", path=list(paths), encoding="json_ietf", datatype=kind)
        updates = [n.get("update", []) for n in answer["notification"]]
        return [update["val"] for part in updates for update in part]

    def set(
        self,
        *,
        update: Sequence[tuple[str, Any]] = (),
        replace: Sequence[tuple[str, Any]] = (),
        delete: Sequence[str] = (),
        file: str = "",
    ) -> list[str]:
        """Operations done, in order. ``file`` is only what the command line shows."""
        words = [w for path in delete for w in ("--delete", path)]
        for verb, operations in (("replace", replace), ("update", update)):
            for path, value in operations:
                what = f"--{verb}-file {file}" if file else f"--{verb}-value {json.dumps(value)}"
                words += [f"--{verb}-path", path, *what.split(" ", 1)]
        self._gnmic("set", *words)
        answer = self._call(
            "set",
            delete=list(delete) or None,
            replace=[list(r) for r in replace] or None,
            update=[list(u) for u in update] or None,
            encoding="json_ietf",
        )
        return [r["op"] for r in answer["response"]]

    def _gnmic(self, *words: str) -> None:
        self._show(f"gnmic -a {SOCKET} --insecure -e json_ietf {shlex.join(words)}")

    def _call(self, method: str, **arguments: Any) -> dict[str, Any]:
        call = {"target": SOCKET, "method": method, "arguments": arguments}
        done = self._node.run([_PYTHON, _CALL], input=json.dumps(call), check=False)
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise GnmiError("UNKNOWN", done.stderr.strip() or "no answer") from None
        if "error" in answer:
            raise GnmiError(answer["error"]["code"], answer["error"]["message"])
        return answer
