"""The commit clock of a node, asked through sysrepo's own tool."""

from __future__ import annotations

import json
from typing import Any

from robot.api.deco import library

from examples.gnmi import GnmiError
from lab.waiting import wait_until
from tests.robot.library.gnmi import operations, session
from tests.robot.library.network import node

_MODULE = "srv6mgr-operations"
_TREE = "srv6mgr-srv6:srv6"


class RpcError(Exception):
    """What sysrepo says of an RPC that was rejected."""


@library(scope="GLOBAL", auto_keywords=True)
class Transactions:
    """Confirmed commits, history and rollback."""

    def with_sid(self, name: str, prefix: str) -> str:
        """The running configuration with one more SID."""
        tree = _read(name, "running")
        tree[_TREE]["local-sids"]["sid"].append(
            {"prefix": prefix, "locator": "MAIN", "behavior": "End"}
        )
        return json.dumps(tree)

    def send_rpc(self, name: str, rpc: str, **given: Any) -> Any:
        """The output of an RPC. Fails with what sysrepo says when it is rejected."""
        on = node(name)
        on.write_file("/tmp/rpc.json", json.dumps({f"{_MODULE}:{rpc}": given}))
        asked = on.run(["sysrepocfg", "--rpc=/tmp/rpc.json", "-f", "json", "-t", "60"], check=False)
        if asked.returncode:
            raise RpcError(asked.stderr.strip())
        text = asked.stdout.strip()
        return json.loads(text)[f"{_MODULE}:{rpc}"] if text else {}

    def rpc_is_rejected(self, name: str, words: str, rpc: str, **given: Any) -> None:
        try:
            self.send_rpc(name, rpc, **given)
        except RpcError as reported:
            if words in str(reported):
                return
            raise
        raise AssertionError(f"{rpc} was not refused")

    def set_has_to_wait(self, name: str, words: str, line: str) -> None:
        """A Set that is rejected because another commit awaits confirmation."""
        try:
            session(name).set(**operations([line]))
        except GnmiError as reported:
            if reported.code == "FAILED_PRECONDITION" and words in str(reported):
                return
            raise
        raise AssertionError("the Set was not refused")

    def last_transaction(self, name: str) -> dict[str, Any]:
        """The newest entry of the history."""
        return self.history(name)[0]

    def history(self, name: str) -> list[dict[str, Any]]:
        member = f"{_MODULE}:transactions"
        tree = _read(name, "operational", f"/{_TREE}/{member}")
        listed: list[dict[str, Any]] = tree[_TREE][member]["transaction"]
        return sorted(listed, key=lambda t: -int(t["id"]))

    def wait_for_transaction_status(
        self, name: str, number: str, status: str, timeout: float = 20
    ) -> None:
        def reached() -> bool:
            return any(t["id"] == number and t["status"] == status for t in self.history(name))

        wait_until(reached, f"transaction {number} of {name} is {status}", timeout)

    def startup_has(self, name: str, prefix: str, timeout: float = 10) -> None:
        """The startup configuration holds a SID."""

        def holds() -> bool:
            return prefix in json.dumps(_read(name, "startup"))

        wait_until(holds, f"the startup configuration of {name} has {prefix}", timeout)


def _read(name: str, datastore: str, path: str = f"/{_TREE}") -> Any:
    asked = ["sysrepocfg", "-X", "-d", datastore, "-f", "json", "-x", path]
    return json.loads(node(name).run(asked).stdout or "{}")
