"""The worked example of docs/migration.md, and the rule."""

import json

import pytest

from srv6mgrd.datastore.migration import STEPS, Step, entries, main, migrate, moved
from srv6mgrd.model.rejection import RejectedError

TOP = "srv6mgr-srv6:srv6"


def counters_by_name(tree):
    for sid in entries(tree, "local-sids/sid"):
        if "counters" in sid:
            sid["counters"] = "on" if sid["counters"] else "off"


EXAMPLE = (
    Step("srv6mgr-srv6", "2027-01-15", moved("vrfs/vrf", "table-id", "table/id")),
    Step("srv6mgr-srv6", "2027-01-15", counters_by_name),
)
SAVED = {
    TOP: {
        "vrfs": {"vrf": [{"name": "red", "table-id": 10}, {"name": "blue"}]},
        "local-sids": {"sid": [{"prefix": "a", "counters": False}, {"prefix": "b"}]},
    }
}
READ = {
    TOP: {
        "vrfs": {"vrf": [{"name": "red", "table": {"id": 10}}, {"name": "blue"}]},
        "local-sids": {"sid": [{"prefix": "a", "counters": "off"}, {"prefix": "b"}]},
    }
}


def data_set(tree, revision):
    return {
        "ietf-yang-instance-data:instance-data-set": {
            "content-schema": {"module": [f"srv6mgr-srv6@{revision}"]},
            "content-data": tree,
        }
    }


def test_an_older_configuration_is_read_by_a_newer_revision():
    before = json.dumps(SAVED)
    assert migrate(SAVED, EXAMPLE, "2027-01-15") == READ
    assert json.dumps(SAVED) == before
    assert migrate(data_set(SAVED, "2026-11-21"), EXAMPLE, "2027-02-01") == READ


def test_what_is_current_is_left_as_it_is():
    assert migrate(data_set(READ, "2027-01-15"), EXAMPLE, "2027-01-15") == READ
    assert migrate(SAVED, EXAMPLE, "2026-11-21") == SAVED


@pytest.mark.parametrize("revision", ["", "2026-11-20", "2026-11-21"])
def test_interfaces_keep_the_role_that_they_had_by_default(revision):
    saved = data_set(SAVED, revision) if revision else SAVED
    assert migrate(saved)[TOP]["boundary"] == {"default-role": "core"}
    assert "boundary" not in migrate(data_set(SAVED, "2026-11-23"))[TOP]
    assert migrate({}) == {}
    declared = {TOP: {"boundary": {"default-role": "customer"}}}
    assert migrate(declared) == declared


def test_steps_run_in_the_order_of_revisions():
    later = Step("srv6mgr-srv6", "2027-03-01", moved("vrfs/vrf", "table", "fib"))
    tree = migrate(SAVED, (later, *EXAMPLE), "2027-03-01")
    assert tree[TOP]["vrfs"]["vrf"][0] == {"name": "red", "fib": {"id": 10}}


def test_a_newer_configuration_is_rejected():
    with pytest.raises(RejectedError, match="upgrade the product"):
        migrate(data_set(SAVED, "2099-01-01"))


def test_steps_are_in_order_and_known():
    assert [s.revision for s in STEPS] == sorted(s.revision for s in STEPS)


def test_the_command(tmp_path, capsys):
    file = tmp_path / "saved.json"
    file.write_text(json.dumps(data_set(SAVED, "2026-11-20")))
    assert main([str(file)]) == 0
    assert json.loads(capsys.readouterr().out) == migrate(SAVED)
    file.write_text("[]")
    assert main([str(file)]) == 1
    assert main([]) == 2
