"""Rows of CONFIG_DB become configuration, whatever happens to Redis meanwhile."""

from __future__ import annotations

import pytest

from tests.contract.configdb.conftest import Door

LOCATOR, VRF = "SRV6_MY_LOCATORS|MAIN", "VRF|Vrf1"
PREFIX = "fcbb:bbbb:20:f1::/64"
SID = f"SRV6_MY_SIDS|MAIN|{PREFIX}"
DT46 = {"action": "uDT46", "decap_vrf": "Vrf1", "decap_dscp_mode": "pipe"}


def declare(door: Door) -> None:
    """Dependents first: order must not matter."""
    door.config.hset(SID, mapping=DT46)
    door.config.hset(VRF, mapping={"NULL": "NULL"})
    door.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})


def is_declared(door: Door) -> bool:
    return (
        list(door.running("local-sids", "sid")) == [PREFIX]
        and list(door.running("vrfs", "vrf")) == ["Vrf1"]
        and list(door.running("locators", "locator")) == ["MAIN"]
    )


def is_empty(door: Door) -> bool:
    return not (
        door.running("local-sids", "sid")
        or door.running("vrfs", "vrf")
        or door.running("locators", "locator")
    )


def test_rows_are_declared_and_removed(door: Door) -> None:
    declare(door)
    door.wait(SID, "accepted")
    assert door.running("local-sids", "sid")[PREFIX] == {
        "prefix": PREFIX,
        "locator": "MAIN",
        "behavior": "End.DT46",
        "vrf": "Vrf1",
    }
    assert door.running("vrfs", "vrf")["Vrf1"] == {"name": "Vrf1", "table-id": 1001}
    # Changed in place, a field taken away.
    door.config.hset(SID, mapping={"action": "uN"})
    door.config.hdel(SID, "decap_vrf")
    door.wait_until(lambda: "flavor" in door.running("local-sids", "sid")[PREFIX])
    assert "vrf" not in door.running("local-sids", "sid")[PREFIX]
    # What others stand on goes first: it can't, until they are gone.
    door.config.delete(LOCATOR)
    door.wait(LOCATOR, "removed", "locator MAIN")
    door.config.delete(VRF, SID)
    door.wait_until(lambda: is_empty(door))
    door.wait_until(lambda: not door.state.keys("*"))


def test_rejected_rows_are_told_why_and_stop_nobody(door: Door) -> None:
    outside = "SRV6_MY_SIDS|MAIN|fcbb:cccc:1:1::/64"
    door.config.hset(outside, mapping={"action": "uN"})
    door.config.hset("SRV6_MY_SIDS|OTHER|fcbb:bbbb:20:2::/64", mapping={"action": "uN"})
    door.config.hset("SRV6_MY_LOCATORS|BAD", mapping={"prefix": "fcbb:9::", "node_len": "12"})
    declare(door)
    door.wait(SID, "accepted")
    door.wait(
        "SRV6_MY_SIDS|OTHER|fcbb:bbbb:20:2::/64",
        "refused",
        "locator OTHER does not exist; create it or name an existing locator",
    )
    door.wait("SRV6_MY_LOCATORS|BAD", "refused", "whole bytes")
    # What only srv6mgrd judges.
    door.core.veto = f"SID {PREFIX}: it is not wanted; take it away"
    door.config.hset(SID, mapping={"action": "uDT4"})
    door.wait(SID, "refused", f"SID {PREFIX}: it is not wanted; take it away")
    assert door.running("local-sids", "sid")[PREFIX]["behavior"] == "End.DT46"


def test_malformed_keys_and_types(door: Door) -> None:
    door.config.set("SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:2::/64", "text")
    door.config.lpush("VRF|Vrf9", "a", "list")
    door.config.hset("SRV6_MY_SIDS|MAIN", mapping={"action": "uN"})
    door.config.hset(b"VRF|\xff\xfe".decode("latin-1"), mapping={"vni": "0"})
    raw = door.config.connection_pool.connection_kwargs
    assert raw
    door.config.execute_command("HSET", b"SRV6_MY_LOCATORS|\xff\x00", b"prefix", b"\xfe")
    declare(door)
    door.wait(SID, "accepted")
    door.wait("SRV6_MY_SIDS|MAIN", "refused", "the key is not")
    door.wait("VRF|Vrf9", "refused", "it is a list, not a hash")
    # A row that changes its type and back again.
    door.config.delete(VRF)
    door.config.set(VRF, "text")
    door.wait(VRF, "refused", "it is a string, not a hash")
    assert is_declared(door)
    door.config.delete(VRF)
    door.config.hset(VRF, mapping={"vni": "0"})
    door.wait(VRF, "accepted")


@pytest.mark.parametrize("how", ["restart", "FLUSHALL"])
def test_a_redis_that_lost_all_removes_nothing(door: Door, how: str) -> None:
    declare(door)
    door.wait(SID, "accepted")
    if how == "restart":
        door.server.stop()
        door.server.start("--notify-keyspace-events", "AKE")
    else:
        door.config.flushall()
    door.wait_until(lambda: not door.state.keys("SRV6MGR_CONFIG|*"))
    # More than the grace of 1 s; every compare would have removed them.
    began, _ = door.config.time()
    door.wait_until(lambda: door.config.time()[0] > began + 3)
    assert is_declared(door)
    # As its configuration is loaded anew, one row fewer than before.
    door.config.hset(VRF, mapping={"NULL": "NULL"})
    door.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})
    door.wait(LOCATOR, "accepted")
    door.wait_until(lambda: not door.running("local-sids", "sid"))
    assert list(door.running("vrfs", "vrf")) == ["Vrf1"]


def test_an_empty_database_that_says_it_is_loaded(door: Door) -> None:
    declare(door)
    door.wait(SID, "accepted")
    door.config.flushdb()
    door.config.set("CONFIG_DB_INITIALIZED", "1")
    door.wait_until(lambda: is_empty(door))


def test_without_notifications(door: Door) -> None:
    door.config.config_set("notify-keyspace-events", "")
    declare(door)
    door.wait(SID, "accepted")
    door.config.delete(SID)
    door.wait_until(lambda: not door.running("local-sids", "sid"))


def test_connections_that_are_killed(door: Door) -> None:
    declare(door)
    door.wait(SID, "accepted")
    door.config.client_kill_filter(_type="normal", skipme=True)
    door.config.client_kill_filter(_type="pubsub", skipme=True)
    door.config.hset("VRF|Vrf2", mapping={"NULL": "NULL"})
    door.wait("VRF|Vrf2", "accepted")
    assert door.running("vrfs", "vrf")["Vrf2"]["table-id"] == 1002


@pytest.mark.parametrize("kill", [True, False])
def test_a_restart_of_the_door(door: Door, kill: bool) -> None:
    declare(door)
    door.wait(SID, "accepted")
    door.daemon.stop(kill=kill)
    changes = len(door.core.changes)
    door.config.delete(SID)
    door.config.hset("VRF|Vrf2", mapping={"NULL": "NULL"})
    door.daemon.start()
    door.wait("VRF|Vrf2", "accepted")
    door.wait_until(lambda: not door.running("local-sids", "sid"))
    assert len(door.core.changes) == changes + 2


def test_who_wins_between_doors(door: Door) -> None:
    declare(door)
    door.wait(SID, "accepted")
    sid = {"prefix": PREFIX, "locator": "MAIN", "behavior": "End"}
    # Changed by another door: it is that door's.
    door.other_door(f"/local-sids/sid[prefix='{PREFIX}']")
    door.wait(SID, "refused", "another door removed it")
    door.other_door("/local-sids", {"local-sids": {"sid": [sid]}})
    door.wait(SID, "refused", "another door declares it otherwise")
    door.config.hset(SID, mapping={"action": "uDT4"})
    door.config.hset("VRF|Vrf2", mapping={"NULL": "NULL"})
    door.wait("VRF|Vrf2", "accepted")
    assert door.running("local-sids", "sid")[PREFIX] == sid
    # Until it lets go of it.
    door.other_door(f"/local-sids/sid[prefix='{PREFIX}']")
    door.wait(SID, "accepted")
    assert door.running("local-sids", "sid")[PREFIX]["behavior"] == "End.DT4"
    # What another door declared first, and what it adds to ours.
    door.other_door("/vrfs", {"vrfs": {"vrf": [{"name": "Vrf7", "table-id": 7}]}})
    door.other_door("/vrfs", {"vrfs": {"vrf": [{"name": "Vrf2", "interface": ["eth9"]}]}})
    door.config.hset("VRF|Vrf7", mapping={"NULL": "NULL"})
    door.wait("VRF|Vrf7", "accepted")
    door.config.delete("VRF|Vrf7", "VRF|Vrf2")
    door.wait("VRF|Vrf2", "removed", "another door added interface")
    assert {"Vrf7", "Vrf2"} <= door.running("vrfs", "vrf").keys()


def test_many_rows_are_one_edit(door: Door) -> None:
    door.daemon.stop()
    door.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})
    pipe = door.config.pipeline()
    for n in range(1, 2001):
        pipe.hset(f"SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:{n:x}::/64", mapping={"action": "uN"})
    pipe.execute()
    door.daemon.start()
    last = "SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:7d0::/64"
    door.wait(last, "accepted")
    assert len(door.running("local-sids", "sid")) == 2000
    assert len(door.core.changes) == 1


def test_rules_for_its_user_hold(door: Door) -> None:
    """Whoever may write to Redis may write what NACM permits this user."""
    door.daemon.stop()
    door.daemon.restrict_to("configdb")
    door.daemon.start()
    door.config.hset(VRF, mapping={"NULL": "NULL"})
    door.wait(VRF, "waiting", "access: denied")
    assert not door.running("vrfs", "vrf")
    with door.permitted("configdb", "/srv6mgr-srv6:srv6/vrfs"):
        door.wait(VRF, "accepted")
        door.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})
        door.wait(LOCATOR, "waiting", "access: denied")
        door.config.delete(VRF, LOCATOR)
        door.wait_until(lambda: is_empty(door))
