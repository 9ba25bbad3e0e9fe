"""Rows of CONFIG_DB become configuration, whatever happens to Redis meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from srv6mgrd.model.rejection import RejectedError, Rejection
from tests.contract.configdb.conftest import SRV6, Northbound

LOCATOR, VRF = "SRV6_MY_LOCATORS|MAIN", "VRF|Vrf1"
PREFIX = "fcbb:bbbb:20:f1::/64"
SID = f"SRV6_MY_SIDS|MAIN|{PREFIX}"
DT46 = {"action": "uDT46", "decap_vrf": "Vrf1", "decap_dscp_mode": "pipe"}


def declare(northbound: Northbound) -> None:
    """Dependents first: order must not matter."""
    northbound.config.hset(SID, mapping=DT46)
    northbound.config.hset(VRF, mapping={"NULL": "NULL"})
    northbound.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})


def is_declared(northbound: Northbound) -> bool:
    return (
        list(northbound.running("local-sids", "sid")) == [PREFIX]
        and list(northbound.running("vrfs", "vrf")) == ["Vrf1"]
        and list(northbound.running("locators", "locator")) == ["MAIN"]
    )


def is_empty(northbound: Northbound) -> bool:
    return not (
        northbound.running("local-sids", "sid")
        or northbound.running("vrfs", "vrf")
        or northbound.running("locators", "locator")
    )


def test_rows_are_declared_and_removed(northbound: Northbound) -> None:
    declare(northbound)
    northbound.wait(SID, "accepted")
    assert northbound.running("local-sids", "sid")[PREFIX] == {
        "prefix": PREFIX,
        "locator": "MAIN",
        "behavior": "End.DT46",
        "vrf": "Vrf1",
    }
    assert northbound.running("vrfs", "vrf")["Vrf1"] == {"name": "Vrf1", "table-id": 1001}
    # Changed in place, a field taken away.
    northbound.config.hset(SID, mapping={"action": "uN"})
    northbound.config.hdel(SID, "decap_vrf")
    northbound.wait_until(lambda: "flavor" in northbound.running("local-sids", "sid")[PREFIX])
    assert "vrf" not in northbound.running("local-sids", "sid")[PREFIX]
    # What others need goes first: it can't, until they are gone.
    northbound.config.delete(LOCATOR)
    northbound.wait(LOCATOR, "removed", "locator MAIN")
    northbound.config.delete(VRF, SID)
    northbound.wait_until(lambda: is_empty(northbound))
    northbound.wait_until(lambda: not northbound.state.keys("*"))


def test_rejected_rows_are_reported_why_and_stop_nobody(northbound: Northbound) -> None:
    outside = "SRV6_MY_SIDS|MAIN|fcbb:cccc:1:1::/64"
    northbound.config.hset(outside, mapping={"action": "uN"})
    northbound.config.hset("SRV6_MY_SIDS|OTHER|fcbb:bbbb:20:2::/64", mapping={"action": "uN"})
    northbound.config.hset("SRV6_MY_LOCATORS|BAD", mapping={"prefix": "fcbb:9::", "node_len": "12"})
    declare(northbound)
    northbound.wait(SID, "accepted")
    northbound.wait(
        "SRV6_MY_SIDS|OTHER|fcbb:bbbb:20:2::/64",
        "refused",
        "locator OTHER does not exist; create it or name an existing locator",
    )
    northbound.wait("SRV6_MY_LOCATORS|BAD", "refused", "whole bytes")
    # What only srv6mgrd judges.
    northbound.core.veto = f"SID {PREFIX}: it is not wanted; take it away"
    northbound.config.hset(SID, mapping={"action": "uDT4"})
    northbound.wait(SID, "refused", f"SID {PREFIX}: it is not wanted; take it away")
    assert northbound.running("local-sids", "sid")[PREFIX]["behavior"] == "End.DT46"


def test_a_locator_without_function(northbound: Northbound) -> None:
    """As sonic-mgmt tests/srv6 configure it."""
    row = "SRV6_MY_SIDS|MAIN|fcbb:bbbb:20::/48"
    northbound.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::", "func_len": "0"})
    northbound.config.hset(row, mapping={"action": "uN", "decap_dscp_mode": "uniform"})
    northbound.wait(row, "accepted", "uniform has no effect in the kernel")
    northbound.config.hset(row, mapping={"decap_dscp_mode": "pipe", "colour": "red"})
    northbound.wait(row, "accepted", "field colour is unknown and has no effect")
    northbound.config.hdel(row, "colour")
    northbound.wait_until(lambda: northbound.status(row) == ("accepted", ""), row)


def test_rejected_rows_are_not_tried_with_each_other_row(northbound: Northbound) -> None:
    northbound.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})
    northbound.wait(LOCATOR, "accepted")
    tried = []

    def judge(tree: Mapping[str, Any]) -> None:
        prefixes = [s["prefix"] for s in tree.get(SRV6, {}).get("local-sids", {}).get("sid", ())]
        if bad := [p for p in prefixes if p.startswith("fcbb:bbbb:20:bad:")]:
            tried.append(len(bad))
            why = "it is outside locator MAIN"
            raise RejectedError([Rejection(f"SID {p}", why, "choose another", "x") for p in bad])

    northbound.core.judge = judge
    pipe = northbound.config.pipeline()
    rows = [f"SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:bad:{n:x}::/80" for n in range(2000)]
    for row in rows:
        pipe.hset(row, mapping={"action": "uDT6"})
    pipe.execute()
    northbound.wait(rows[-1], "refused", "outside locator MAIN")
    before = sum(tried)
    assert before < 3 * len(rows)
    for n in range(1, 4):
        good = f"SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:{n}::/64"
        northbound.config.hset(good, mapping={"action": "uDT6"})
        northbound.wait(good, "accepted")
    assert sum(tried) == before
    # What they refer to has changed.
    northbound.config.hset(LOCATOR, mapping={"arg_len": "8"})
    northbound.wait_until(lambda: sum(tried) > before)


def test_malformed_keys_and_types(northbound: Northbound) -> None:
    northbound.config.set("SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:2::/64", "text")
    northbound.config.lpush("VRF|Vrf9", "a", "list")
    northbound.config.hset("SRV6_MY_SIDS|MAIN", mapping={"action": "uN"})
    northbound.config.hset(b"VRF|\xff\xfe".decode("latin-1"), mapping={"vni": "0"})
    raw = northbound.config.connection_pool.connection_kwargs
    assert raw
    northbound.config.execute_command("HSET", b"SRV6_MY_LOCATORS|\xff\x00", b"prefix", b"\xfe")
    declare(northbound)
    northbound.wait(SID, "accepted")
    northbound.wait("SRV6_MY_SIDS|MAIN", "refused", "the key is not")
    northbound.wait("VRF|Vrf9", "refused", "it is a list, not a hash")
    # A row that changes its type and back again.
    northbound.config.delete(VRF)
    northbound.config.set(VRF, "text")
    northbound.wait(VRF, "refused", "it is a string, not a hash")
    assert is_declared(northbound)
    northbound.config.delete(VRF)
    northbound.config.hset(VRF, mapping={"vni": "0"})
    northbound.wait(VRF, "accepted")


@pytest.mark.parametrize("how", ["restart", "FLUSHALL"])
def test_a_redis_that_lost_all_removes_nothing(northbound: Northbound, how: str) -> None:
    declare(northbound)
    northbound.wait(SID, "accepted")
    if how == "restart":
        northbound.server.stop()
        northbound.server.start("--notify-keyspace-events", "AKE")
    else:
        northbound.config.flushall()
    northbound.wait_until(lambda: not northbound.state.keys("SRV6MGR_CONFIG|*"))
    # More than the grace of 1 s; every compare would have removed them.
    began, _ = northbound.config.time()
    northbound.wait_until(lambda: northbound.config.time()[0] > began + 3)
    assert is_declared(northbound)
    # As its configuration is loaded again, one row fewer than before.
    northbound.config.hset(VRF, mapping={"NULL": "NULL"})
    northbound.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})
    northbound.wait(LOCATOR, "accepted")
    northbound.wait_until(lambda: not northbound.running("local-sids", "sid"))
    assert list(northbound.running("vrfs", "vrf")) == ["Vrf1"]


def test_an_empty_database_that_says_it_is_loaded(northbound: Northbound) -> None:
    declare(northbound)
    northbound.wait(SID, "accepted")
    northbound.config.flushdb()
    northbound.config.set("CONFIG_DB_INITIALIZED", "1")
    northbound.wait_until(lambda: is_empty(northbound))


def test_without_notifications(northbound: Northbound) -> None:
    northbound.config.config_set("notify-keyspace-events", "")
    declare(northbound)
    northbound.wait(SID, "accepted")
    northbound.config.delete(SID)
    northbound.wait_until(lambda: not northbound.running("local-sids", "sid"))


def test_connections_that_are_killed(northbound: Northbound) -> None:
    declare(northbound)
    northbound.wait(SID, "accepted")
    northbound.config.client_kill_filter(_type="normal", skipme=True)
    northbound.config.client_kill_filter(_type="pubsub", skipme=True)
    northbound.config.hset("VRF|Vrf2", mapping={"NULL": "NULL"})
    northbound.wait("VRF|Vrf2", "accepted")
    assert northbound.running("vrfs", "vrf")["Vrf2"]["table-id"] == 1002


@pytest.mark.parametrize("kill", [True, False])
def test_a_restart_of_the_daemon(northbound: Northbound, kill: bool) -> None:
    declare(northbound)
    northbound.wait(SID, "accepted")
    northbound.daemon.stop(kill=kill)
    changes = len(northbound.core.changes)
    northbound.config.delete(SID)
    northbound.config.hset("VRF|Vrf2", mapping={"NULL": "NULL"})
    northbound.daemon.start()
    northbound.wait("VRF|Vrf2", "accepted")
    northbound.wait_until(lambda: not northbound.running("local-sids", "sid"))
    assert len(northbound.core.changes) == changes + 2


def test_who_wins_between_northbounds(northbound: Northbound) -> None:
    declare(northbound)
    northbound.wait(SID, "accepted")
    sid = {"prefix": PREFIX, "locator": "MAIN", "behavior": "End"}
    # Changed by another northbound: it belongs to that one now.
    northbound.other_northbound(f"/local-sids/sid[prefix='{PREFIX}']")
    northbound.wait(SID, "refused", "another northbound removed it")
    northbound.other_northbound("/local-sids", {"local-sids": {"sid": [sid]}})
    northbound.wait(SID, "refused", "another northbound declares it otherwise")
    northbound.config.hset(SID, mapping={"action": "uDT4"})
    northbound.config.hset("VRF|Vrf2", mapping={"NULL": "NULL"})
    northbound.wait("VRF|Vrf2", "accepted")
    assert northbound.running("local-sids", "sid")[PREFIX] == sid
    # Until it lets go of it.
    northbound.other_northbound(f"/local-sids/sid[prefix='{PREFIX}']")
    northbound.wait(SID, "accepted")
    assert northbound.running("local-sids", "sid")[PREFIX]["behavior"] == "End.DT4"
    # What another northbound declared first, and what it adds to ours.
    northbound.other_northbound("/vrfs", {"vrfs": {"vrf": [{"name": "Vrf7", "table-id": 7}]}})
    northbound.other_northbound(
        "/vrfs", {"vrfs": {"vrf": [{"name": "Vrf2", "interface": ["eth9"]}]}}
    )
    northbound.config.hset("VRF|Vrf7", mapping={"NULL": "NULL"})
    northbound.wait("VRF|Vrf7", "accepted")
    northbound.config.delete("VRF|Vrf7", "VRF|Vrf2")
    northbound.wait("VRF|Vrf2", "removed", "another northbound added interface")
    assert {"Vrf7", "Vrf2"} <= northbound.running("vrfs", "vrf").keys()


def test_many_rows_are_one_edit(northbound: Northbound) -> None:
    northbound.daemon.stop()
    northbound.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})
    pipe = northbound.config.pipeline()
    for n in range(1, 2001):
        pipe.hset(f"SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:{n:x}::/64", mapping={"action": "uN"})
    pipe.execute()
    northbound.daemon.start()
    last = "SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:7d0::/64"
    northbound.wait(last, "accepted")
    assert len(northbound.running("local-sids", "sid")) == 2000
    assert len(northbound.core.changes) == 1


def test_rules_for_its_user_hold(northbound: Northbound) -> None:
    """A user who may write to Redis may write what NACM permits this user."""
    northbound.daemon.stop()
    northbound.daemon.restrict_to("configdb")
    northbound.daemon.start()
    northbound.config.hset(VRF, mapping={"NULL": "NULL"})
    northbound.wait(VRF, "waiting", "access: denied")
    assert not northbound.running("vrfs", "vrf")
    with northbound.permitted("configdb", "/srv6mgr-srv6:srv6/vrfs"):
        northbound.wait(VRF, "accepted")
        northbound.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})
        northbound.wait(LOCATOR, "waiting", "access: denied")
        northbound.config.delete(VRF, LOCATOR)
        northbound.wait_until(lambda: is_empty(northbound))


BGP = "srv6mgr-bgp:bgp"
VPN: Mapping[str, Mapping[str, str]] = {
    "SRV6_MY_SOURCE|tunnel-source": {"source-address": "2064:100::1d"},
    "BGP_GLOBALS|default": {
        "local_asn": "64600",
        "router_id": "100.1.0.29",
        "srv6_locator": "MAIN",
    },
    "BGP_GLOBALS|Vrf1": {"sid_vpn_per_vrf_export_explicit": "fcbb:bbbb:20:f1::"},
    "BGP_GLOBALS_AF|Vrf1|ipv4_unicast": {"rd_vpn_export": "2:2", "rt_vpn_both": "1:1"},
    "BGP_NEIGHBOR|default|2064:200::1e": {"asn": "64601", "ebgp_multihop": "true"},
    "BGP_NEIGHBOR_AF|default|2064:200::1e|ipv4_vpn": {"admin_status": "true"},
    "INTERFACE|Ethernet24": {"vrf_name": "Vrf1"},
    "INTERFACE|Ethernet28": {"vrf_name": "Vrf1"},
    "SRV6MGR_INTERFACE|Ethernet0": {"role": "core"},
    "SRV6MGR_SEGMENT_LIST|path": {"path": "fcbb:bbbb:1::,fcbb:bbbb:2::"},
    "SRV6MGR_STEERING|Vrf1|10.9.0.0/16": {"segment_list": "path", "behavior": "H.Encaps.Red"},
    "SRV6MGR_PROXY|MAIN|fcbb:bbbb:20:a1::/64": {
        "behavior": "End.AM",
        "inner_type": "ipv6",
        "interface": "Ethernet32",
        "adj": "2001:db8::f1",
    },
    "SRV6MGR_ACCOUNTING|global": {"enabled": "true"},
}
ACCOUNTING = "srv6mgr-accounting:accounting"


def test_rows_make_a_whole_vpn(northbound: Northbound) -> None:
    """Tables of SONiC's BGP, and tables of our own, in whatever order they come."""
    for row, fields in VPN.items():
        northbound.config.hset(row, mapping=dict(fields))
    declare(northbound)
    for row in (*VPN, VRF, SID, LOCATOR):
        northbound.wait(row, "accepted")
    vrf = northbound.running("vrfs", "vrf")["Vrf1"]
    assert sorted(vrf["interface"]) == ["Ethernet24", "Ethernet28"]
    assert vrf[BGP] == {
        "rd": "2:2",
        "import-rt": ["1:1"],
        "export-rt": ["1:1"],
        "export-sid": PREFIX,
    }
    (route,) = vrf["srv6mgr-steering:steering"]["route"]
    assert route["segment-list"] == "path"
    speaker = northbound.container(BGP)
    assert (speaker["as-number"], speaker["router-id"]) == (64600, "100.1.0.29")
    neighbor = {"address": "2064:200::1e", "remote-as": 64601, "ebgp-multihop": 254}
    assert speaker["neighbor"] == [neighbor]
    assert northbound.container("encapsulation") == {"source-address": "2064:100::1d"}
    assert northbound.running("local-sids", "sid")["fcbb:bbbb:20:a1::/64"]["srv6mgr-proxy:proxy"]
    assert northbound.container(ACCOUNTING) == {"enabled": True}
    # A member of a list goes, a leaf changes.
    northbound.config.delete("INTERFACE|Ethernet28")
    northbound.config.hset("BGP_GLOBALS_AF|Vrf1|ipv4_unicast", mapping={"rt_vpn_both": "1:1 1:2"})
    northbound.wait_until(
        lambda: northbound.running("vrfs", "vrf")["Vrf1"]["interface"] == ["Ethernet24"]
    )
    northbound.wait_until(
        lambda: northbound.running("vrfs", "vrf")["Vrf1"][BGP]["import-rt"] == ["1:1", "1:2"]
    )
    northbound.config.delete(*VPN, VRF, SID, LOCATOR)
    northbound.wait_until(lambda: is_empty(northbound))
    northbound.wait_until(
        lambda: not any(northbound.container(n) for n in (BGP, "encapsulation", ACCOUNTING))
    )
    northbound.wait_until(lambda: not northbound.state.keys("*"))


def test_accounting_needs_the_source(northbound: Northbound) -> None:
    row, source = "SRV6MGR_ACCOUNTING|global", "SRV6_MY_SOURCE|tunnel-source"
    northbound.config.hset(row, mapping={"enabled": "true"})
    northbound.wait(row, "refused", "encapsulation does not exist; write a row of SRV6_MY_SOURCE")
    northbound.config.hset(source, mapping={"source-address": "2064:100::1d"})
    northbound.wait(row, "accepted")
    northbound.config.delete(source)
    northbound.wait(source, "removed", "accounting")
    northbound.config.hset(row, mapping={"enabled": "false"})
    northbound.wait_until(lambda: northbound.container(ACCOUNTING) == {"enabled": False})
    northbound.wait_until(lambda: not northbound.container("encapsulation"))
    northbound.wait(row, "accepted")
    northbound.config.delete(row)
    northbound.wait_until(lambda: not northbound.container(ACCOUNTING))


def test_a_vpn_of_a_table_of_our_own(northbound: Northbound) -> None:
    """A row that comes last is what all others waited for."""
    fields = {"rd": "2:2", "rt_import": "1:1", "rt_export": "1:1"}
    exported = {"export_sid": "FCBB:BBBB:20:F1::"}
    northbound.config.hset("SRV6MGR_VPN|Vrf1", mapping=fields | exported)
    declare(northbound)
    northbound.wait(VRF, "refused", "BGP does not exist")
    northbound.config.hset(
        "BGP_GLOBALS|default", mapping={"local_asn": "64600", "router_id": "100.1.0.29"}
    )
    for row in (VRF, SID, "SRV6MGR_VPN|Vrf1"):
        northbound.wait(row, "accepted")
    assert northbound.running("vrfs", "vrf")["Vrf1"][BGP]["export-sid"] == PREFIX


def test_rows_are_left_to_bgpcfgd_where_that_runs(northbound: Northbound) -> None:
    declare(northbound)
    northbound.wait(SID, "accepted")
    northbound.config.hset("FEATURE|bgp", mapping={"state": "enabled"})
    northbound.wait(SID, "left", "FEATURE|bgp is enabled")
    northbound.wait_until(lambda: not northbound.running("locators", "locator"))
    northbound.wait(VRF, "accepted")
    northbound.config.hset("FEATURE|bgp", mapping={"state": "disabled"})
    northbound.wait(SID, "accepted")
    northbound.wait_until(lambda: is_declared(northbound))


def test_a_ua_takes_the_neighbor_of_its_interface(northbound: Northbound) -> None:
    row = "SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:fe00::/64"
    northbound.config.hset(LOCATOR, mapping={"prefix": "fcbb:bbbb:20::"})
    northbound.config.hset(row, mapping={"action": "uA", "interface": "none0"})
    northbound.wait(row, "waiting", "no IPv6 neighbor is known on none0 yet")
