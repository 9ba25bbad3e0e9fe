"""get-data and edit-data (RFC 8526), the datastores of RFC 8342."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.netconf.client import NS, Client, rejected, texts
from tests.contract.netconf.data import ROUTER, SID, srv6, vrf

TABLES = "//s:vrf/s:table-id"


def get_data(client: Client, datastore: str, more: str = "") -> Any:
    named = f"<nmda:datastore>ds:{datastore}</nmda:datastore>"
    return client.rpc(f"<nmda:get-data>{named}{more}</nmda:get-data>")


def edit_data(client: Client, datastore: str, config: str, more: str = "") -> Any:
    named = f"<nmda:datastore>ds:{datastore}</nmda:datastore>"
    return client.rpc(
        f"<nmda:edit-data>{named}{more}<nmda:config>{config}</nmda:config></nmda:edit-data>"
    )


@pytest.mark.parametrize("datastore", ["running", "candidate", "startup"])
def test_each_is_edited_and_read(client: Client, datastore: str) -> None:
    edit_data(client, datastore, ROUTER)
    assert texts(get_data(client, datastore), TABLES) == ["100"]
    edit_data(client, datastore, srv6(vrf(table="", operation="remove") + "<s:local-sids"
        ' nc:operation="remove"/>'))  # fmt: skip
    assert texts(get_data(client, datastore), TABLES) == []
    client.manager.discard_changes()


def test_default_operation(client: Client) -> None:
    edit_data(client, "running", ROUTER)
    replace = "<nmda:default-operation>replace</nmda:default-operation>"
    edit_data(client, "running", srv6(vrf("blue", "200")), replace)
    assert client.texts(TABLES) == ["200"]


def test_filters(client: Client) -> None:
    edit_data(client, "running", ROUTER)
    by_xpath = "<nmda:xpath-filter>/s:srv6/s:vrfs</nmda:xpath-filter>"
    by_subtree = f"<nmda:subtree-filter>{srv6('<s:vrfs/>')}</nmda:subtree-filter>"
    for filter_ in (by_xpath, by_subtree):
        tree = get_data(client, "running", filter_)
        assert texts(tree, TABLES) == ["100"]
        assert texts(tree, "//s:sid") == []


def test_depth(client: Client) -> None:
    edit_data(client, "running", ROUTER)
    tree = get_data(client, "running", "<nmda:max-depth>3</nmda:max-depth>")
    assert texts(tree, "//s:vrf/s:name") == ["red"]
    assert texts(tree, TABLES) == []
    tree = get_data(client, "running", "<nmda:max-depth>4</nmda:max-depth>")
    assert texts(tree, TABLES) == ["100"]


def test_operational_has_configuration_and_state(client: Client) -> None:
    edit_data(client, "running", ROUTER)
    tree = get_data(client, "operational")
    assert texts(tree, "//s:sid/s:prefix") == [SID]
    assert texts(tree, "//o:transactions/o:transaction/o:id")
    config = "<nmda:config-filter>{}</nmda:config-filter>"
    assert not texts(get_data(client, "operational", config.format("true")), "//o:transactions")
    only_state = get_data(client, "operational", config.format("false"))
    assert texts(only_state, "//o:transactions/o:transaction/o:id")
    assert not texts(only_state, TABLES)
    assert not texts(get_data(client, "running", config.format("false")), "//s:srv6")


def test_origins(client: Client) -> None:
    edit_data(client, "running", ROUTER)
    tree = get_data(client, "operational", "<nmda:with-origin/>")
    (node,) = tree.xpath("//s:srv6", namespaces=NS)
    assert node.get(f"{{{NS['or']}}}origin") == "or:intended"
    only = "<nmda:origin-filter>or:system</nmda:origin-filter>"
    assert not texts(get_data(client, "operational", only), TABLES)
    only = "<nmda:origin-filter>or:intended</nmda:origin-filter>"
    assert texts(get_data(client, "operational", only), TABLES) == ["100"]
    without = "<nmda:negated-origin-filter>or:intended</nmda:negated-origin-filter>"
    assert not texts(get_data(client, "operational", without), TABLES)
    rejected(
        lambda: get_data(client, "running", "<nmda:with-origin/>"),
        "invalid-value|operation-failed", "origin",
    )  # fmt: skip


def test_defaults_in_use(client: Client) -> None:
    edit_data(client, "running", ROUTER)
    asked = "<nmda:with-defaults>report-all</nmda:with-defaults>"
    assert texts(get_data(client, "running", asked), "//s:locator/s:block-length") == ["32"]


def test_what_can_not_be_edited(client: Client) -> None:
    rejected(
        lambda: edit_data(client, "operational", ROUTER), "operation-not-supported", "read-only"
    )
    rejected(lambda: get_data(client, "nothing"), "invalid-value", "nothing")
    rejected(lambda: edit_data(client, "running", srv6("<s:x/>")), "unknown-element", "x")
