"""edit-config: operations and options (RFC 6241 section 7.2)."""

from __future__ import annotations

from functools import partial

import pytest

from tests.contract.netconf.client import Client, rejected
from tests.contract.netconf.data import OPERATION, ROUTER, locator, srv6, vrf

TABLES = "//s:vrf/s:table-id"
INTERFACES = "//s:vrf/s:interface"
LOCATORS = "//s:locator/s:name"


@pytest.fixture(autouse=True)
def configured(client: Client) -> None:
    client.edit(ROUTER)


def test_merge(client: Client) -> None:
    client.edit(srv6(vrf(table="101")))
    assert client.texts(TABLES) == ["101"]
    assert client.texts(INTERFACES) == ["eth1"]


def test_replace_leaves_what_is_named(client: Client) -> None:
    client.edit(srv6(vrf(table="101", operation="replace")))
    assert client.texts(TABLES) == ["101"]
    assert client.texts(INTERFACES) == []


def test_create(client: Client) -> None:
    client.edit(srv6(locator("second", "fcbb:0:2::/48", operation="create")))
    assert client.texts(LOCATORS) == ["main", "second"]


def test_create_of_what_exists(client: Client) -> None:
    edit = srv6(vrf(table="101", operation="create"))
    path = "/srv6/vrfs/vrf[name='red']"
    rejected(lambda: client.edit(edit), "data-exists", "VRF red: it exists already", path=path)
    assert client.texts(TABLES) == ["100"]


def test_delete(client: Client) -> None:
    client.edit(srv6(f'<s:local-sids {OPERATION}="delete"/>' + vrf(table="", operation="delete")))
    assert client.texts(TABLES) == []
    assert client.texts(LOCATORS) == ["main"]


def test_delete_of_what_does_not_exist(client: Client) -> None:
    edit = srv6(vrf("blue", table="", operation="delete"))
    rejected(lambda: client.edit(edit), "data-missing", "VRF blue: it does not exist")


def test_errors_in_the_candidate_have_the_path_of_the_node(client: Client) -> None:
    for edit, tag, name in (
        (srv6(vrf(table="101", operation="create")), "data-exists", "red"),
        (srv6(vrf("blue", table="", operation="delete")), "data-missing", "blue"),
    ):
        path = f"/srv6/vrfs/vrf[name='{name}']"
        change = partial(client.edit, edit, "candidate")
        rejected(change, tag, f"VRF {name}: it", app_tag=tag, path=path)
    assert client.texts(TABLES, "candidate") == ["100"]


def test_remove_of_what_does_not_exist(client: Client) -> None:
    client.edit(srv6(vrf("blue", table="", operation="remove")))
    assert client.texts(TABLES) == ["100"]


def test_an_entry_of_a_leaf_list(client: Client) -> None:
    client.edit(srv6(vrf(table="", more="<s:interface>eth2</s:interface>")))
    assert client.texts(INTERFACES) == ["eth1", "eth2"]
    gone = f'<s:interface {OPERATION}="delete">eth1</s:interface>'
    client.edit(srv6(vrf(table="", more=gone)))
    assert client.texts(INTERFACES) == ["eth2"]


def test_a_leaf_is_removed_without_its_value(client: Client) -> None:
    client.edit(srv6(locator(prefix="", operation="merge").replace(
        "</s:locator>", "<s:function-length>20</s:function-length></s:locator>"
    )))  # fmt: skip
    lengths = "//s:locator/s:function-length"
    assert client.texts(lengths) == ["20"]
    client.edit(srv6(locator(prefix="").replace(
        "</s:locator>", f'<s:function-length {OPERATION}="remove"/></s:locator>'
    )))  # fmt: skip
    assert client.texts(lengths) == []


def test_default_operation_replace(client: Client) -> None:
    client.edit(srv6(locator("second", "fcbb:0:2::/48")), default_operation="replace")
    assert client.texts(LOCATORS) == ["second"]
    assert client.texts(TABLES) == []


def test_default_operation_none(client: Client) -> None:
    edit = srv6(vrf(table="", more=f'<s:interface {OPERATION}="create">eth2</s:interface>'))
    client.edit(edit, default_operation="none")
    assert client.texts(INTERFACES) == ["eth1", "eth2"]
    absent = srv6(vrf("blue", table="", more=f'<s:interface {OPERATION}="create">e</s:interface>'))
    rejected(lambda: client.edit(absent, default_operation="none"), "data-missing", "VRF blue")


def test_test_only_changes_nothing(client: Client) -> None:
    client.edit(srv6(vrf(table="101")), test_option="test-only")
    assert client.texts(TABLES) == ["100"]
    bad = srv6(vrf(table="", operation="delete"))
    rejected(lambda: client.edit(bad, test_option="test-only"), "data-missing", "red does not")


def test_test_then_set(client: Client) -> None:
    client.edit(srv6(vrf(table="101")), test_option="test-then-set")
    assert client.texts(TABLES) == ["101"]


@pytest.mark.parametrize("option", ["rollback-on-error", "stop-on-error", "continue-on-error", ""])
def test_all_or_nothing_whatever_the_error_option(client: Client, option: str) -> None:
    half = srv6(locator("second", "fcbb:0:2::/48") + vrf("blue", table="", operation="delete"))
    rejected(lambda: client.edit(half, error_option=option), "data-missing")
    assert client.texts(LOCATORS) == ["main"]


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ('operation="delete"', "element vrf: attribute operation is in no namespace"),
        ('xmlns:x="urn:x" x:operation="delete"', "namespace urn:x is unknown"),
        ('nc:operatoin="delete"', "operatoin is unknown"),
    ],
)
@pytest.mark.parametrize("target", ["running", "candidate"])
def test_an_attribute_that_is_not_understood(
    client: Client, attribute: str, words: str, target: str
) -> None:
    """It is never left out: the edit would merge what was to be deleted."""
    entry = f"<s:vrfs><s:vrf {attribute}><s:name>red</s:name></s:vrf></s:vrfs>"
    error = rejected(lambda: client.edit(srv6(entry), target=target), "unknown-attribute", words)
    assert "<bad-attribute>" in error.info
    assert client.texts(TABLES, target) == ["100"]


@pytest.mark.parametrize("rpc", ["copy-config", "validate", "edit-data"])
def test_an_attribute_that_is_not_understood_elsewhere(client: Client, rpc: str) -> None:
    config = srv6('<s:vrfs operation="delete"/>')
    whole = {
        "copy-config": "<nc:copy-config><nc:target><nc:running/></nc:target><nc:source>"
        f"<nc:config>{config}</nc:config></nc:source></nc:copy-config>",
        "validate": f"<nc:validate><nc:source><nc:config>{config}</nc:config></nc:source>"
        "</nc:validate>",
        "edit-data": "<nmda:edit-data><nmda:datastore>ds:running</nmda:datastore>"
        f"<nmda:config>{config}</nmda:config></nmda:edit-data>",
    }
    rejected(lambda: client.rpc(whole[rpc]), "unknown-attribute", "vrfs: attribute operation")


def test_attributes_that_are_understood(client: Client) -> None:
    tagged = '<s:block-length wd:default="true">32</s:block-length>'
    more = f"<s:locators><s:locator><s:name>main</s:name>{tagged}</s:locator></s:locators>"
    client.edit(srv6(more + vrf(table="101", operation="replace")))
    assert client.texts(TABLES) == ["101"]


def test_an_empty_edit(client: Client) -> None:
    assert client.edit("").ok
    assert client.texts(TABLES) == ["100"]


def test_two_operations_of_one_edit_depend_on_each_other(client: Client) -> None:
    """The order within an edit does not matter: the result is what is judged."""
    new = vrf("blue", "200") + vrf(table="", operation="delete")
    sids = "<s:local-sids><s:sid><s:prefix>fcbb:0:1:64::/64</s:prefix><s:vrf>blue</s:vrf></s:sid>"
    client.edit(srv6(new.replace("</s:vrfs><s:vrfs>", "") + sids + "</s:local-sids>"))
    assert client.texts("//s:sid/s:vrf") == ["blue"]
