"""What the server reports of itself (RFC 6022, RFC 8525)."""

from __future__ import annotations

import re
import socket
from typing import Any

import pytest

from tests.contract.netconf.client import Client, rejected, texts
from tests.contract.netconf.conftest import Server
from tests.contract.netconf.wire import Wire

OURS = ("srv6", "bgp", "steering", "proxy", "operations")


def number(client: Client, name: str) -> int:
    return int(texts(client.rpc("<nc:get/>"), f"//m:statistics/m:{name}")[0])


@pytest.mark.parametrize("name", OURS)
def test_schemas(client: Client, name: str) -> None:
    tree = client.rpc("<nc:get/>")
    entry = f"//m:schema[m:identifier='srv6mgr-{name}'][contains(m:format, 'yang')]"
    (version,) = texts(tree, f"{entry}/m:version")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", version)
    assert texts(tree, f"{entry}/m:location") == ["NETCONF"]
    schema = client.manager.get_schema(f"srv6mgr-{name}", version).data
    assert schema.startswith(f"module srv6mgr-{name} {{")
    assert f"revision {version}" in schema


def in_format(client: Client, name: str) -> Any:
    """Element ``data`` of the answer."""
    format_ = f"<m:identifier>srv6mgr-srv6</m:identifier><m:format>m:{name}</m:format>"
    return client.rpc(f"<m:get-schema>{format_}</m:get-schema>")[0]


def test_formats_of_a_schema(client: Client) -> None:
    assert in_format(client, "yang").text.startswith("module srv6mgr-srv6 {")
    (module,) = in_format(client, "yin")
    assert module.tag == "{urn:ietf:params:xml:ns:yang:yin:1}module"
    assert module.get("name") == "srv6mgr-srv6"
    rejected(lambda: in_format(client, "xsd"), "invalid-value", "yang or yin")
    rejected(lambda: in_format(client, "odt"), "invalid-value", "'m:odt' is unknown")


def test_schemas_that_do_not_exist(client: Client) -> None:
    get = client.manager.get_schema
    rejected(lambda: get("nothing"), "invalid-value", "no module nothing")
    rejected(lambda: get("srv6mgr-srv6", "1999-01-01"), "invalid-value", "revision 1999-01-01")


def test_sessions(client: Client, other: Client) -> None:
    tree = client.rpc("<nc:get/>")
    sessions = "//m:sessions/m:session"
    assert {client.id, other.id} <= set(texts(tree, f"{sessions}/m:session-id"))
    mine = f"{sessions}[m:session-id='{client.id}']"
    assert texts(tree, f"{mine}/m:username") == ["root"]
    assert texts(tree, f"{mine}/m:transport")[0].endswith("netconf-ssh")
    assert int(texts(tree, f"{mine}/m:in-rpcs")[0]) > 0
    assert re.match(r"\d{4}-\d\d-\d\dT", texts(tree, f"{mine}/m:login-time")[0])


def test_statistics(server: Server, client: Client) -> None:
    before = {n: number(client, n) for n in ("in-rpcs", "in-bad-rpcs", "out-rpc-errors")}
    with Wire(server.socket) as wire:
        wire.ask("<rpc><no></rpc>")
        wire.call("<nothing/>")
    assert number(client, "in-rpcs") > before["in-rpcs"]
    assert number(client, "in-bad-rpcs") == before["in-bad-rpcs"] + 2
    assert number(client, "out-rpc-errors") == before["out-rpc-errors"] + 2


def test_bad_hellos_are_counted(server: Server, client: Client) -> None:
    before = number(client, "in-bad-hellos")
    with Wire(server.socket, hello=b"<hello/>") as wire:
        assert wire.ended()
    assert number(client, "in-bad-hellos") == before + 1


def test_capabilities_are_those_of_the_hello(client: Client) -> None:
    reported = texts(client.rpc("<nc:get/>"), "//m:capabilities/m:capability")
    assert set(reported) == set(client.manager.server_capabilities)


def test_yang_library(client: Client) -> None:
    tree = client.rpc("<nc:get/>")
    modules = texts(tree, "//lib:yang-library/lib:module-set/lib:module/lib:name")
    assert {f"srv6mgr-{name}" for name in OURS} <= set(modules)
    assert {"ietf-netconf-nmda", "ietf-yang-push", "ietf-subscribed-notifications"} <= set(modules)
    datastores = texts(tree, "//lib:yang-library/lib:datastore/lib:name")
    for name in ("running", "candidate", "startup", "operational"):
        assert any(d.endswith(f":{name}") for d in datastores)
    features = "//lib:module[lib:name='ietf-netconf']/lib:feature"
    assert {"candidate", "confirmed-commit", "startup", "xpath"} <= set(texts(tree, features))
    (reported,) = texts(tree, "//lib:yang-library/lib:content-id")
    assert any(f"content-id={reported}" in c for c in client.manager.server_capabilities)


def test_streams(client: Client) -> None:
    tree = client.rpc("<nc:get/>")
    assert "NETCONF" in texts(tree, "//sn:streams/sn:stream/sn:name")
    of_rfc5277 = "//mod:netconf/mod:streams/mod:stream[mod:name='NETCONF']/mod:replaySupport"
    assert texts(tree, of_rfc5277) in (["true"], ["false"])


def test_whoever_connects_without_a_hello_is_not_waited_for(server: Server, client: Client) -> None:
    """Others are served meanwhile."""
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(server.socket))
        assert client.config() is not None
