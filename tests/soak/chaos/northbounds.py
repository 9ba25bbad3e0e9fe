"""Ways to change the configuration of a router."""

from __future__ import annotations

import json
from collections.abc import Iterable
from subprocess import SubprocessError
from typing import Any, Protocol

import grpc
from gnmi_pb import gnmi_ext_pb2 as ext
from google.protobuf.duration_pb2 import Duration

from examples.gnmi import GnmiError
from lab.guest.nodes import Node
from lab.problem import LabError
from lab.waiting import wait_until
from tests.contract.gnmi.client import Client
from tests.robot.library import cli
from tests.robot.library.gnmi import Session as GnmiSession
from tests.robot.library.gnmi import full_path
from tests.robot.library.netconf import ADDRESSES, NetconfError
from tests.robot.library.netconf import Session as NetconfSession
from tests.soak.chaos.plan import Commit
from tests.soak.chaos.things import LISTS, Change, Thing, as_xml, entry_path, merged

# A client gives up after this long.
DEADLINE = 60
# Seconds until a commit that is not confirmed is rolled back: one that has to be, and one that is
# confirmed or cancelled before, also on a machine that does other work.
SOON, LATE = 2, 40
# By which a commit is confirmed or cancelled, from another session too.
TOKEN = "chaos"
# srv6-configdbd tries rows again that were not accepted.
_ROWS = 45.0
_REDIS = ["redis-cli", "-s", "/run/redis/redis.sock", "-e"]


class NotAcceptedError(Exception):
    """Rejected, or no answer: the change is done whole, or not at all."""


class Northbound(Protocol):
    name: str

    def apply(self, change: Change, commit: Commit) -> None:
        """Returns when the change is accepted, and confirmed or cancelled if that is how it is
        committed. Raises NotAcceptedError."""

    def end(self) -> None: ...


class Gnmi:
    name = "gNMI"

    def __init__(self, node: Node) -> None:
        self._node = node
        self._session: GnmiSession | None = None

    @property
    def session(self) -> GnmiSession:
        if self._session is None:
            self._session = GnmiSession(self._node, gnmi_timeout=DEADLINE)
        return self._session

    def apply(self, change: Change, commit: Commit) -> None:
        update = [
            (full_path(entry_path(name, entry)), _keyless(entry, LISTS[name][1]))
            for thing in change.add
            for name, entries in thing.entries().items()
            for entry in entries
        ]
        delete = [full_path(path) for thing in change.remove for path in thing.paths()]
        try:
            if commit is Commit.PLAIN:
                self.session.set(update=update, delete=delete)
            else:
                self._to_be_confirmed(dict(update), delete, commit)
        except GnmiError as error:
            self.end()
            raise NotAcceptedError(f"{error.code}: {error}") from error
        except grpc.RpcError as error:
            raise NotAcceptedError(f"{error.code()}: {error.details()}") from error

    def _to_be_confirmed(self, update: dict[str, Any], delete: list[str], commit: Commit) -> None:
        """With the extension commit, which pygnmi lacks."""
        client = Client(f"unix:{self._node.path('/run/srv6mgr/gnmi.sock')}", own_connection=True)
        try:
            seconds = SOON if commit is Commit.EXPIRED else LATE
            begin = ext.CommitRequest(rollback_duration=Duration(seconds=seconds))
            asked = ext.Commit(id=TOKEN, commit=begin)
            client.set(delete, update=update, extension=[ext.Extension(commit=asked)])
            if commit is not Commit.EXPIRED:
                asked = ext.Commit(id=TOKEN)
                action = asked.confirm if commit is Commit.CONFIRMED else asked.cancel
                action.SetInParent()
                client.set(extension=[ext.Extension(commit=asked)])
        finally:
            client.close()

    def config(self) -> dict[str, Any]:
        """The running configuration below ``srv6``."""
        try:
            (tree,) = self.session.get("/srv6mgr-srv6:srv6", kind="config")
        except (GnmiError, ValueError):
            self.end()
            raise
        found: dict[str, Any] = tree
        return found

    def end(self) -> None:
        if self._session is not None:
            self._session.end()
            self._session = None


class Netconf:
    name = "NETCONF"

    def __init__(self, node: Node) -> None:
        self._node = node
        self._session: NetconfSession | None = None

    def call(self, method: str, **arguments: Any) -> str:
        """Raises NetconfError; the session is then another one."""
        if self._session is None:
            self._session = NetconfSession(Node("p"), ADDRESSES[self._node.name])
        try:
            return self._session.call(method, **arguments)
        except NetconfError:
            self.end()
            raise

    def apply(self, change: Change, commit: Commit) -> None:
        try:
            if commit is Commit.PLAIN:
                self.call("edit_config", config=as_xml(change), target="running")
            else:
                self._to_be_confirmed(as_xml(change), commit)
        except NetconfError as error:
            raise NotAcceptedError(str(error)) from error

    def _to_be_confirmed(self, config: str, commit: Commit) -> None:
        self.call("discard_changes")
        self.call("edit_config", config=config, target="candidate")
        seconds = SOON if commit is Commit.EXPIRED else LATE
        self.call("commit", confirmed=True, timeout=str(seconds), persist=TOKEN)
        if commit is Commit.CONFIRMED:
            self.call("commit", persist_id=TOKEN)
        elif commit is Commit.CANCELLED:
            self.call("cancel_commit", persist_id=TOKEN)

    def end(self) -> None:
        if self._session is not None:
            self._session.end()
            self._session = None


class Ctl:
    """The whole configuration is replaced, since a file that is merged removes nothing."""

    name = "srv6ctl"

    def __init__(self, node: Node) -> None:
        self._node = node

    def apply(self, change: Change, commit: Commit) -> None:
        try:
            tree = {"srv6mgr-srv6:srv6": merged(self.running(), change)}
            done = cli.run(self._node.name, "apply --replace -", json.dumps(tree))
        except (LabError, SubprocessError, ValueError, KeyError) as error:
            raise NotAcceptedError(f"{type(error).__name__}: {error}") from error
        if done.returncode:
            raise NotAcceptedError(done.stderr.strip() or done.stdout.strip())

    def running(self) -> dict[str, Any]:
        """What sysrepo itself holds."""
        return self._read("running", "/srv6mgr-srv6:srv6")

    def awaits_confirmation(self) -> bool:
        found = self._read("operational", "/srv6mgr-srv6:srv6/srv6mgr-operations:transactions")
        return "pending" in found["srv6mgr-operations:transactions"]

    def _read(self, datastore: str, path: str) -> dict[str, Any]:
        asked = ["sysrepocfg", "-X", "-d", datastore, "-f", "json", "-x", path]
        found: dict[str, Any] = json.loads(self._node.run(asked, timeout=30).stdout)
        return found["srv6mgr-srv6:srv6"]  # type: ignore[no-any-return]

    def end(self) -> None:
        """It stays for one command only."""


class ConfigDb:
    name = "CONFIG_DB"

    def __init__(self, node: Node) -> None:
        self._node = node

    def apply(self, change: Change, commit: Commit) -> None:
        try:
            self.write(change.add)
            for thing in change.remove:
                self._redis("-n", "4", "DEL", thing.row)
            wait_until(lambda: self._done(change), f"rows of {change}", _ROWS, 0.2,
                       seen=lambda: self._statuses(change))  # fmt: skip
        except LabError as error:
            raise NotAcceptedError(str(error)) from error

    def write(self, things: tuple[Thing, ...]) -> None:
        """At once: a table with some of its rows means that those which are missing were
        removed."""
        if things:
            self._at_once(map(_row, things))

    def load(self, things: tuple[Thing, ...]) -> None:
        """As SONiC's loader does, which says when it has written all rows, and be it none."""
        self._at_once([*map(_row, things), "SET CONFIG_DB_INITIALIZED 1"])

    def _at_once(self, lines: Iterable[str]) -> None:
        batch = "\n".join(["MULTI", *lines, "EXEC", ""])
        self._node.run([*_REDIS, "-n", "4"], input=batch, timeout=20)

    def _done(self, change: Change) -> bool:
        wanted = {thing.row: "accepted" for thing in change.add}
        wanted |= {thing.row: "" for thing in change.remove}
        statuses = self._statuses(change)
        return all(statuses[row] in (status, "") for row, status in wanted.items()) and all(
            statuses[thing.row] == "accepted" for thing in change.add
        )

    def _statuses(self, change: Change) -> dict[str, str]:
        return {
            thing.row: self._redis("-n", "6", "HGET", f"SRV6MGR_CONFIG|{thing.row}", "status")
            for thing in (*change.add, *change.remove)
        }

    def _redis(self, *words: str) -> str:
        return self._node.run([*_REDIS, *words], timeout=20).stdout.strip()

    def end(self) -> None:
        """Each command is a connection of its own."""


def _row(thing: Thing) -> str:
    return f"HSET {thing.row} action uDT46 decap_vrf red"


def _keyless(entry: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != key}
