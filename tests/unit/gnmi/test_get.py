"""Which Gets are read straight from the records of counters."""

import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.gnmi import get, wire
from srv6mgrd.gnmi.view import Model
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
