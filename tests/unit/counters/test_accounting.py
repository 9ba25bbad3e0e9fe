"""Rows of accounting as readers get them."""

from ipaddress import IPv6Address, IPv6Network, ip_network

from srv6mgrd.counters.accounting import ACCOUNTING, AccountingWriter, statistics
from srv6mgrd.counters.node import NodeReader
from srv6mgrd.model.accounting import Accounted, Count, Direction, Family, Row
from srv6mgrd.model.desired import Locator, SegmentList, SteeredRoute

REMOTE, VIA = IPv6Address("fcbb:0:2:d46::"), IPv6Address("fcbb:0:7::")
LOCATOR = Locator("MAIN", IPv6Network("fcbb:0:1::/48"))
LISTS = [SegmentList("via-7", (VIA, REMOTE))]
COUNT = Count(3, 300, 420)
SHOWN = {"packets": "3", "inner-octets": "300", "outer-octets": "420"}


def of(*rows, direction=Direction.SENT, others=None):
    return Accounted(10**18, {direction: dict.fromkeys(rows, COUNT)}, others or {})


def test_sent():
    found = statistics(of(Row("red", Family.IPV4, REMOTE)), LISTS, [LOCATOR], [])
    assert found == {
        "discontinuity-time": "2001-09-09T01:46:40.000000000+00:00",
        "sent": [
            {
                "vrf": "red",
                "address-family": "ipv4",
                "segments": "fcbb:0:2:d46::",
                "remote-sid": "fcbb:0:2:d46::",
                "remote-locator": "fcbb:0:2::/48",
                **SHOWN,
            }
        ],
    }


def test_a_declared_segment_list_is_named():
    found = statistics(of(Row("red", Family.IPV4, REMOTE, (VIA,))), LISTS, [], [])
    (entry,) = found["sent"]
    assert entry["segments"] == "fcbb:0:7:: fcbb:0:2:d46::"
    assert entry["segment-list"] == "via-7"
    assert "remote-locator" not in entry


def test_steered_routes_with_these_segments_are_named():
    lists = {"declared": SegmentList("declared", (REMOTE,))}
    routes = [
        SteeredRoute("red", ip_network(prefix), "declared")
        for prefix in ("10.2.0.0/24", "10.3.0.0/24", "2001:db8:2::/64")
    ]
    routes.append(SteeredRoute("blue", ip_network("10.9.0.0/24"), "declared"))
    found = statistics(of(Row("red", Family.IPV4, REMOTE)), lists.values(), [], routes)
    assert found["sent"][0]["steering-route"] == ["10.2.0.0/24", "10.3.0.0/24"]


def test_received_and_other():
    source = IPv6Address("2001:db8::2")
    others = {(Direction.RECEIVED, Family.ETHERNET): COUNT}
    rows = of(Row("red", Family.IPV6, source), direction=Direction.RECEIVED, others=others)
    found = statistics(rows, [], [], [])
    keys = {"vrf": "red", "address-family": "ipv6", "source": "2001:db8::2"}
    assert found["received"] == [keys | SHOWN]
    assert found["other"] == [{"direction": "received", "address-family": "ethernet"} | SHOWN]
    assert "sent" not in found


def test_the_file_goes_with_accounting(tmp_path):
    path = tmp_path / "accounting.json"
    writer, reader = AccountingWriter(path), NodeReader(path)
    writer.write({"sent": []})
    assert reader.read().members == {ACCOUNTING: {"statistics": {"sent": []}}}
    version = reader.version()
    writer.write({"sent": []})
    assert reader.version() == version
    writer.write(None)
    assert not path.exists()
