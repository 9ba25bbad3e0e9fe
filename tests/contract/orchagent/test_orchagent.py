"""APPL_DB becomes a SAI-shaped view, in any order, over any restart; beside a stock one it ends."""

from __future__ import annotations

import json

import pytest

from srv6mgrd.redis.schema import RowKey, table_of
from srv6mgrd.redis.wire import Settings
from tests.contract.orchagent.conftest import Agent
from tests.contract.redis.conftest import publisher
from tests.contract.redis.test_publish import A, B, counters, declared

pytestmark = pytest.mark.contract

KEY = "32:16:16:0:fc00:0:1:e000::"
SID, REPORTED = f"SRV6_MY_SID_TABLE:{KEY}", f"SRV6_MY_SID_TABLE|{KEY}"


def entry(agent: Agent) -> dict[str, str]:
    """The one MY_SID entry; none while it is made again."""
    return next(iter(agent.objects("MY_SID_ENTRY").values()), {})


def test_the_view_has_sais_shape(agent: Agent) -> None:
    agent.row(SID, action="end.dt46", vrf="Vrf1")
    agent.wait(REPORTED, "pending", "VRF Vrf1 is not there yet")
    assert agent.objects("MY_SID_ENTRY") == {}
    agent.row("VRF_TABLE:Vrf1", NULL="NULL")
    agent.wait(REPORTED, "installed")
    ((key, fields),) = agent.objects("MY_SID_ENTRY").items()
    assert list(json.loads(key)) == sorted(json.loads(key))
    assert json.loads(key) | {"vr_id": ""} == {
        "args_len": "0",
        "function_len": "16",
        "locator_block_len": "32",
        "locator_node_len": "16",
        "sid": "fc00:0:1:e000::",
        "switch_id": "oid:0x21000000000000",
        "vr_id": "",
    }
    routers = agent.objects("VIRTUAL_ROUTER")
    assert json.loads(key)["vr_id"] in routers
    behavior = "SAI_MY_SID_ENTRY_ENDPOINT_BEHAVIOR_DT46"
    assert fields["SAI_MY_SID_ENTRY_ATTR_ENDPOINT_BEHAVIOR"] == behavior
    assert fields["SAI_MY_SID_ENTRY_ATTR_VRF"] in routers.keys() - {json.loads(key)["vr_id"]}
    (counter,) = agent.objects("COUNTER")
    assert fields["SAI_MY_SID_ENTRY_ATTR_COUNTER_ID"] == counter
    # show srv6 stats and CRM.
    count = agent.client("COUNTERS_DB")
    agent.wait_until(lambda: count.hget("CRM:STATS", "crm_stats_srv6_my_sid_entry_used") == "1")
    assert count.hgetall("COUNTERS_SRV6_NAME_MAP") == {"fc00:0:1:e000::/64": counter}
    for db in ("ASIC_DB", "STATE_DB"):
        for row in agent.client(db).keys("*"):
            table = table_of(RowKey(db, row))
            assert table is not None, row
            if agent.client(db).type(row) == "hash":
                assert table.faults(row, agent.client(db).hgetall(row)) == []
    agent.drop(SID)
    agent.wait_until(lambda: not agent.objects("MY_SID_ENTRY"))
    agent.wait_until(lambda: not count.exists("COUNTERS_SRV6_NAME_MAP"))
    agent.wait_until(lambda: count.hget("CRM:STATS", "crm_stats_srv6_my_sid_entry_used") == "0")
    available = count.hget("CRM:STATS", "crm_stats_srv6_my_sid_entry_available")
    assert available == str((1 << 32) - 1)
    assert agent.objects("COUNTER") == {}
    assert agent.reported(REPORTED) == ("", "")


def test_next_hops_and_segment_lists(agent: Agent) -> None:
    agent.row(SID, action="ua", adj="fe80::1@Ethernet0")
    agent.wait(REPORTED, "pending", "next hop fe80::1@Ethernet0 is not resolved yet")
    agent.row("NEIGH_TABLE:Ethernet0:fe80::1", neigh="02:00:00:00:00:01", family="IPv6")
    agent.wait(REPORTED, "installed")
    ((hop, fields),) = agent.objects("NEXT_HOP").items()
    (interface,) = agent.objects("ROUTER_INTERFACE")
    assert fields["SAI_NEXT_HOP_ATTR_ROUTER_INTERFACE_ID"] == interface
    assert entry(agent)["SAI_MY_SID_ENTRY_ATTR_NEXT_HOP_ID"] == hop
    neighbor, of_neighbor = next(iter(agent.objects("NEIGHBOR_ENTRY").items()))
    assert json.loads(neighbor)["rif"] == interface
    assert of_neighbor["SAI_NEIGHBOR_ENTRY_ATTR_DST_MAC_ADDRESS"] == "02:00:00:00:00:01"
    agent.drop("NEIGH_TABLE:Ethernet0:fe80::1")
    agent.wait(REPORTED, "pending")
    assert not agent.objects("NEXT_HOP")
    assert not agent.objects("ROUTER_INTERFACE")
    agent.row("SRV6_SID_LIST_TABLE:path", path="fc00::1,fc00::2", type="encaps")
    agent.wait("SRV6_SID_LIST_TABLE|path", "installed")
    ((oid, fields),) = agent.objects("SRV6_SIDLIST").items()
    assert int(oid.removeprefix("oid:"), 16) >> 48 == 0x3D
    assert fields["SAI_SRV6_SIDLIST_ATTR_SEGMENT_LIST"] == "2:fc00::1,fc00::2"


def test_what_can_not_be_is_reported_why(agent: Agent) -> None:
    agent.row(SID, action="end.as")
    agent.wait(REPORTED, "unsupported", "SAI has no end.as")
    agent.row("SRV6_MY_SID_TABLE:nonsense", action="end")
    agent.wait("SRV6_MY_SID_TABLE|nonsense", "failed", "is not <block>")
    # Another behavior on the same key is another object.
    agent.row(SID, action="end")
    agent.wait(REPORTED, "installed")
    agent.drop(SID)
    agent.row(SID, action="un")
    agent.wait_until(
        lambda: "UN" in entry(agent).get("SAI_MY_SID_ENTRY_ATTR_ENDPOINT_BEHAVIOR", "")
    )


@pytest.mark.parametrize("kill", [True, False])
def test_a_restart_changes_nothing_that_is_right(agent: Agent, kill: bool) -> None:
    agent.row("VRF_TABLE:Vrf1", NULL="NULL")
    agent.row(SID, action="end.dt46", vrf="Vrf1")
    agent.row("SRV6_SID_LIST_TABLE:path", path="fc00::1")
    agent.wait("SRV6_SID_LIST_TABLE|path", "installed")
    agent.wait(REPORTED, "installed")
    before = {k: agent.objects(k) for k in ("MY_SID_ENTRY", "COUNTER", "VIRTUAL_ROUTER")}
    agent.stop(kill=kill)
    # Taken before the restart, and waiting for the next start: both are done.
    agent.client("APPL_DB").delete("SRV6_SID_LIST_TABLE:path")
    agent.row("VRF_TABLE:Vrf2", NULL="NULL")
    agent.start()
    agent.wait("VRF_TABLE|Vrf2", "installed")
    agent.wait_until(lambda: not agent.objects("SRV6_SIDLIST"))
    assert agent.objects("MY_SID_ENTRY") == before["MY_SID_ENTRY"]
    assert agent.objects("COUNTER") == before["COUNTER"]
    assert before["VIRTUAL_ROUTER"].items() < agent.objects("VIRTUAL_ROUTER").items()
    agent.wait_until(lambda: agent.reported("SRV6_SID_LIST_TABLE|path") == ("", ""))


@pytest.mark.parametrize("db", ["ASIC_DB", "STATE_DB", "all"])
def test_an_emptied_database_comes_back(agent: Agent, db: str) -> None:
    agent.row(SID, action="end")
    agent.wait(REPORTED, "installed")
    if db == "all":
        agent.client("APPL_DB").flushall()
        agent.wait_until(lambda: not agent.objects("MY_SID_ENTRY"))
        agent.row(SID, action="end")
    else:
        agent.client(db).flushdb()
    agent.wait(REPORTED, "installed")
    agent.wait_until(lambda: agent.objects("MY_SID_ENTRY"))


async def test_srv6mgrd_and_the_agent_share_identifiers(agent: Agent) -> None:
    settings = Settings(socket=agent.server.socket, counter_interval=0.05)
    async with publisher(settings) as running:
        running.publisher.publish_counters(counters(A=3, B=4))
        await running.publish(declared(A, B))
        agent.wait("SRV6_MY_SID_TABLE|32:16:16:0:fc00:0:1:a::", "installed")
        agent.wait("SRV6_MY_SID_TABLE|32:16:16:0:fc00:0:1:b::", "installed")
        names = agent.client("COUNTERS_DB").hgetall("COUNTERS_SRV6_NAME_MAP")
        assert set(names.values()) == set(agent.objects("COUNTER"))
        assert not running.publisher.foreign
        await running.publish(declared(B))
        agent.wait_until(lambda: len(agent.objects("MY_SID_ENTRY")) == 1)
        await running.settled()
        names = agent.client("COUNTERS_DB").hgetall("COUNTERS_SRV6_NAME_MAP")
        assert set(names.values()) == set(agent.objects("COUNTER"))


@pytest.mark.parametrize(
    ("foreign", "words"),
    [
        ("SRV6_MY_SID_TABLE_CHANNEL@0", "has a subscriber already"),
        ("ASIC_STATE_CHANNEL@1", "has a subscriber already"),
        ("", "which syncd made"),
    ],
)
def test_beside_a_stock_one_it_does_not_start(agent: Agent, foreign: str, words: str) -> None:
    agent.stop()
    agent.client("ASIC_DB").flushall()
    row = "ASIC_STATE:SAI_OBJECT_TYPE_SWITCH:oid:0x21000000000000"
    stock = agent.client("APPL_DB").pubsub()
    if foreign:
        stock.subscribe(foreign)
        assert stock.get_message(timeout=5)
    else:
        agent.client("ASIC_DB").hset(row, mapping={"SAI_SWITCH_ATTR_INIT_SWITCH": "true"})
    agent.row(SID, action="end")
    agent.start()
    agent.wait_until(lambda: agent.status is not None)
    assert agent.status == 1
    assert words in agent.log.read_text()
    # Nothing was taken from the other one.
    assert agent.client("APPL_DB").smembers("SRV6_MY_SID_TABLE_KEY_SET") == {KEY}
    stock.close()


def test_next_hops_that_the_kernel_resolved(agent: Agent) -> None:
    agent.stop()
    agent.start_alone()
    agent.row(SID, action="ua", adj="fe80::1@v0")
    agent.wait(REPORTED, "pending", "next hop fe80::1@v0 is not resolved yet")
    agent.inside("ip neigh replace fe80::1 lladdr 02:00:00:00:00:01 dev v0 nud permanent")
    agent.wait(REPORTED, "installed")
    assert len(agent.objects("NEXT_HOP")) == 1
    # A neighbor of the kernel is no row.
    assert not agent.client("STATE_DB").keys("SRV6MGR_ASIC|NEIGH_TABLE*")
    agent.inside("ip neigh del fe80::1 dev v0")
    agent.wait(REPORTED, "pending")
    assert not agent.objects("NEXT_HOP")


def test_a_vpn_route(agent: Agent) -> None:
    agent.row("VRF_TABLE:Vrf1", NULL="NULL")
    # A route that has nothing to do with SRv6 is none of the view's.
    agent.row("ROUTE_TABLE:10.0.0.0/8", nexthop="192.0.2.1", ifname="Ethernet0")
    vpn = {"nexthop": "2001::1", "seg_src": "1001:2000::1", "vpn_sid": "3000::1"}
    agent.row("ROUTE_TABLE:Vrf1:192.0.2.1", **vpn)
    agent.wait("ROUTE_TABLE|Vrf1:192.0.2.1", "installed")
    ((key, route),) = agent.objects("ROUTE_ENTRY").items()
    assert json.loads(key)["dest"] == "192.0.2.1/32"
    assert json.loads(key)["vr"] in agent.objects("VIRTUAL_ROUTER")
    ((hop, of_hop),) = agent.objects("NEXT_HOP").items()
    ((tunnel, of_tunnel),) = agent.objects("TUNNEL").items()
    ((tunnel_map, _),) = agent.objects("TUNNEL_MAP").items()
    ((_, entry_),) = agent.objects("TUNNEL_MAP_ENTRY").items()
    assert route == {
        "SAI_ROUTE_ENTRY_ATTR_NEXT_HOP_ID": hop,
        "SAI_ROUTE_ENTRY_ATTR_PREFIX_AGG_ID": "1",
    }
    assert of_hop["SAI_NEXT_HOP_ATTR_TUNNEL_ID"] == tunnel
    assert of_hop["SAI_NEXT_HOP_ATTR_SRV6_SIDLIST_ID"] == "oid:0x0"
    assert of_tunnel["SAI_TUNNEL_ATTR_ENCAP_MAPPERS"] == f"1:{tunnel_map}"
    assert entry_["SAI_TUNNEL_MAP_ENTRY_ATTR_PREFIX_AGG_ID_KEY"] == "1"
    count = agent.client("COUNTERS_DB")
    agent.wait_until(lambda: count.hget("CRM:STATS", "crm_stats_srv6_nexthop_used") == "1")
    # A restart keeps identifiers and numbers.
    agent.stop()
    agent.start()
    agent.row("ROUTE_TABLE:Vrf1:192.0.2.2", **{**vpn, "vpn_sid": "3000::2"})
    agent.wait("ROUTE_TABLE|Vrf1:192.0.2.2", "installed")
    assert agent.objects("ROUTE_ENTRY")[key] == route
    aggs = {f["SAI_ROUTE_ENTRY_ATTR_PREFIX_AGG_ID"] for f in agent.objects("ROUTE_ENTRY").values()}
    assert aggs == {"1", "2"}
    agent.drop("ROUTE_TABLE:Vrf1:192.0.2.1")
    agent.drop("ROUTE_TABLE:Vrf1:192.0.2.2")
    kinds = ("ROUTE_ENTRY", "NEXT_HOP", "TUNNEL", "TUNNEL_MAP", "TUNNEL_MAP_ENTRY")
    agent.wait_until(lambda: not any(agent.objects(kind) for kind in kinds))
    left = agent.client("ASIC_DB").hkeys("SRV6MGR_OID")
    assert not [name for name in left if name.startswith("PREFIX_AGG")]


def test_dscp_modes_of_config_db(agent: Agent) -> None:
    key = "SRV6_MY_SID_TABLE:32:16:0:0:fcbb:bbbb:1::"
    row = "SRV6_MY_SIDS|loc1|FCBB:BBBB:1::/48"
    agent.client("CONFIG_DB").set("SRV6_MY_SIDS|loc1|nonsense", "no hash")
    agent.client("CONFIG_DB").hset("SRV6_MY_LOCATORS|loc1", mapping={"func_len": "0"})
    agent.row(key, action="un")
    agent.wait("SRV6_MY_SID_TABLE|32:16:0:0:fcbb:bbbb:1::", "installed")
    assert not agent.objects("TUNNEL")

    def has_tunnel(mode: str) -> bool:
        """Whether there is one tunnel, of this mode, and the SID ends in it."""
        tunnels, terms = agent.objects("TUNNEL"), agent.objects("TUNNEL_TERM_TABLE_ENTRY")
        shown = f"SAI_TUNNEL_DSCP_MODE_{mode.upper()}_MODEL"
        return (
            [t["SAI_TUNNEL_ATTR_DECAP_DSCP_MODE"] for t in tunnels.values()] == [shown]
            and [entry(agent).get("SAI_MY_SID_ENTRY_ATTR_TUNNEL_ID")] == list(tunnels)
            and [t["SAI_TUNNEL_TERM_TABLE_ENTRY_ATTR_ACTION_TUNNEL_ID"] for t in terms.values()]
            == list(tunnels)
        )

    agent.client("CONFIG_DB").hset(row, mapping={"decap_dscp_mode": "uniform"})
    agent.wait_until(lambda: has_tunnel("uniform"))
    agent.client("CONFIG_DB").hset(row, mapping={"decap_dscp_mode": "pipe"})
    agent.wait_until(lambda: has_tunnel("pipe"))
    agent.client("CONFIG_DB").delete(row)
    agent.wait_until(lambda: not agent.objects("TUNNEL"))
    assert "SAI_MY_SID_ENTRY_ATTR_TUNNEL_ID" not in entry(agent)
