"""Warnings of chains whose packets do not fit the underlay."""

from __future__ import annotations

from typing import Any

from srv6mgrd.model.chain_mtus import warnings
from srv6mgrd.model.expand import expand
from tests.unit.model.service_chaining import config, desired


def _with_core(**roles: str) -> Any:
    tree = config()
    tree["interfaces"] = {"interface": [{"name": n, "role": r} for n, r in roles.items()]}
    return expand(desired(tree))


def test_the_longest_list_counts() -> None:
    state = _with_core(core1="core", core2="core")
    assert list(warnings(state, {"ce1": 1500, "core1": 9000, "core2": 1590})) == [
        "service function chain web: packets of 1500 bytes from ce1 and its outer header of 96"
        " bytes (3 segments) do not fit core2 (MTU 1590); set the MTU of core2 to 1596 or more, or"
        " that of ce1 to 1494"
    ]


def test_what_fits_is_not_mentioned() -> None:
    state = _with_core(core1="core")
    assert list(warnings(state, {"ce1": 1500, "core1": 1596})) == []


def test_interfaces_that_are_not_there() -> None:
    state = _with_core(core1="core")
    assert list(warnings(state, {"ce1": 1500})) == []
    assert list(warnings(state, {"core1": 1280})) == []
