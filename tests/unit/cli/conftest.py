"""srv6ctl in one process, on a store that a test fills; sysrepo is a northbound of the test's."""

import contextlib
import copy
import json
import time
from dataclasses import dataclass, field

import pytest

from srv6mgrd.alarms.alarm_list import HOLD, AlarmList, Now
from srv6mgrd.alarms.control import Control
from srv6mgrd.alarms.published import PublishedAlarms
from srv6mgrd.cli.change.document import Document, Removal
from srv6mgrd.cli.config.words import Target
from srv6mgrd.cli.main import main
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session
from srv6mgrd.counters import alarms, observed
from srv6mgrd.counters.node import TRANSACTIONS, NodeWriter, beside
from srv6mgrd.counters.observed import ObservedWriter
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.paths import vrf_path
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.storage import Problems

SID = "fcbb:0:1:64::/64"
SESSION_DOWN = Condition(
    ConditionType.BGP_SESSION_DOWN, vrf_path("red"), Severity.MAJOR, "it is idle", "see its peer"
)
TREE = {
    "srv6mgr-srv6:srv6": {
        "locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]},
        "vrfs": {"vrf": [{"name": "red", "table-id": 10, "interface": ["eth1"]}]},
        "local-sids": {
            "sid": [
                {
                    "prefix": SID,
                    "locator": "MAIN",
                    "behavior": "srv6mgr-srv6:End.DT46",
                    "vrf": "red",
                }
            ]
        },
    }
}


@dataclass
class FakeClient:
    """Stands for sysrepo and srv6mgrd behind it; ``trouble`` is raised by whatever is asked."""

    tree: dict = field(default_factory=lambda: TREE)
    trouble: Problem | None = None
    calls: list = field(default_factory=list)
    operations: list = field(default_factory=list)
    changes: list = field(default_factory=list)
    after_commit: dict | None = None

    def running(self):
        if self.trouble is not None:
            raise self.trouble
        return json.dumps(self.tree)

    def running_with_sid(self, sid):
        tree = copy.deepcopy(json.loads(self.running()))
        for srv6 in tree.values():
            declared = srv6.get("local-sids", {})
            declared["sid"] = [one for one in declared.get("sid", ()) if one["prefix"] == sid]
        return json.dumps(tree)

    def resolve(self, words, *, values=False):
        return Target("/" + "/".join(words), " ".join(words))

    def part(self, path, datastore):
        return self.running()

    def lines(self, configuration):
        return [["vrf", "red", "table-id", "10"]]

    def setting(self, target):
        return Document(json.dumps(self.tree).encode(), replace=False)

    def after(self, change):
        return "{}" if isinstance(change, Removal) else change.text.decode()

    def plan(self, configuration):
        self.calls.append(("plan", json.loads(configuration)))
        return self.operations

    def differences(self, before, after):
        return self.changes

    def compare(self, transaction, other):
        self.calls.append(("compare", transaction, other))
        return self.changes

    def commit(self, change, user):
        what = change.path if isinstance(change, Removal) else change.replace
        self.calls.append(("commit", what, user))
        self.tree = self.after_commit or self.tree

    def commit_to_confirm(self, document, user, name, seconds):
        self.calls.append(("commit", name, seconds))

    def roll_back(self, number, user):
        self.calls.append(("rollback", number, user))

    def roll_back_to_confirm(self, number, user, name, seconds):
        self.calls.append(("rollback", number, user, name, seconds))

    def confirm(self, name):
        self.calls.append(("confirm", name))

    def cancel(self, name):
        self.calls.append(("cancel", name))

    def reconcile(self):
        return self.operations

    def extend(self, name, seconds):
        self.calls.append(("extend", name, seconds))

    def clear_counters(self, sid):
        self.calls.append(("clear", sid))

    def set_operator_state(self, alarm, state, text, user):
        self.calls.append(("operator-state", alarm, state, text))


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def service(state, *conditions):
    found = {"service-state": state, "last-change": "2026-11-24T00:00:00Z"}
    return {**found, "condition": list(conditions)} if conditions else found


class World:
    """``run`` is srv6ctl; what ``managed`` says is whether srv6mgrd runs."""

    def __init__(self, tmp_path, monkeypatch, capsys):
        self.client, self.managed = FakeClient(), True
        self.store = StoreWriter(tmp_path / "store")
        self.node = NodeWriter(beside(tmp_path / "store"), time.time_ns())
        self.alarm_file = alarms.beside(tmp_path / "store")
        self.observed = ObservedWriter(observed.beside(tmp_path / "store"))
        self._settings = tmp_path / "settings.toml"
        self._settings.write_text(f'runtime_directory = "{tmp_path}"\n')
        self._monkeypatch, self._capsys = monkeypatch, capsys

        @contextlib.contextmanager
        def opened(_):
            yield self.client

        monkeypatch.setattr(Session, "client", opened)
        monkeypatch.setattr("srv6mgrd.single_instance.is_managed", lambda: self.managed)

    def report(self, status=InstallStatus.INSTALLED, reason="", **counters):
        at = time.time_ns()
        self.store.set_statuses(
            {
                ObjectRef(Kind.SID, SID): ObjectStatus(status, reason, since=at),
                ObjectRef(Kind.VRF, "red"): ObjectStatus(InstallStatus.INSTALLED, since=at),
            }
        )
        self.count(at, **counters)
        self.judge()

    def judge(self, state="up", *conditions, sid=None):
        """The state of VRF red, and of the SID unless it is up."""
        found = [{"name": "red", "service": service(state, *conditions)}]
        members = {"vrfs": {"vrf": found}}
        if sid is not None:
            listed = [{"prefix": SID, "service": service(sid, *conditions)}]
            members["local-sids"] = {"sid": listed}
        self.observed.stage("service", members)
        self.observed.publish()

    def count(self, at, packets=0, octets=0, errors=0, began=1):
        counted = SidCounters(packets, octets, errors, began)
        self.store.set_counters({SID: counted}, {}, at)

    def transactions(self, *numbers, **more):
        entries = [{"id": str(n), "status": "done", "actions": 2} for n in numbers]
        self.node.show(TRANSACTIONS, {"transaction": entries, **more})

    def alarms(self, *conditions, then=None, shelves=()):
        """Those of the conditions; then, after a while, of others."""
        listed = AlarmList()
        listed.control = Control(shelves=shelves)
        for step, reported in enumerate((conditions, conditions if then is None else then)):
            listed.report("test", reported)
            for seconds in (0.0, HOLD):
                listed.settle(Now(time.time_ns(), step * 10 + seconds))
        PublishedAlarms(self.alarm_file, Problems()).write(listed.alarms, listed.changed)

    def run(self, *arguments):
        argv = ["srv6ctl", "--config", str(self._settings), *arguments]
        self._monkeypatch.setattr("sys.argv", argv)
        try:
            status = main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        reported = self._capsys.readouterr()
        return Ran(status, reported.out, reported.err)


@pytest.fixture
def ctl(tmp_path, monkeypatch, capsys):
    world = World(tmp_path, monkeypatch, capsys)
    yield world
    world.store.close()
