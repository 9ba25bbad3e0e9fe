"""Which Gets are read straight from the records of counters."""

import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.gnmi import get, mirror, wire
from srv6mgrd.gnmi.turns import resting
from srv6mgrd.gnmi.view import Model, Snapshot
from tests.unit.gnmi.models import SRV6, schema

MODEL = Model(schema())
COUNTERS = "srv6/local-sids/sid/state/counters"


def packs(*paths: str, encoding: int = wire.JSON_IETF, **more: object) -> list[str] | None:
    """The leaves of each path, or of the whole container as one value."""
    elements = [[pb.PathElem(name=name) for name in path.split("/")] for path in paths]
    request = pb.GetRequest(path=[pb.Path(elem=e) for e in elements], encoding=encoding, **more)
    found = get.packs(get.read(request, MODEL, frozenset({SRV6}), None, 0), MODEL)
    if found is None:
        return None
    return [
        ("whole " if r.whole is not None else "") + " ".join(leaf.name for leaf in r.leaves)
        for r in found
    ]


ALL = "in-pkts in-octets in-errors discontinuity-time"


@pytest.mark.parametrize(
    ("encoding", "container"),
    [
        (wire.JSON_IETF, [f"whole {ALL}"]),
        (wire.JSON, [f"whole {ALL}"]),
        (wire.PROTO, [ALL]),
        # One text, with the names of the leaves in it.
        (wire.ASCII, None),
    ],
)
def test_counters_of_all_sids(encoding: int, container: list[str] | None) -> None:
    assert packs(COUNTERS, encoding=encoding) == container
    leaves = [f"{COUNTERS}/in-pkts", f"{COUNTERS}/in-errors"]
    assert packs(*leaves, encoding=encoding) == ["in-pkts", "in-errors"]


def test_what_holds_more_than_counters_is_read_leaf_by_leaf() -> None:
    state = COUNTERS.removesuffix("/counters")
    assert packs(state) is None
    assert packs(f"{COUNTERS}/in-pkts", state) is None
    assert packs(COUNTERS, type=pb.GetRequest.CONFIG) is None
    assert packs() is None


SIDS = 1000


def router() -> Snapshot:
    sids = [{"prefix": f"fcbb:0:1:{n:x}::/64", "locator": "main"} for n in range(1, SIDS + 1)]
    return Snapshot(MODEL, mirror.tree(MODEL.root, {f"{SRV6}:srv6": {"local-sids": {"sid": sids}}}))


@pytest.mark.parametrize("path", ["...", "srv6/local-sids/sid"])
@pytest.mark.parametrize("encoding", wire.ENCODINGS)
def test_who_reads_much_lets_others_compute_meanwhile(encoding: int, path: str) -> None:
    """In the middle of each path, not only between them."""
    elements = [pb.PathElem(name=name) for name in path.split("/")]
    request = pb.GetRequest(path=[pb.Path(elem=elements)], encoding=encoding)
    asked = get.read(request, MODEL, frozenset({SRV6}), None, 0)
    rests: list[int] = []
    with resting(lambda: rests.append(1)):
        answer = pb.GetResponse.FromString(get.get(asked, router()))
    assert len(rests) >= SIDS // 200
    assert len(answer.notification) == 1
    assert b"fcbb:0:1:3e8::/64" in answer.SerializeToString()


def test_reading_many_long_paths_lets_others_compute_meanwhile() -> None:
    path = pb.Path(elem=[pb.PathElem(name="...")] * 64)
    rests: list[int] = []
    with resting(lambda: rests.append(1)):
        get.read(pb.GetRequest(path=[path] * 1000), MODEL, frozenset({SRV6}), None, 0)
    assert len(rests) >= 50
