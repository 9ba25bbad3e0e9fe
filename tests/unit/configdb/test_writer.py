"""One transaction for all; rejected rows are left out, with the reason."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.objects import Kind, Object
from srv6mgrd.configdb.writer import edits, split
from srv6mgrd.datastore.transaction import Op
from srv6mgrd.model.rejection import RejectedError, Rejection


def change(n: int) -> Change:
    return Change(f"VRF|Vrf{n}", Object(Kind.VRF, f"Vrf{n}"), {"table-id": n})


class Judge:
    """Rejects some; ``named`` says whether it names them."""

    def __init__(self, bad: set[int], *, named: bool) -> None:
        self.bad, self.named = bad, named
        self.committed: list[str] = []
        self.asked = 0

    def __call__(self, changes: Sequence[Change]) -> None:
        self.asked += 1
        wrong = [c for c in changes if int(c.object.name[3:]) in self.bad]
        if wrong:
            names = [str(c.object) if self.named else "something" for c in wrong]
            raise RejectedError([Rejection(n, "bad", "mend it", "bad") for n in names])
        self.committed += [c.row for c in changes]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("bad", [set(), {3}, {0, 7}, set(range(8))])
def test_the_good_go_through(bad: set[int], named: bool) -> None:
    judge = Judge(bad, named=named)
    rejected = split([change(n) for n in range(8)], judge)
    assert set(rejected) == {f"VRF|Vrf{n}" for n in bad}
    assert set(judge.committed) == {f"VRF|Vrf{n}" for n in range(8) if n not in bad}
    assert all(reason.text.endswith("bad; mend it") for reason in rejected.values())
    if named:
        assert judge.asked == 1 + (0 < len(bad) < 8)


def test_nothing_to_do_asks_nobody() -> None:
    judge = Judge(set(), named=True)
    assert split([], judge) == {}
    assert judge.asked == 0


def test_edits_are_one_value_a_list() -> None:
    gone = Change("VRF|Vrf9", Object(Kind.VRF, "Vrf9"), None)
    sid = Object(Kind.SID, "fcbb:0:1:1::/64")
    changed = Change("x", sid, {"behavior": "End"}, ("vrf",))
    removed, leaf, vrfs, sids = edits([gone, change(1), change(2), changed])
    assert (removed.op, removed.target) == (Op.DELETE, "/srv6mgr-srv6:srv6/vrfs/vrf[name='Vrf9']")
    assert leaf.target == "/srv6mgr-srv6:srv6/local-sids/sid[prefix='fcbb:0:1:1::/64']/vrf"
    assert (vrfs.op, vrfs.target) == (Op.UPDATE, "/srv6mgr-srv6:srv6/vrfs/vrf")
    assert json.loads(vrfs.document) == {
        "srv6mgr-srv6:srv6": {
            "vrfs": {"vrf": [{"name": "Vrf1", "table-id": 1}, {"name": "Vrf2", "table-id": 2}]}
        }
    }
    assert sids.target == "/srv6mgr-srv6:srv6/local-sids/sid"


def test_rejections_that_name_no_row_are_searched_within_bounds() -> None:
    judge = Judge(set(range(5000)), named=False)
    rejected = split([change(n) for n in range(5000)], judge)
    assert len(rejected) == 5000
    assert judge.asked < 300
    assert not rejected["VRF|Vrf4999"].is_final
