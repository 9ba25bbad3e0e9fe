"""gNMI from a node to itself, through pygnmi."""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from robot.api.deco import library

from examples import gnmi
from examples.gnmi import GnmiError
from lab.guest.nodes import Node
from lab.waiting import wait_until
from tests.robot.library.network import node

SRV6 = "/srv6mgr-srv6:srv6"
CONFIGURATIONS = Path("/src/examples/l3vpn")
_PYTHON = "/opt/pygnmi/bin/python"
_SESSION = "/src/tests/robot/library/session.py"


class Session(gnmi.Gnmi):
    """The client of the examples on a connection that stays open."""

    def __init__(self, on: Node, *, user: str = "root", **options: Any) -> None:
        """``user`` is that of the node's who runs the client; ``options`` are pygnmi's."""
        super().__init__(on)
        client = {"target": [gnmi.SOCKET, ""], "gnmi_timeout": 60, "insecure": True}
        self._process = on.popen(
            ["runuser", "-u", user, "--", _PYTHON, _SESSION, json.dumps(client | options)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout

    def _call(self, method: str, **arguments: Any) -> Any:
        asked = json.dumps({"method": method, "arguments": arguments})
        # What a client that has ended said before is still to be read.
        with contextlib.suppress(BrokenPipeError):
            self._input.write(f"{asked}\n")
            self._input.flush()
        line = self._output.readline()
        if not line:
            raise GnmiError("UNKNOWN", f"the client ended with status {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise GnmiError(answer["error"]["code"], answer["error"]["message"])
        return answer["answer"]

    def subscribe(self, **request: Any) -> Subscription:
        return Subscription(self, self._call("subscribe", subscribe=request))

    def next(self, subscription: int, timeout: float) -> Any:
        return self._call("next", subscription=subscription, timeout=timeout)

    def unsubscribe(self, subscription: int) -> None:
        self._call("close", subscription=subscription)

    def end(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        self._process.wait()


@dataclass(slots=True)
class Subscription:
    """Notifications of one Subscribe, as they come. ``held`` is what they add up to."""

    session: Session
    number: int
    held: dict[str, Any] = field(default_factory=dict)
    arrived: dict[str, float] = field(default_factory=dict)
    synced: bool = False
    # What was reported since the present state was complete: paths, and those that went.
    reported: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    def take(self, timeout: float = 10) -> dict[str, Any] | None:
        """The leaves of the next notification; None when there is none for that long."""
        answer = self.session.next(self.number, timeout)
        if answer is None:
            return None
        now = time.monotonic()
        leaves = updates_of(answer)
        if self.synced:
            self.reported += leaves
            self.gone += deletes_of(answer)
        self.synced = self.synced or "sync_response" in answer
        for path in deletes_of(answer):
            for known in [k for k in self.held if k.startswith(path)]:
                del self.held[known]
        self.held |= leaves
        self.arrived |= dict.fromkeys(leaves, now)
        return leaves

    def until(self, holds: Callable[[Mapping[str, Any]], object], timeout: float) -> float:
        """Take notifications until ``held`` is as wanted; the seconds that it took."""
        started = time.monotonic()
        while not holds(self.held):
            left = started + timeout - time.monotonic()
            if left <= 0 or (self.take(left) is None and not holds(self.held)):
                raise AssertionError(f"not told within {timeout:g} s; told were {self.held}")
        return time.monotonic() - started


def updates_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Path and value of each update in a notification as pygnmi gives it."""
    message = answer.get("update") or {}
    prefix = message.get("prefix") or ""
    return {absolute(prefix, u.get("path") or ""): u["val"] for u in message.get("update", [])}


def deletes_of(answer: Mapping[str, Any]) -> list[str]:
    message = answer.get("update") or {}
    prefix = message.get("prefix") or ""
    return [absolute(prefix, d.get("path") or "") for d in message.get("delete", [])]


def absolute(*parts: str) -> str:
    """One path without module names: servers and clients differ in where they repeat them."""
    elements = [e for part in parts for e in _elements(part)]
    return "".join(f"/{_bare(e)}" for e in elements)


def _elements(path: str) -> Iterable[str]:
    """Elements of a path; a key's value may hold slashes."""
    depth, element = 0, ""
    for letter in path:
        depth += (letter == "[") - (letter == "]")
        if letter == "/" and not depth:
            if element:
                yield element
            element = ""
        else:
            element += letter
    if element:
        yield element


def _bare(element: str) -> str:
    name, bracket, keys = element.partition("[")
    return name.rpartition(":")[2] + bracket + keys


def full_path(path: str) -> str:
    """A path of the model; those that don't begin at the root hang below our container."""
    return path if path.startswith("/") else f"{SRV6}/{path}"


class Operations(TypedDict):
    """Arguments of Set."""

    update: list[tuple[str, Any]]
    replace: list[tuple[str, Any]]
    delete: list[str]


def operations(lines: Iterable[str]) -> Operations:
    """Arguments of Set from lines ``update PATH JSON``, ``replace PATH JSON``, ``delete PATH``."""
    asked = Operations(update=[], replace=[], delete=[])
    for line in lines:
        verb, _, rest = line.partition(" ")
        path, _, value = rest.strip().partition(" ")
        if verb == "delete":
            asked["delete"].append(full_path(path))
        elif verb == "replace":
            asked["replace"].append((full_path(path), json.loads(value)))
        else:
            assert verb == "update", line
            asked["update"].append((full_path(path), json.loads(value)))
    return asked


@functools.cache
def session(name: str) -> Session:
    return Session(node(name))


def state(name: str, path: str) -> dict[str, Any]:
    """The container ``state`` of an object, names without their modules."""
    (value,) = session(name).get(f"{full_path(path)}/state")
    found: dict[str, Any] = bare(value)
    return found


def bare(value: Any) -> Any:
    """JSON_IETF without module names in member names."""
    if isinstance(value, dict):
        return {_bare(k): bare(v) for k, v in value.items()}
    if isinstance(value, list):
        return [bare(v) for v in value]
    return value


def declared(name: str) -> dict[str, Any]:
    """The running configuration below our container; empty when there is none."""
    found = session(name).get(SRV6, kind="config")
    return bare(found[0]) if found else {}


@library(scope="GLOBAL", auto_keywords=True)
class Gnmi:
    """Configuration, status and subscriptions over gNMI."""

    def __init__(self) -> None:
        self._subscription: Subscription | None = None

    def configure(self, name: str) -> None:
        """One Set that makes the router's configuration the one of ``examples/l3vpn``."""
        content = json.loads((CONFIGURATIONS / f"{name}.json").read_text())
        done = session(name).set(replace=[(SRV6, content["srv6mgr-srv6:srv6"])])
        assert done == ["REPLACE"], done

    def set(self, name: str, *lines: str) -> None:
        """One Set of lines such as ``update vrfs/vrf[name=red] {"table-id": 10}``."""
        asked = operations(lines)
        done = session(name).set(**asked)
        assert len(done) == len(lines), done

    def set_is_rejected(self, name: str, code: str, message: str, *lines: str) -> None:
        """One Set that has to be rejected with this gRPC status and exactly these words."""
        _rejected(lambda: session(name).set(**operations(lines)), code, message)

    def set_is_rejected_with(self, name: str, code: str, words: str, *lines: str) -> None:
        """The same where the words are only a part: they have a time, or a number."""
        _rejected_with(lambda: session(name).set(**operations(lines)), code, words)

    def get_is_rejected_with(self, name: str, code: str, words: str, *paths: str) -> None:
        """A Get of paths as they are."""
        _rejected_with(lambda: session(name).get(*paths), code, words)

    def value_of(self, name: str, path: str, kind: str = "all") -> Any:
        """Value at a path, names without their modules."""
        (value,) = session(name).get(full_path(path), kind=kind)
        return bare(value)

    def get_is_rejected(self, name: str, code: str, message: str, path: str) -> None:
        """A Get that has to be rejected with this gRPC status and exactly these words."""
        _rejected(lambda: session(name).get(full_path(path)), code, message)

    def capabilities_of(self, name: str) -> dict[str, Any]:
        """Answer to Capabilities."""
        return session(name).capabilities()

    def status_of(self, name: str, path: str) -> str:
        """install-status of an object."""
        status: str = state(name, path)["install-status"]
        return status

    def wait_for_status(
        self, name: str, path: str, status: str, reason: str | None = None, timeout: float = 20
    ) -> None:
        """Wait until an object has this install-status (and exactly this reason)."""

        def holds() -> bool:
            seen = state(name, path)
            return seen["install-status"] == status and reason in (None, seen.get("reason", ""))

        try:
            wait_until(holds, f"{name}: {path}: {status}", timeout, 0.05)
        except Exception as failure:
            raise AssertionError(f"{failure}; it is {state(name, path)}") from None

    def all_is_installed(self, name: str, timeout: float = 30) -> None:
        """Wait until every declared object has the status ``installed``."""
        what = f"{name}: everything declared is installed"
        wait_until(
            lambda: not _missing(name), what, timeout, 0.1, seen=lambda: "\n".join(_missing(name))
        )

    def repairs_of(self, name: str, path: str) -> int:
        """How often an object was put back after drift."""
        return int(state(name, path)["repairs"])

    def wait_for_repair(self, name: str, path: str, before: int, timeout: float = 5) -> None:
        """Wait until an object has been put back more often than before."""
        what = f"{name}: {path}: more than {before} repairs"
        wait_until(
            lambda: self.repairs_of(name, path) > before, what, timeout, 0.05,
            seen=lambda: state(name, path),
        )  # fmt: skip

    def subscribe(self, name: str, mode: str, *subscriptions: str) -> None:
        """Subscribe ONCE, POLL or STREAM. A subscription is ``PATH [MODE [SECONDS]]``."""
        wanted = []
        for words in map(str.split, subscriptions):
            one: dict[str, Any] = {"path": full_path(words[0])}
            if len(words) > 1:
                one["mode"] = words[1].lower()
            if len(words) > 2:
                one["sample_interval"] = int(float(words[2]) * 1e9)
            wanted.append(one)
        self._subscription = session(name).subscribe(
            subscription=wanted, mode=mode.lower(), encoding="json_ietf"
        )

    def unsubscribe(self) -> None:
        """End the subscription, if there is one."""
        if self._subscription is not None:
            self._subscription.session.unsubscribe(self._subscription.number)
            self._subscription = None

    def take_notification(self, timeout: float = 10) -> dict[str, Any]:
        """Leaves of the next notification (of POLL: of the answer to one poll)."""
        leaves = self._open.take(timeout)
        if leaves is None:
            raise AssertionError(f"nothing came within {timeout:g} s")
        return leaves

    def wait_for_sync(self, timeout: float = 10) -> dict[str, Any]:
        """Take notifications until the server says that the present state is complete."""
        self._open.until(lambda _: self._open.synced, timeout)
        return dict(self._open.held)

    def reported_within(self, seconds: float, path: str, value: str) -> float:
        """Take notifications until a leaf has this value; fails when that takes longer."""
        key = absolute(full_path(path))
        return self._open.until(lambda held: str(held.get(key)) == value, seconds)

    def reported_otherwise_within(self, seconds: float, path: str, value: str) -> Any:
        """Take notifications until a leaf has another value; the value."""
        key = absolute(full_path(path))
        self._open.until(lambda held: str(held.get(key, value)) != value, seconds)
        return self._open.held[key]

    def nothing_else_was_reported(self, *paths: str) -> None:
        """Since the sync nothing went, and no leaf was reported but at and below these paths."""
        known = tuple(absolute(full_path(path)) for path in paths)
        others = [path for path in self._open.reported if not path.startswith(known)]
        assert (others, self._open.gone) == ([], [])

    def reported_value(self, path: str) -> Any:
        """Value of a leaf as the notifications so far report it."""
        return self._open.held.get(absolute(full_path(path)))

    def plaintext_is_rejected(self, name: str) -> str:
        """A client without TLS gets no answer; returns how it failed."""
        client = Session(node(name), target=["127.0.0.1", "9339"], gnmi_timeout=3)
        try:
            client.capabilities()
        except GnmiError as rejected:
            return rejected.code
        finally:
            client.end()
        raise AssertionError(f"{name} answered without TLS")

    @property
    def _open(self) -> Subscription:
        if self._subscription is None:
            raise AssertionError("there is no subscription")
        return self._subscription


def _rejected(call: Callable[[], object], code: str, message: str) -> None:
    """The call has to be rejected like this."""
    try:
        call()
    except GnmiError as rejected:
        reported = f"{rejected.code}:\n  {rejected}"
    else:
        raise AssertionError("it was not refused")
    if reported != (expected := f"{code}:\n  {message}"):
        raise AssertionError(f"refused with {reported}\nexpected {expected}")


def _rejected_with(call: Callable[[], object], code: str, words: str) -> None:
    try:
        call()
    except GnmiError as rejected:
        if rejected.code == code and words in str(rejected):
            return
        raise AssertionError(f"{rejected.code}: {rejected}") from None
    raise AssertionError("it was not rejected")


def _missing(name: str) -> list[str]:
    """Declared objects that are not installed, each with its status and reason."""
    tree = bare(session(name).get(SRV6)[0])
    return not_installed(tree)


def not_installed(tree: Any, path: str = "") -> list[str]:
    """Objects in a tree whose status is another than ``installed``: path, status, reason. Pure."""
    if isinstance(tree, list):
        return [p for i, entry in enumerate(tree) for p in not_installed(entry, f"{path}[{i}]")]
    if not isinstance(tree, dict):
        return []
    status = tree.get("install-status", "installed")
    reason = tree.get("reason", "")
    own = [f"{path}: {status} {reason}".rstrip()] if status != "installed" else []
    return own + [p for k, v in tree.items() for p in not_installed(v, f"{path}/{k}")]
