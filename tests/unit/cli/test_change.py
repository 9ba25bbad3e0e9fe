"""srv6ctl plan, diff, apply, confirm, rollback."""

import json

import pytest

from srv6mgrd.cli.change.shown import Operation
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.datastore.differences import Change
from tests.unit.cli.conftest import SID, TREE


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "wanted.json"
    path.write_text(json.dumps(TREE))
    return str(path)


def test_plan_shows_operations_as_commands(ctl, file):
    ctl.client.operations = [Operation("create", "SID x", "ip -6 route add x")]
    shown = ctl.run("plan", file)
    assert shown.out.splitlines() == [
        "+ SID x",
        "    ip -6 route add x",
        "1 operation: 1 to create",
    ]
    assert ctl.client.calls == [("plan", TREE)]
    assert ctl.run("plan", file, "--exit-code").status == Exit.FOUND
    assert ctl.run("plan", file, "--json").json["operations"][0]["verb"] == "create"


def test_a_plan_without_operations_says_which_kind(ctl, file):
    assert "that is the running configuration already" in ctl.run("plan", file).out
    ctl.client.changes = [Change("/a", None, "1")]
    assert "the configuration changes" in ctl.run("plan", file).out


def test_diff(ctl, file):
    ctl.client.changes = [Change("/srv6mgr-srv6:srv6/vrfs/x", None, "1"), Change("/b", "1", "2")]
    added, changed = ctl.run("diff", file).out.splitlines()
    assert added.split() == ["+", "vrfs/x", "1"]
    assert changed.split() == ["~", "/b", "1", "->", "2"]
    assert ctl.run("diff", file, "--exit-code").status == Exit.FOUND
    ctl.run("diff", "3", "4")
    ctl.transactions(9, 8, 7)
    ctl.run("diff")
    assert ctl.client.calls == [("compare", 3, 4), ("compare", 8, None)]


def test_apply_tells_its_transaction(ctl, file, monkeypatch):
    monkeypatch.setenv("SUDO_USER", "alice")
    ctl.transactions(1)
    ctl.client.after_commit = {}

    def commit(document, user):
        ctl.client.calls.append((document.replace, user))
        ctl.client.tree = {}
        ctl.transactions(2, 1)

    ctl.client.commit = commit
    shown = ctl.run("apply", file)
    assert shown.out == "carried out: transaction 2, 2 operations\n"
    assert ctl.client.calls == [(False, "alice")]
    ctl.client.commit = lambda *_: None
    assert "already" in ctl.run("apply", "--replace", file).out


def test_apply_to_be_confirmed(ctl, file):
    shown = ctl.run("apply", file, "--confirm-within", "10m", "--id", "one")
    assert ("commit", "one", 600) in ctl.client.calls
    assert "srv6ctl confirm" in shown.out
    assert ctl.run("apply", file, "--confirm-within", "soon").status == Exit.USAGE
    assert ctl.run("apply", file, "--id", "one").status == Exit.USAGE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is no JSON (line 1: "),
        ("[]", "it is no JSON object"),
        ('{"ietf-interfaces:interfaces": {}}', "it has ietf-interfaces:interfaces, and srv6ctl"),
    ],
)
def test_what_is_no_configuration_is_rejected(ctl, tmp_path, text, words):
    path = tmp_path / "bad.json"
    path.write_text(text)
    shown = ctl.run("apply", str(path))
    assert shown.status == Exit.REJECTED
    assert f"srv6ctl: {path}: {words}" in shown.err
    assert not ctl.client.calls


def test_a_file_that_is_not_there(ctl):
    shown = ctl.run("plan", "/nowhere")
    assert shown.status == Exit.REJECTED
    assert "/nowhere: it can't be read (No such file or directory)" in shown.err


def test_an_empty_file_does_not_remove_all_by_accident(ctl, tmp_path):
    path = tmp_path / "empty.json"
    path.write_text("{}")
    assert ctl.run("apply", "--replace", str(path)).status == Exit.REJECTED
    assert not ctl.client.calls
    assert ctl.run("apply", "--replace", "--empty", str(path)).status == 0
    assert ctl.client.calls[0][:2] == ("commit", True)


def test_nothing_is_changed_behind_the_back_of_srv6mgrd(ctl, file):
    ctl.managed = False
    for line in (["apply", file], ["plan", file], ["rollback", "1"], ["confirm"], ["reconcile"]):
        shown = ctl.run(*line)
        assert shown.status == Exit.UNREACHABLE
        assert "srv6mgrd: it is not running" in shown.err
    assert not ctl.client.calls


def test_confirm_means_the_one_that_waits(ctl):
    shown = ctl.run("confirm")
    assert (shown.status, "none awaits confirmation" in shown.err) == (Exit.REJECTED, True)
    ctl.transactions(1, pending={"id": "one", "deadline": "2026-11-21T10:00:00Z"})
    assert ctl.run("confirm").out == "commit one is kept\n"
    ctl.run("extend", "90s")
    assert ctl.client.calls == [("confirm", "one"), ("extend", "one", 90)]


def test_rollback_goes_one_back(ctl, monkeypatch):
    monkeypatch.setenv("SUDO_USER", "alice")
    assert ctl.run("rollback").status == Exit.REJECTED
    ctl.transactions(5, 4, 3)
    ctl.run("rollback")
    ctl.run("rollback", "3")
    assert ctl.client.calls == [("rollback", 4, "alice"), ("rollback", 3, "alice")]


def test_rollback_may_have_to_be_confirmed(ctl, monkeypatch):
    monkeypatch.setenv("SUDO_USER", "alice")
    ctl.transactions(5, 4)
    shown = ctl.run("rollback", "4", "--confirm-within", "10m", "--id", "back")
    assert ctl.client.calls == [("rollback", 4, "alice", "back", 600)]
    assert "commit back is undone in 600 s unless it is confirmed" in shown.out
    reported = ctl.run("rollback", "4", "--confirm-within", "90", "--json").json
    assert reported["commit-id"].startswith("alice-")
    assert ctl.run("rollback", "4", "--id", "back").status == Exit.USAGE


def test_a_rejection_is_reported_with_its_status(ctl, file):
    ctl.client.trouble = Problem.of("commit one", "it awaits confirmation", "wait", Exit.BUSY)
    shown = ctl.run("apply", file)
    assert (shown.status, shown.out) == (Exit.BUSY, "")
    assert shown.err == "srv6ctl: commit one: it awaits confirmation; wait\n"


@pytest.mark.parametrize("wanted", [SID, SID.partition("/")[0]])
def test_clear_counters(ctl, wanted):
    ctl.report()
    assert ctl.run("clear-counters", wanted).out == f"SID {SID} counts from 0\n"
    assert ctl.client.calls == [("clear", SID)]
