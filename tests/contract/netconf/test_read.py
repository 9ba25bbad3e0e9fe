"""get and get-config: filters and defaults (RFC 6241 section 6, RFC 6243)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.netconf.client import NS, Client, rejected, texts, with_namespaces
from tests.contract.netconf.data import OTHER, ROUTER, SID, sid, srv6

SIDS = "//s:sid/s:prefix"
LENGTH = "//s:locator/s:block-length"
# RFC 6243 section 6: not the namespace of the module.
NAMESPACES = {**NS, "tag": "urn:ietf:params:xml:ns:netconf:default:1.0"}
TAGGED = f"{LENGTH}[@tag:default='true']"


@pytest.fixture(autouse=True)
def configured(client: Client) -> None:
    client.edit(ROUTER)
    client.edit(srv6(sid(OTHER)))


def subtree(client: Client, filter_: str) -> Any:
    return client.config(filter_=("subtree", with_namespaces(filter_)))


def test_everything(client: Client) -> None:
    assert sorted(client.texts(SIDS)) == [SID, OTHER]
    tree = client.config()
    assert texts(tree, "s:srv6/s:vrfs/s:vrf/s:interface") == ["eth1"]
    # Configuration only, and nothing but what was configured.
    assert texts(tree, "//s:state") == []
    assert texts(tree, LENGTH) == []


def test_get_has_state_too(client: Client) -> None:
    tree = client.rpc("<nc:get/>")
    assert sorted(texts(tree, SIDS)) == [SID, OTHER]
    assert texts(tree, "//o:transactions/o:transaction/o:id")
    assert texts(tree, "//lib:yang-library/lib:content-id")


def test_subtree_selects_a_branch(client: Client) -> None:
    tree = subtree(client, srv6("<s:vrfs/>"))
    assert texts(tree, "//s:vrf/s:table-id") == ["100"]
    assert texts(tree, SIDS) == []


def test_subtree_matches_content(client: Client) -> None:
    wanted = f"<s:local-sids><s:sid><s:prefix>{OTHER}</s:prefix></s:sid></s:local-sids>"
    tree = subtree(client, srv6(wanted))
    assert texts(tree, SIDS) == [OTHER]
    assert texts(tree, "//s:behavior") != []


def test_subtree_selects_leaves(client: Client) -> None:
    tree = subtree(client, srv6("<s:local-sids><s:sid><s:prefix/></s:sid></s:local-sids>"))
    assert sorted(texts(tree, SIDS)) == [SID, OTHER]
    assert texts(tree, "//s:behavior") == []


PRETTY = f"""
    <s:srv6>
      <s:local-sids>
        <s:sid>
          <s:prefix>
            {OTHER}
          </s:prefix>
          <s:behavior>
          </s:behavior>
        </s:sid>
      </s:local-sids>
      <s:vrfs>
      </s:vrfs>
    </s:srv6>
"""


def test_blanks_around_values_do_not_count(client: Client) -> None:
    """RFC 6241 section 6.2.5."""
    for get in ("get", "get-config"):
        source = "<nc:source><nc:running/></nc:source>" if get == "get-config" else ""
        tree = client.rpc(f"<nc:{get}>{source}<nc:filter>{PRETTY}</nc:filter></nc:{get}>")
        assert texts(tree, SIDS) == [OTHER]
        assert len(texts(tree, "//s:sid/s:behavior")) == 1
        assert texts(tree, "//s:sid/s:locator") == []
        assert texts(tree, "//s:vrf/s:table-id") == ["100"]
    behavior = "<s:behavior>\n s:End.DT46 </s:behavior>"
    found = subtree(client, srv6(f"<s:local-sids><s:sid>{behavior}</s:sid></s:local-sids>"))
    assert texts(found, SIDS) == [SID]
    assert texts(found, "//s:sid/s:vrf") == ["red"]


@pytest.mark.parametrize(
    ("inside", "sids", "leaves"),
    [
        # Content that is no key, alone and with a selection (RFC 6241 section 6.4.5).
        ("<s:sid><s:vrf>red</s:vrf></s:sid>", [SID], 4),
        ("<s:sid><s:vrf>red</s:vrf><s:behavior/></s:sid>", [SID], 3),
        ("<s:sid><s:vrf>blue</s:vrf></s:sid>", [], 0),
        # Several of one name: what any of them selects.
        (f"<s:sid><s:prefix>{SID}</s:prefix></s:sid><s:sid><s:prefix>{OTHER}</s:prefix>"
         "<s:behavior/></s:sid>", [SID, OTHER], 6),
        (f"<s:sid><s:prefix>{SID}</s:prefix><s:prefix>{OTHER}</s:prefix></s:sid>", [], 0),
        # A key in another form.
        ("<s:sid><s:prefix>fcbb:0000:1:64::/64</s:prefix></s:sid>", [SID], 4),
        ("<s:sid><s:prefix>nonsense</s:prefix></s:sid>", [], 0),
        ("<s:sid><s:nothing/></s:sid>", [], 0),
        ("<x:sid xmlns:x='urn:x'/>", [], 0),
        # In no namespace: of any.
        ("<sid xmlns=''><vrf>red</vrf></sid>", [SID], 4),
    ],
)  # fmt: skip
def test_subtrees(client: Client, inside: str, sids: list[str], leaves: int) -> None:
    found = subtree(client, srv6(f"<s:local-sids>{inside}</s:local-sids>"))
    assert sorted(texts(found, SIDS)) == sids
    assert len(texts(found, "//s:sid/*")) == leaves


def test_entries_of_a_leaf_list(client: Client) -> None:
    client.edit(srv6("<s:vrfs><s:vrf><s:name>red</s:name><s:interface>eth2</s:interface></s:vrf>"
                     "</s:vrfs>"))  # fmt: skip
    by_entry = "<s:vrfs><s:vrf><s:interface> eth2 </s:interface><s:table-id/></s:vrf></s:vrfs>"
    found = subtree(client, srv6(by_entry))
    assert texts(found, "//s:vrf/s:table-id") == ["100"]
    assert texts(found, "//s:vrf/s:interface") == ["eth2"]


def test_an_empty_subtree_selects_nothing(client: Client) -> None:
    tree = client.rpc(
        "<nc:get-config><nc:source><nc:running/></nc:source><nc:filter/></nc:get-config>"
    )
    assert len(tree.xpath("/*/*/*")) == 0


def test_subtree_of_what_does_not_exist(client: Client) -> None:
    tree = subtree(client, srv6("<s:vrfs><s:vrf><s:name>blue</s:name></s:vrf></s:vrfs>"))
    assert texts(tree, "//s:vrf") == []


@pytest.mark.parametrize(
    ("xpath", "found"),
    [
        ("/s:srv6/s:local-sids", [SID, OTHER]),
        (f"/s:srv6/s:local-sids/s:sid[s:prefix='{OTHER}']", [OTHER]),
        ("/s:srv6/s:vrfs", []),
        ("//s:sid[s:vrf='red']", [SID]),
        ("/s:srv6/s:local-sids/s:sid[s:prefix='::/128']", []),
    ],
)
def test_xpath(client: Client, xpath: str, found: list[str]) -> None:
    filter_ = f'<nc:filter type="xpath" select="{xpath}"/>'
    source = "<nc:source><nc:running/></nc:source>"
    tree = client.rpc(f"<nc:get-config>{source}{filter_}</nc:get-config>")
    assert sorted(texts(tree, SIDS)) == found
    tree = client.rpc(f"<nc:get>{filter_}</nc:get>")
    assert sorted(texts(tree, SIDS)) == found


def test_a_kind_of_filter_that_is_unknown(client: Client) -> None:
    xml = '<nc:get><nc:filter type="magic"/></nc:get>'
    rejected(lambda: client.rpc(xml), "invalid-value|bad-attribute", "magic")


@pytest.mark.parametrize(
    ("mode", "lengths", "tagged"),
    [
        ("report-all", ["32"], 0),
        ("report-all-tagged", ["32"], 1),
        ("trim", [], 0),
        ("explicit", [], 0),
    ],
)
def test_defaults(client: Client, mode: str, lengths: list[str], tagged: int) -> None:
    tree = client.config(with_defaults=mode)
    assert texts(tree, LENGTH) == lengths
    assert len(tree.xpath(TAGGED, namespaces=NAMESPACES)) == tagged


def test_a_default_that_was_set(client: Client) -> None:
    """RFC 6243 section 2: explicit reports it, trim does not."""
    client.edit(srv6(
        "<s:locators><s:locator><s:name>main</s:name><s:block-length>32</s:block-length>"
        "</s:locator></s:locators>"
    ))  # fmt: skip
    assert texts(client.config(with_defaults="explicit"), LENGTH) == ["32"]
    assert texts(client.config(with_defaults="trim"), LENGTH) == []
    assert texts(client.config(), LENGTH) == ["32"]
    # Section 3.4: tagged is what the basic mode, explicit, takes for default data.
    tree = client.config(with_defaults="report-all-tagged")
    assert texts(tree, LENGTH) == ["32"]
    assert tree.xpath(TAGGED, namespaces=NAMESPACES) == []
