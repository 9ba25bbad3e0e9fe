"""The documents of examples/network are what the documentation says of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from srv6net.compile.configuration import vrf_path
from srv6net.intent.inventory import inventory
from srv6net.proposal import Proposal, propose
from srv6net.transaction.record import Revision

FOLDER = Path(__file__).parents[3] / "examples/network"
BGP = "srv6mgr-bgp:bgp"


def proposed(name: str) -> Proposal:
    known = inventory(tomllib.loads((FOLDER / "inventory.toml").read_text()))
    return propose(json.loads((FOLDER / name).read_text()), known, Revision(), 0.0)


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.json")))
def test_each_compiles_to_the_routers_that_it_names(file: str) -> None:
    found = proposed(file)
    assert found.revision.routers.keys() <= {"pe1", "pe2", "pe3"}
    assert found.warnings == ()


def test_customers_of_an_extranet_import_what_they_share_alone() -> None:
    routers = proposed("extranet.json").revision.routers
    acme, umbra, backup = (
        routers[router][vrf_path(name)][BGP]
        for router, name in (("pe1", "acme"), ("pe3", "umbra"), ("pe3", "backup"))
    )
    assert acme["import-rt"] == sorted([*acme["export-rt"], *backup["export-rt"]])
    assert umbra["import-rt"] == sorted([*umbra["export-rt"], *backup["export-rt"]])
    shared = [*acme["export-rt"], *umbra["export-rt"], *backup["export-rt"]]
    assert backup["import-rt"] == sorted(shared)


def test_both_routers_of_a_dual_homed_site_have_its_routes() -> None:
    routers = proposed("dual-homing.json").revision.routers
    for router, hop in (("pe1", "10.1.0.10"), ("pe2", "10.2.0.10")):
        (route,) = routers[router][vrf_path("acme")]["srv6mgr-routing:static-routes"]["route"]
        assert route["prefix"] == "10.9.0.0/24"
        assert [one["address"] for one in route["next-hop"]] == [hop]
    distinguishers = {routers[name][vrf_path("acme")][BGP]["rd"] for name in ("pe1", "pe2", "pe3")}
    assert len(distinguishers) == 3


def test_spokes_import_from_the_hub_alone() -> None:
    routers = proposed("hub-and-spoke.json").revision.routers
    hub, spoke = (routers[name][vrf_path("acme")][BGP] for name in ("pe1", "pe2"))
    assert spoke["import-rt"] == hub["export-rt"]
    assert set(spoke["export-rt"]) < set(hub["import-rt"])
