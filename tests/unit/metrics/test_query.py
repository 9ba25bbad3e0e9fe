"""What a client may ask for."""

import pytest

from srv6mgrd.metrics.query import Kind, NoSuchPageError, Query, QueryError, parse


def test_nothing_named_is_all():
    assert parse("/metrics") == Query(frozenset(Kind), frozenset())


def test_kinds_and_vrfs_can_be_named():
    query = parse("/metrics?vrf=red&vrf=blue&kind=sid&kind=node,vrf")

    assert query.vrfs == {"red", "blue"}
    assert query.kinds == {Kind.SID, Kind.NODE, Kind.VRF}
    assert query.wants_vrf("red")
    assert not query.wants_vrf("green")


def test_where_vrfs_are_named_metrics_of_no_vrf_are_left_out():
    query = parse("/metrics?vrf=red")

    assert query.wants(Kind.SID)
    assert not query.wants(Kind.NODE)


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("/metrics?kind=nothing", "kind: 'nothing' is unknown; known are sid, drop, object"),
        ("/metrics?vrf=", "vrf: '' is no name of a VRF"),
        ("/metrics?vrf=0123456789abcdef", "is no name of a VRF; write one of 1 to 15"),
        ("/metrics?color=red", "query: 'color' is unknown; known are vrf, kind"),
        ("/metrics?vrf", "write ?vrf=NAME&kind=KIND"),
        ("/metrics?" + "&".join(f"vrf=v{n}" for n in range(200)), "write ?vrf=NAME"),
    ],
)
def test_bad_queries_are_rejected(target: str, text: str):
    with pytest.raises(QueryError) as error:
        parse(target)
    assert text in str(error.value)


@pytest.mark.parametrize("target", ["/", "/metrics/", "http://router/other", "*"])
def test_there_is_one_page(target: str):
    with pytest.raises(NoSuchPageError):
        parse(target)
