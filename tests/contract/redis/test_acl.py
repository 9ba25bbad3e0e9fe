"""The users that are shipped can do their work, and nothing else."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from lab.waiting import wait_until_async
from orchagent.agent import Agent, Timers
from srv6mgrd.configdb.source import connect
from srv6mgrd.counters.sonic import SWITCH
from srv6mgrd.redis.outward import BesideSonic
from srv6mgrd.redis.wire import Settings
from tests.contract.redis.conftest import Server, publisher
from tests.contract.redis.stock import StockOrch
from tests.contract.redis.test_publish import A, B, C, counters, declared
from tests.unit.redis.test_accounted import STATISTICS

pytestmark = pytest.mark.contract

SHIPPED = Path("redis-schema/srv6mgr.acl")
USERS = ("srv6mgrd", "srv6-configdbd", "srv6-orchagent")


@pytest.fixture
def guarded(server: Server, tmp_path: Path) -> Iterator[Server]:
    """A server with the users that are shipped, each with a password."""
    server.stop()
    users = SHIPPED.read_text().replace(" on ", " on >secret ")
    (tmp_path / "users.acl").write_text(f"{users}user default on nopass ~* &* +@all\n")
    server.start("--aclfile", str(tmp_path / "users.acl"), "--notify-keyspace-events", "AKE")
    yield server
    # Whatever was rejected was noted.
    denied = server.client("APPL_DB").execute_command("ACL", "LOG")
    assert not denied, denied


def of(settings: Settings, user: str) -> Settings:
    return replace(settings, username=user, password="secret")


def test_nobody_gets_in_without_a_password(server: Server, tmp_path: Path) -> None:
    server.stop()
    server.start("--aclfile", str(SHIPPED.absolute()))
    for user in USERS:
        client = redis.Redis(unix_socket_path=server.socket, username=user, password="")
        with pytest.raises(redis.AuthenticationError):
            client.ping()


async def test_srv6mgrd(guarded: Server, settings: Settings) -> None:
    async with publisher(of(settings, "srv6mgrd")) as running:
        running.publisher.publish_counters(counters(A=1, B=2, C=3))
        running.publisher.publish_accounting(STATISTICS)
        await running.publish(declared(A, B, C))
        assert guarded.client("COUNTERS_DB").exists(f"COUNTERS:{SWITCH}")
        guarded.client("COUNTERS_DB").flushall()
        await wait_until_async(
            lambda: guarded.client("COUNTERS_DB").hlen("COUNTERS_SRV6_NAME_MAP") == 3
        )
        await running.publish(declared())


async def test_srv6mgrd_beside_sonic(guarded: Server, settings: Settings) -> None:
    stock = StockOrch(guarded.client("APPL_DB"), guarded.client("STATE_DB"))
    stock.add_vrf("Vrf1")
    state = guarded.client("STATE_DB")
    state.hset("WARM_RESTART_ENABLE_TABLE|system", "enable", "true")
    beside = BesideSonic(of(settings, "srv6mgrd"))
    task = asyncio.create_task(beside.run())
    beside.publish(*declared(A, B))
    await wait_until_async(lambda: stock.drain() or len(stock.sids) == 2)
    # A warm restart of SONiC ends once orchagent has all.
    restarted = {"state": "reconciled", "restore_count": "1"}
    await wait_until_async(lambda: state.hgetall("WARM_RESTART_TABLE|srv6mgrd") == restarted)
    beside.publish(*declared())
    await wait_until_async(lambda: stock.drain() or not stock.sids)
    task.cancel()
    await asyncio.wait([task])


async def test_configdbd(guarded: Server, settings: Settings) -> None:
    guarded.client("CONFIG_DB").hset("VRF|Vrf1", mapping={"vni": "0"})
    async with connect(of(settings, "srv6-configdbd"), "test") as source:
        assert await source.rows() == {"VRF|Vrf1": {"vni": "0"}}
        assert not await source.is_loaded()
        await source.report([("VRF|Vrf1", {"status": "accepted"})])
        assert await source.reported() == {"VRF|Vrf1": {"status": "accepted"}}
        guarded.client("CONFIG_DB").delete("VRF|Vrf1")
        assert await anext(source.changes()) == {"VRF|Vrf1"}
        await source.report([("VRF|Vrf1", None)])


async def test_orchagent(guarded: Server, settings: Settings) -> None:
    asic = guarded.client("ASIC_DB")
    entry = "ASIC_STATE:SAI_OBJECT_TYPE_MY_SID_ENTRY:*"
    task = asyncio.create_task(Agent(of(settings, "srv6-orchagent"), Timers(compare=0.2)).run())
    async with publisher(of(settings, "srv6mgrd")) as running:
        await running.publish(declared(A, B))
        await wait_until_async(lambda: len(asic.keys(entry)) == 2 or task.done())
        row = "SRV6_MY_SID_TABLE:32:16:16:0:fc00:9::"
        guarded.client("APPL_DB").hset(row, mapping={"action": "end"})
        await wait_until_async(lambda: len(asic.keys(entry)) == 3 or task.done())
        await running.publish(declared())
        await wait_until_async(lambda: len(asic.keys(entry)) == 1 or task.done())
    assert not task.done(), task.exception()
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize("user", USERS)
def test_nothing_else(guarded: Server, user: str) -> None:
    client = redis.Redis(unix_socket_path=guarded.socket, username=user, password="secret")
    for command in (
        ("FLUSHALL",),
        ("CONFIG", "GET", "*"),
        ("ACL", "LIST"),
        ("SHUTDOWN",),
        ("HSET", "PORT_TABLE:Ethernet0", "mtu", "1500"),
        ("DEL", "PORT_TABLE:Ethernet0"),
        ("HSET", "SRV6_MY_SIDS|MAIN|::1/64", "action", "uN"),
        ("EVAL", "return redis.call('HGETALL', 'PORT_QOS_MAP|x')", "0"),
    ):
        with pytest.raises(redis.ResponseError, match=r"(?i)permission"):
            client.execute_command(*command)
    guarded.client("APPL_DB").execute_command("ACL", "LOG", "RESET")


async def test_over_tls(server: Server, settings: Settings, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
    subprocess.run(["openssl", *command.split(), *names], check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server.stop()
    files = ["--tls-cert-file", str(certificate), "--tls-key-file", str(key)]
    server.start("--tls-port", str(port), *files, "--tls-ca-cert-file", str(certificate))
    over = replace(settings, socket=None, host="localhost", port=port, tls=True)
    async with publisher(over) as stranger:
        stranger.publisher.publish(*declared(A))
        await wait_until_async(lambda: "certificate" in (stranger.publisher.problem or "").lower())
    mutual = replace(
        over, tls_ca=str(certificate), tls_certificate=str(certificate), tls_key=str(key)
    )
    async with publisher(mutual) as known:
        await known.publish(declared(A))
    assert server.client("APPL_DB").exists("VRF_TABLE:Vrf1")
