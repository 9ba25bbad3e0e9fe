"""Configuration through srv6ctl: sysrepo judges, the commit clock keeps."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from lab.waiting import wait_until
from srv6mgrd.cli.client import opened
from srv6mgrd.cli.problem import Exit
from srv6mgrd.model.rejection import Rejection
from tests.contract.cli.conftest import SID, Ctl

_SRV6 = "srv6mgr-srv6:srv6"
LOCATOR = {"locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]}}
END = {"local-sids": {"sid": [{"prefix": SID, "locator": "MAIN", "behavior": "End"}]}}
WHOLE = json.dumps({_SRV6: LOCATOR | END})
FIRST = json.dumps({_SRV6: LOCATOR})
MORE = json.dumps({_SRV6: END})


def test_apply_merges_and_replaces(ctl: Ctl) -> None:
    assert ctl.run("apply", "-", given=FIRST).status == 0
    reported = ctl.run("apply", "-", "--json", given=MORE).json
    assert (reported["changed"], reported["transaction"]["origin"]) == (True, "srv6ctl")
    assert reported["transaction"]["user"] == "alice"
    assert ctl.running().keys() == {"locators", "local-sids"}
    assert ctl.run("apply", "--replace", "-", given=FIRST).status == 0
    assert ctl.running().keys() == {"locators"}
    again = ctl.run("apply", "-", given=FIRST)
    assert again.out == "nothing to do: that is the running configuration already\n"
    assert ctl.run("apply", "--replace", "--empty", "-", given="{}").status == 0
    assert ctl.running() == {}


def test_plan_judges_what_apply_would(ctl: Ctl) -> None:
    ctl.run("apply", "-", given=FIRST)
    planned = ctl.run("plan", "-", given=MORE)
    assert planned.status == 0
    assert "ip -6 route add fcbb:0:1:64::/64" in planned.out
    assert ctl.loop.world.manager.trees[-1][_SRV6].keys() == {"locators", "local-sids"}
    assert ctl.running().keys() == {"locators"}


def test_rejections_of_yang_and_of_srv6mgrd_are_reported(ctl: Ctl) -> None:
    bad = json.dumps({_SRV6: {"local-sids": {"sid": [{"prefix": "nonsense"}]}}})
    for line in (("apply", "-"), ("plan", "-"), ("diff", "-")):
        rejected = ctl.run(*line, given=bad)
        assert rejected.status == Exit.REJECTED
        assert rejected.err.startswith("srv6ctl: SID ")
    ctl.loop.world.manager.change_rejection = Rejection("SID x", "it is bad", "make it good", "bad")
    rejected = ctl.run("apply", "-", "--json", given=FIRST)
    assert rejected.status == Exit.REJECTED
    (error,) = json.loads(rejected.err)["errors"]
    assert error == {"object": "SID x", "cause": "it is bad", "remedy": "make it good"}
    assert ctl.running() == {}


def test_diff_of_files_and_transactions(ctl: Ctl) -> None:
    ctl.run("apply", "-", given=FIRST)
    (first, *_) = ctl.run("show", "transactions", "--json").json["transactions"]["transaction"]
    found = ctl.run("diff", "-", "--json", given=WHOLE).json["differences"]
    assert all(change["before"] is None for change in found)
    assert ctl.run("diff", "-", "--exit-code", given=FIRST).status == 0
    ctl.run("apply", "-", given=MORE)
    last = ctl.run("diff", "--json").json["differences"]
    assert last == found == ctl.run("diff", str(first["id"]), "--json").json["differences"]


def test_what_is_not_confirmed_is_undone(ctl: Ctl) -> None:
    ctl.run("apply", "-", given=FIRST)
    ctl.run("apply", "-", "--confirm-within", "1s", given=MORE)
    wait_until(lambda: "local-sids" not in ctl.running())


def test_confirm_cancel_extend_and_who_waits(ctl: Ctl) -> None:
    ctl.run("apply", "-", given=FIRST)
    begun = ctl.run("apply", "-", "--confirm-within", "10m", "--id", "one", given=MORE)
    assert "commit one is undone in 600 s" in begun.out
    waits = ctl.run("apply", "-", given=FIRST)
    assert waits.status == 0  # it changes nothing
    waits = ctl.run("apply", "--replace", "-", given=FIRST)
    assert waits.status == Exit.BUSY
    assert "commit one: it came through srv6ctl of alice and awaits confirmation" in waits.err
    assert ctl.run("extend", "20m").status == 0
    pending = ctl.loop.pending()
    assert pending is not None
    assert pending.timeout == 1200
    assert ctl.run("cancel").out == "commit one is undone\n"
    assert ctl.running().keys() == {"locators"}
    ctl.run("apply", "-", "--confirm-within", "10m", given=MORE)
    assert ctl.run("confirm", "other").status == Exit.REJECTED
    assert ctl.run("confirm").status == 0
    assert ctl.loop.pending() is None
    assert ctl.running().keys() == {"locators", "local-sids"}


def test_a_rejected_commit_to_confirm_leaves_none_behind(ctl: Ctl) -> None:
    ctl.loop.world.manager.change_rejection = Rejection("SID x", "it is bad", "make it good", "bad")
    rejected = ctl.run("apply", "-", "--confirm-within", "10m", given=FIRST)
    assert (rejected.status, ctl.loop.pending()) == (Exit.REJECTED, None)


def test_rollback(ctl: Ctl) -> None:
    ctl.run("apply", "-", given=FIRST)
    ctl.run("apply", "-", given=MORE)
    back = ctl.run("rollback")
    assert back.status == 0
    assert ctl.running().keys() == {"locators"}
    unknown = ctl.run("rollback", "999999")
    assert unknown.status == Exit.REJECTED
    assert "transaction 999999: its configuration is not known; choose another" in unknown.err


def test_rollback_to_be_confirmed(ctl: Ctl) -> None:
    ctl.run("apply", "-", given=FIRST)
    ctl.run("apply", "-", given=MORE)
    back = ctl.run("rollback", "--confirm-within", "10m", "--id", "back")
    assert back.status == 0, back.err
    assert ctl.running().keys() == {"locators"}
    pending = ctl.loop.pending()
    assert pending is not None
    assert (pending.id, pending.origin.user, pending.timeout) == ("back", "alice", 600)
    assert ctl.run("cancel").out == "commit back is undone\n"
    assert ctl.running().keys() == {"locators", "local-sids"}


def test_upkeep(ctl: Ctl) -> None:
    ctl.run("apply", "-", given=WHOLE)
    assert ctl.run("clear-counters").status == 0
    assert ctl.run("clear-counters", SID).status == 0
    assert ctl.loop.world.manager.cleared == [None, SID]
    assert ctl.run("reconcile").out.startswith("nothing to repair")


def test_show_and_explain(ctl: Ctl) -> None:
    ctl.run("apply", "-", given=WHOLE)
    (sid,) = ctl.run("show", "sids", "--json").json["sids"]
    assert (sid["behavior"], sid["install-status"]) == ("End", "installed")
    reported = ctl.run("explain", "fcbb:0:1:64::", "--listen", "0", "--json").json
    assert (reported["prefix"], reported["in-kernel"]) == (SID, False)


def test_one_sid_is_read_without_the_others(ctl: Ctl, place: Path) -> None:
    other = {"prefix": "fcbb:0:1:65::/64", "locator": "MAIN", "behavior": "End"}
    both = {"local-sids": {"sid": [*END["local-sids"]["sid"], other]}}
    ctl.run("apply", "-", given=json.dumps({_SRV6: LOCATOR | both}))

    with opened(place, print, print) as client:
        one = json.loads(client.running_with_sid(SID))[_SRV6]
        none = json.loads(client.running_with_sid("fcbb:0:1:66::/64"))[_SRV6]

    assert [sid["prefix"] for sid in one["local-sids"]["sid"]] == [SID]
    assert one["locators"] == none["locators"] == LOCATOR["locators"]
    assert "local-sids" not in none


def test_whether_srv6mgrd_answers_is_known_in_time(ctl: Ctl, place: Path) -> None:
    goes_on = threading.Event()

    async def hang() -> None:
        goes_on.wait(30)

    with opened(place, print, print) as client:
        assert client.answers(10)
        hanging = ctl.loop.begin(hang())
        try:
            assert not client.answers(0.5)
        finally:
            goes_on.set()
            hanging.result(30)


def test_whoever_commits_hears_the_warnings(ctl: Ctl) -> None:
    warning = "boundary: eth1 can reach SIDs; set its role"
    ctl.loop.world.manager.warnings = (warning,)
    applied = ctl.run("apply", "-", given=FIRST)
    assert (applied.status, applied.err) == (0, f"warning: {warning}\n")
    ctl.run("apply", "-", given=MORE)
    restored = ctl.run("rollback")
    assert (restored.status, restored.err) == (0, f"warning: {warning}\n")
    ctl.loop.world.manager.warnings = ()
    assert ctl.run("apply", "-", given=MORE).err == ""
