"""How a session begins and ends (RFC 6241 section 8.1, RFC 6242)."""

from __future__ import annotations

import pytest

from lab.waiting import wait_until
from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Router, Server
from tests.contract.netconf.data import ROUTER
from tests.contract.netconf.wire import Wire

CAPABILITIES = [
    "urn:ietf:params:netconf:base:1.0",
    "urn:ietf:params:netconf:base:1.1",
    "urn:ietf:params:netconf:capability:writable-running:1.0",
    "urn:ietf:params:netconf:capability:candidate:1.0",
    "urn:ietf:params:netconf:capability:confirmed-commit:1.1",
    "urn:ietf:params:netconf:capability:rollback-on-error:1.0",
    "urn:ietf:params:netconf:capability:validate:1.1",
    "urn:ietf:params:netconf:capability:startup:1.0",
    "urn:ietf:params:netconf:capability:xpath:1.0",
    "urn:ietf:params:netconf:capability:notification:1.0",
    "urn:ietf:params:netconf:capability:interleave:1.0",
    "urn:ietf:params:netconf:capability:yang-library:1.1",
    "urn:ietf:params:netconf:capability:with-defaults:1.0",
    "urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring",
]


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_capabilities(client: Client, capability: str) -> None:
    reported = [c.split("?")[0] for c in client.manager.server_capabilities]
    assert capability in reported


def test_parameters_of_capabilities(client: Client) -> None:
    reported = list(client.manager.server_capabilities)
    defaults = next(c for c in reported if "with-defaults" in c)
    assert "basic-mode=explicit" in defaults
    assert set(defaults.split("also-supported=")[1].split("&")[0].split(",")) >= {
        "report-all",
        "report-all-tagged",
        "trim",
    }
    library = next(c for c in reported if "yang-library:1.1" in c)
    assert "revision=2019-01-04" in library
    assert "content-id=" in library


@pytest.mark.parametrize("base", ["1.0", "1.1"])
def test_both_framings(server: Server, base: str) -> None:
    client = Client(server.socket, base=base)
    client.edit(ROUTER)
    assert client.texts("//s:vrf/s:table-id") == ["100"]
    rejected(lambda: client.edit("<s:srv6><s:nothing/></s:srv6>"), "unknown-element", "nothing")
    client.close()


def test_session_numbers_are_not_used_twice(client: Client, other: Client) -> None:
    assert int(other.id) > int(client.id) > 0


def test_close_session(server: Server, client: Client) -> None:
    leaving = Client(server.socket)
    assert leaving.manager.close_session().ok
    sessions = "//m:sessions/m:session/m:session-id"
    wait_until(lambda: leaving.id not in texts(client.rpc("<nc:get/>"), sessions))


def test_kill_session(server: Server, client: Client, router: Router) -> None:
    victim = Client(server.socket)
    victim.manager.lock("running")
    assert client.manager.kill_session(victim.id).ok
    wait_until(lambda: not victim.manager.connected)
    wait_until(lambda: _locks(client))
    rejected(lambda: client.manager.kill_session(victim.id), "invalid-value", "there is no session")
    rejected(lambda: client.manager.kill_session(client.id), "invalid-value", "close-session")


def _locks(client: Client) -> bool:
    with client.manager.locked("running"):
        return True


def test_attributes_of_the_rpc_come_back(server: Server) -> None:
    """RFC 6241 section 4.1."""
    with Wire(server.socket) as wire:
        reply = wire.ask(
            '<rpc xmlns="urn:ietf:params:xml:ns:netconf:base:1.0" xmlns:x="urn:x"'
            ' message-id="a&lt;b" x:user="fred"><get-config><source><startup/></source>'
            "</get-config></rpc>"
        )
    assert reply.get("message-id") == "a<b"
    assert reply.get("{urn:x}user") == "fred"
