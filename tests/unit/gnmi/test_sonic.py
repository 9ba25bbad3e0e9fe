"""Counters as sonic-gnmi serves them, asked for by many paths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.gnmi import mirror, sonic
from srv6mgrd.gnmi.budget import Budget, BudgetError
from srv6mgrd.gnmi.turns import resting
from srv6mgrd.gnmi.view import Model, Snapshot
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.unit.gnmi.models import SRV6, schema

MODEL = Model(schema())
SIDS, PATHS = 1000, 100
LENGTHS = {"block-length": 32, "node-length": 16, "function-length": 16}


def router() -> Snapshot:
    prefixes = [f"fcbb:0:1:{n:x}::/64" for n in range(1, SIDS + 1)]
    data = {
        "locators": {"locator": [{"name": "main"}]},
        "local-sids": {"sid": [{"prefix": p, "locator": "main"} for p in prefixes]},
    }
    config: dict[str, Any] = mirror.tree(MODEL.root, {f"{SRV6}:srv6": data})
    # Leaves that this small schema does not have.
    config[f"{SRV6}:srv6"]["locators"]["locator"]["main",] |= LENGTHS
    return Snapshot(
        MODEL,
        config,
        {ObjectRef(Kind.SID, p): ObjectStatus(InstallStatus.INSTALLED) for p in prefixes},
        {p: SidCounters(1, 2, 3, 4) for p in prefixes},
    )


def everything(paths: int = PATHS, name: str = "SID*") -> object:
    path = pb.Path(elem=[pb.PathElem(name="COUNTERS"), pb.PathElem(name=name)])
    prefix = pb.Path(target="COUNTERS_DB")
    return pb.GetRequest(prefix=prefix, path=[path] * paths, encoding=pb.JSON_IETF)


def test_who_asks_for_all_sids_many_times_lets_others_compute_meanwhile() -> None:
    rests: list[int] = []
    with resting(lambda: rests.append(1)):
        answer = pb.GetResponse.FromString(sonic.get(everything(), router(), None))
    assert len(answer.notification) == PATHS
    assert len({n.update[0].val.json_ietf_val for n in answer.notification}) == 1
    assert len(rests) >= PATHS + SIDS // 200


def test_the_answer_has_a_budget() -> None:
    size = len(sonic.get(everything(), router(), None))
    sonic.get(everything(), replace(router(), budget=Budget(most_bytes=2 * size)), None)
    small = replace(router(), budget=Budget(most_bytes=size // 2))
    with pytest.raises(BudgetError, match="its answer is larger than one may be"):
        sonic.get(everything(), small, None)


def test_a_wildcard_is_what_ends_in_an_asterisk() -> None:
    plain = pb.GetResponse.FromString(sonic.get(everything(1), router(), None))
    prefixed = pb.GetResponse.FromString(sonic.get(everything(1, "SID:*"), router(), None))
    values = [answer.notification[0].update[0].val for answer in (plain, prefixed)]
    assert values[0] == values[1]
