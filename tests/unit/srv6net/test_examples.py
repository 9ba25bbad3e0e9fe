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


def test_spokes_import_from_the_hub_alone() -> None:
    routers = proposed("hub-and-spoke.json").revision.routers
    hub, spoke = (routers[name][vrf_path("acme")][BGP] for name in ("pe1", "pe2"))
    assert spoke["import-rt"] == hub["export-rt"]
    assert set(spoke["export-rt"]) < set(hub["import-rt"])
