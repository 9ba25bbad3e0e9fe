"""startup, copy-config, delete-config (RFC 6241 sections 7.3, 7.4, 8.7)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.netconf.client import Client, rejected
from tests.contract.netconf.data import ROUTER, srv6, vrf

TABLES = "//s:vrf/s:table-id"


@pytest.fixture(autouse=True)
def empty(client: Client) -> Iterator[None]:
    client.rpc(DELETE)
    yield
    client.rpc(DELETE)


DELETE = "<nc:delete-config><nc:target><nc:startup/></nc:target></nc:delete-config>"


def test_running_is_copied(client: Client) -> None:
    client.edit(ROUTER)
    assert client.texts(TABLES, "startup") == []
    client.manager.copy_config(source="running", target="startup")
    assert client.texts(TABLES, "startup") == ["100"]
    client.edit(srv6(vrf(table="101")))
    assert client.texts(TABLES, "startup") == ["100"]


def test_startup_becomes_running(client: Client) -> None:
    client.edit(ROUTER)
    client.manager.copy_config(source="running", target="startup")
    client.edit(srv6(vrf(table="101")))
    client.manager.copy_config(source="startup", target="running")
    assert client.texts(TABLES) == ["100"]


def test_it_is_deleted(client: Client) -> None:
    client.edit(ROUTER)
    client.manager.copy_config(source="running", target="startup")
    client.rpc(DELETE)
    assert client.texts("//s:srv6/*", "startup") == []


def test_edit_config_has_no_such_target(client: Client) -> None:
    """RFC 6241 has it written by copy-config; edit-data of RFC 8526 edits it."""
    rejected(lambda: client.edit(ROUTER, target="startup"), "unknown-element", "startup")


def test_running_is_not_deleted(client: Client) -> None:
    rejected(lambda: client.rpc(DELETE.replace("startup", "running")), "unknown-element", "running")


def test_given_configuration_replaces_all(client: Client) -> None:
    client.edit(srv6(vrf("blue", "200")))
    source = f"<nc:source><nc:config>{ROUTER}</nc:config></nc:source>"
    client.rpc(f"<nc:copy-config><nc:target><nc:running/></nc:target>{source}</nc:copy-config>")
    assert client.texts(TABLES) == ["100"]


def test_source_and_target_differ(client: Client) -> None:
    def copy() -> None:
        client.manager.copy_config(source="running", target="running")

    rejected(copy, "invalid-value", "name two datastores")


def test_url_is_not_offered(client: Client) -> None:
    source = "<nc:source><nc:url>file:///x</nc:url></nc:source>"
    xml = f"<nc:copy-config><nc:target><nc:running/></nc:target>{source}</nc:copy-config>"
    rejected(lambda: client.rpc(xml), "unknown-element", "url")
