"""Names of declared objects: one by reference and by path, with and without a key."""

from __future__ import annotations

import pytest

from srv6mgrd.model import names
from srv6mgrd.model.references import of_path

_ROOT = "/srv6mgr-srv6:srv6"
_RED = f"{_ROOT}/vrfs/vrf[name='red']"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"{_ROOT}/local-sids/sid[prefix='fc00::/64']", "SID fc00::/64"),
        (f"{_ROOT}/locators/locator[name='main']/prefix", "locator main"),
        (f"{_ROOT}/segment-lists/segment-list[name='a']", "segment list a"),
        (f"{_ROOT}/interfaces/interface[name='eth1']", "interface eth1"),
        (_RED, "VRF red"),
        (f"{_RED}/srv6mgr-steering:steering/route[prefix='::/0']", "route ::/0 of VRF red"),
        (f"{_ROOT}/srv6mgr-steering:steering/route[prefix='::/0']", "route ::/0"),
        (
            f"{_RED}/srv6mgr-routing:static-routes/route[prefix='::/0']",
            "static route ::/0 of VRF red",
        ),
        (
            f"{_RED}/srv6mgr-routing:route-leaking/import-from[vrf='blue']",
            "import of VRF red from VRF blue",
        ),
        (
            f"{_ROOT}/srv6mgr-routing:default-vrf/import-from[vrf='blue']",
            "import of VRF default from VRF blue",
        ),
        (f"{_RED}/srv6mgr-ospf:ospf", "OSPF of VRF red"),
        (f"{_RED}/srv6mgr-ospf:ospfv3/area", "OSPFv3 of VRF red"),
        (f"{_ROOT}/srv6mgr-bgp:bgp/neighbor[address='fc00::1']", "BGP neighbor fc00::1"),
        (f"{_ROOT}/srv6mgr-bgp:bgp/unnumbered-neighbor[interface='e']", "BGP neighbor e"),
        (f"{_ROOT}/srv6mgr-bgp:bgp/peer-group[name='x']", "BGP peer group x"),
        (f"{_ROOT}/srv6mgr-bgp:bgp/router-id", "BGP"),
        (f"{_ROOT}/srv6mgr-isis:isis/interface[name='eth1']", "IS-IS interface eth1"),
    ],
)
def test_by_path_and_by_reference(path: str, name: str) -> None:
    assert names.of_path(path) == name
    ref = of_path(path)
    assert ref is not None
    assert names.of_ref(ref) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"{_ROOT}/local-sids/sid", "SID bad"),
        (f"{_RED}/srv6mgr-bgp:bgp/neighbor", "BGP neighbor bad of VRF red"),
        (f"{_RED}/srv6mgr-routing:static-routes/route", "static route bad of VRF red"),
        (f"{_RED}/srv6mgr-routing:route-leaking", "import of VRF red"),
        (f"{_RED}/table-id", "VRF red"),
    ],
)
def test_a_key_is_added_where_the_path_has_none(path: str, name: str) -> None:
    assert names.of_path(path, lambda _: "bad") == name


def test_any_other_path_names_itself() -> None:
    assert names.of_path("/other:module") == "/other:module"
    assert names.of_path("") == "value"
