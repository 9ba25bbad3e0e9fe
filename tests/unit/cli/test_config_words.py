"""Objects by words and by paths in the model."""

import pytest

from srv6mgrd.cli.config.schema import Kind, Schema
from srv6mgrd.cli.config.words import lines, resolve
from srv6mgrd.cli.problem import Exit, Problem

SRV6, BGP = "srv6mgr-srv6", "srv6mgr-bgp"


def leaf(name, module=SRV6, **more):
    return Schema(name, module, Kind.LEAF, **more)


def container(name, *children, module=SRV6):
    return Schema(name, module, Kind.CONTAINER, below=lambda: children)


def many(name, keys, *children, module=SRV6):
    return Schema(name, module, Kind.LIST, tuple(keys.split()), below=lambda: children)


ROOT = container(
    "srv6",
    container("encapsulation", leaf("source-address")),
    container("locators", many("locator", "name", leaf("name"), leaf("prefix"))),
    container(
        "vrfs",
        many(
            "vrf",
            "name",
            leaf("name"),
            leaf("table-id"),
            Schema("interface", SRV6, Kind.LEAF_LIST),
            container(
                "bgp",
                leaf("rd", BGP),
                leaf("export-auto", BGP, is_empty=True),
                many("neighbor", "address", leaf("address", BGP), leaf("remote-as", BGP),
                     module=BGP),
                module=BGP,
            ),
        ),
    ),
    container(
        "local-sids",
        many("sid", "prefix", leaf("prefix"),
             leaf("behavior", canonical=lambda text: f"{SRV6}:{text}")),
    ),
)  # fmt: skip
RED = "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']"


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("", "/srv6mgr-srv6:srv6"),
        ("vrfs", "/srv6mgr-srv6:srv6/vrfs"),
        ("vrf", "/srv6mgr-srv6:srv6/vrfs/vrf"),
        ("vrf red", RED),
        ("vrfs vrf red", RED),
        ("vrfs/vrf[name=red]", RED),
        ("/srv6mgr-srv6:srv6/vrfs/vrf[name='red']", RED),
        ("/srv6/vrfs/vrf[srv6mgr-srv6:name='red']", RED),
        ("vrfs/vrf[name=red] bgp", f"{RED}/srv6mgr-bgp:bgp"),
        ("vrf red bgp neighbor 10.1.0.2", f"{RED}/srv6mgr-bgp:bgp/neighbor[address='10.1.0.2']"),
        ("vrf red interface eth1", f"{RED}/interface[.='eth1']"),
        ("vrf red table-id", f"{RED}/table-id"),
        ("vrf o'hara", '/srv6mgr-srv6:srv6/vrfs/vrf[name="o\'hara"]'),
        ("sid fcbb::/64", "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb::/64']"),
        (
            "local-sids/sid[prefix=fcbb::/64]/behavior",
            "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb::/64']/behavior",
        ),
    ],
)
def test_objects(words, path):
    target = resolve(ROOT, words.split())
    assert target.path == path
    assert target.is_whole == (words != "vrf")


def test_leaves_with_their_values():
    words = "vrf red table-id 10 interface eth1 interface eth2 bgp rd 65000:1 export-auto"
    target = resolve(ROOT, words.split(), values=True)
    assert target.path == f"{RED}/srv6mgr-bgp:bgp"
    assert target.values == (
        (f"{RED}/table-id", "10"),
        (f"{RED}/interface", "eth1"),
        (f"{RED}/interface", "eth2"),
        (f"{RED}/srv6mgr-bgp:bgp/rd", "65000:1"),
        (f"{RED}/srv6mgr-bgp:bgp/export-auto", ""),
    )


def test_values_are_written_as_libyang_takes_them():
    target = resolve(ROOT, ["sid", "fcbb::/64", "behavior", "End"], values=True)
    assert [value for _, value in target.values] == ["srv6mgr-srv6:End"]


@pytest.mark.parametrize(
    ("words", "values", "message"),
    [
        (
            "vfr red",
            False,
            "vfr: there is none below srv6; one of encapsulation, locator, sid, vrf",
        ),
        ("vrf red tabel-id 10", True, "tabel-id: there is none below vrf; one of bgp, interface,"),
        ("vrf red table-id", True, "table-id: it has no value; write table-id VALUE"),
        ("vrfs/vrf/table-id", False, "which vrf is not said; write vrf NAME"),
        ("vrfs/vrf[name=red", False, "it is no path; write it like vrfs/vrf[name=red]"),
        ("vrfs/vrf[table-id=10]", False, "it lacks the key name; write vrf NAME"),
        ("/other:srv6/vrfs", False, "it does not begin with /srv6mgr-srv6:srv6"),
        ("vrf red table-id 10", False, "table-id: it is a leaf"),
    ],
)
def test_what_is_not_understood(words, values, message):
    with pytest.raises(Problem) as caught:
        resolve(ROOT, words.split(), values=values)
    assert message in str(caught.value)
    assert caught.value.status is Exit.USAGE


TREE = {
    "encapsulation": {"source-address": "2001:db8::1"},
    "vrfs": {
        "vrf": [
            {
                "name": "red",
                "table-id": 10,
                "interface": ["eth1"],
                "srv6mgr-bgp:bgp": {
                    "rd": "65000:1",
                    "export-auto": [None],
                    "neighbor": [{"address": "10.1.0.2", "remote-as": 65001}],
                },
            },
            {"name": "empty"},
        ]
    },
    "local-sids": {"sid": [{"prefix": "fcbb::/64", "behavior": "srv6mgr-srv6:End"}]},
}


def test_lines_are_what_set_takes():
    found = [" ".join(words) for words in lines(ROOT, TREE)]
    assert found == [
        "encapsulation source-address 2001:db8::1",
        "vrf red table-id 10 interface eth1",
        "vrf red bgp rd 65000:1 export-auto",
        "vrf red bgp neighbor 10.1.0.2 remote-as 65001",
        "vrf empty",
        "sid fcbb::/64 behavior srv6mgr-srv6:End",
    ]
    for line in found:
        assert resolve(ROOT, line.split(), values=True)
