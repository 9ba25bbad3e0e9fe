"""Imports from other VRFs of the router that can't be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.leaking import Leak
from srv6mgrd.model.names import of_ref
from srv6mgrd.model.partition import partition
from srv6mgrd.model.references import of_path, path_of
from srv6mgrd.model.rejection import RejectedError, Rejection
from tests.builders import desired, dt46, locator, speaker, vpn, vrf

RED_SID, BLUE_SID = "fcbb:0:1:64::/64", "fcbb:0:1:65::/64"
PARTS = (locator(), dt46(RED_SID, "red"), dt46(BLUE_SID, "blue"))
RED = vrf("red", 10, bgp=vpn("65000:10", RED_SID))
BLUE = vrf("blue", 20, bgp=vpn("65000:20", BLUE_SID))
BASE = desired(*PARTS, RED, BLUE, speaker())
AT = "/srv6mgr-srv6:srv6"


def leaking(*leaks: Leak, base: Desired = BASE) -> Desired:
    return replace(base, leaks={leak.name: leak for leak in leaks})


def without_export(base: Desired = BASE) -> Desired:
    return replace(base, vrfs={**base.vrfs, "blue": vrf("blue", 20, bgp=vpn("65000:20"))})


def rejections(state: Desired) -> list[Rejection]:
    try:
        check(state)
    except RejectedError as error:
        return error.rejections
    return []


FROM_BLUE = Leak("red", "blue")


@pytest.mark.parametrize(
    ("state", "words", "tag"),
    [
        (leaking(FROM_BLUE, base=desired(vrf("red", 10), vrf("blue", 20))),
         "import of VRF red from VRF blue: BGP carries routes between VRFs, and the router has no"
         " BGP speaker; add /srv6mgr-srv6:srv6/srv6mgr-bgp:bgp with as-number and router-id",
         "leak-speaker-missing"),
        (leaking(Leak("red", "red")),
         "import of VRF red from VRF red: it is the VRF itself; name another VRF", "leak-self"),
        (leaking(Leak("red", "green")), "import of VRF red from VRF green: VRF green does not"
         " exist; create it, name an existing VRF, or default", "instance-required"),
        (leaking(FROM_BLUE, base=without_export()), "import of VRF red from VRF blue: VRF blue"
         " exports no routes; let it export a SID: export-sid, export-function or export-auto",
         "leak-export-missing"),
        (leaking(Leak("red", "default"), base=desired(vrf("red", 10), speaker())),
         "import of VRF red from VRF default: BGP carries routes between VRFs, and VRF red is not"
         " in BGP; add srv6mgr-bgp:bgp to it", "leak-bgp-missing"),
        (leaking(FROM_BLUE, base=desired(*PARTS, RED, speaker(), replace(
            BLUE, bgp=replace(vpn("65000:20", BLUE_SID), import_rts=("10.0.0.1:32788",))))),
         "import of VRF red from VRF blue: its routes are distinguished by route target"
         " 10.0.0.1:32788, which is declared, too; choose another table-id for VRF blue, or another"
         " route target", "leak-target-in-use"),
        (leaking(FROM_BLUE, Leak("blue", "red"), base=desired(
            *PARTS, BLUE, speaker(), replace(RED, table=20 + 0x8000))),
         "import of VRF blue from VRF red: its routes are distinguished by route target"
         " 10.0.0.1:32788, which is that of VRF blue, too; choose another table-id for VRF red, or"
         " another route target", "leak-target-in-use"),
    ],
)  # fmt: skip
def test_rejected(state: Desired, words: str, tag: str) -> None:
    (found,) = rejections(state)

    assert (str(found), found.tag) == (words, tag)


def test_accepted() -> None:
    check(leaking(FROM_BLUE, Leak("red", "default", "P"), Leak("default", "red", "P")))


def test_one_that_is_invalid_is_left_out_alone() -> None:
    state = leaking(FROM_BLUE, Leak("red", "green"))

    found = partition(state, rejections)

    (bad,) = found.rejected
    assert set(found.valid.leaks) == {FROM_BLUE.name}
    assert found.whole(found.valid) == state
    assert of_ref(bad) == "import of VRF red from VRF green"
    assert of_path(path_of(bad, state)) == bad


def test_one_of_the_default_vrf_by_its_path() -> None:
    state = leaking(Leak("default", "red", "P"))
    path = f"{AT}/srv6mgr-routing:default-vrf/import-from[vrf='red']"

    ref = of_path(f"{path}/policy")

    assert ref is not None
    assert path_of(ref, state) == path


def test_without_the_vrf_that_it_imports_from_it_is_left_out() -> None:
    state = leaking(FROM_BLUE, base=desired(*PARTS, RED, speaker(), replace(BLUE, table=8986)))

    found = partition(state, rejections)

    assert found.valid.leaks == {}
    assert "red" in found.valid.vrfs
