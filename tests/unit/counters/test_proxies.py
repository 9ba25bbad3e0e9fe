"""State of the proxies, and the file that hands it on."""

from ipaddress import IPv6Address
from pathlib import Path

from srv6mgrd.counters.node import NodeReader
from srv6mgrd.counters.proxies import ProxiesWriter, beside, proxy_state
from srv6mgrd.model.proxy_state import FlowChain, ProxyCounts, ProxyState
from tests.builders import net

PREFIX = net("fcbb:0:1:ad::/64")
COUNTS = ProxyCounts(1, 100, 2, 200, 3, 4, 5, 6, 7, 8, 9, 10, 11)
CHAIN = (IPv6Address("fcbb:0:2::"), IPv6Address("fcbb:0:3::"))
LEARNED = ProxyState(COUNTS, IPv6Address("2001:db8::1"), CHAIN, 1_500_000_000)


def test_state_is_reported_as_yang_has_it():
    assert COUNTS.errors == 63
    assert proxy_state(LEARNED) == {
        "to-function": {"pkts": "1", "octets": "100"},
        "from-function": {"pkts": "2", "octets": "200"},
        "errors": {
            "no-srh": "3",
            "no-segments-left": "4",
            "hop-limit": "5",
            "header-too-long": "6",
            "nothing-learned": "7",
            "not-for-proxy": "8",
            "too-big": "9",
            "extension-header-chain-too-long": "10",
            "fragment": "11",
        },
        "chain": {
            "source-address": "2001:db8::1",
            "segment": [
                {"index": 0, "sid": "fcbb:0:2::"},
                {"index": 1, "sid": "fcbb:0:3::"},
            ],
            "last-learned": "1970-01-01T00:00:01.500000000+00:00",
        },
    }


def test_what_learned_nothing_has_no_chain():
    assert "chain" not in proxy_state(ProxyState(COUNTS))


def test_chains_of_flows_are_reported_by_their_digests():
    chain = FlowChain(0xAD, IPv6Address("2001:db8::1"), CHAIN, 1_500_000_000)

    state = proxy_state(ProxyState(COUNTS, flow_chains=(chain,)))

    assert "chain" not in state
    assert state["flow-chain"] == [{"id": "00000000000000ad", **proxy_state(LEARNED)["chain"]}]


def test_the_mtu_is_reported_where_it_is_known():
    assert proxy_state(ProxyState(COUNTS, mtu=1400))["mtu"] == 1400
    assert "mtu" not in proxy_state(ProxyState(COUNTS))


def test_a_declared_chain_was_never_learned():
    declared = ProxyState(COUNTS, IPv6Address("2001:db8::1"), CHAIN)
    assert "last-learned" not in proxy_state(declared)["chain"]


def test_readers_follow_the_file(tmp_path: Path):
    path = beside(tmp_path / "store")
    writer, reader = ProxiesWriter(path), NodeReader(path)
    assert reader.read().members == {}

    writer.write({PREFIX: LEARNED})
    assert reader.read().members == {str(PREFIX): proxy_state(LEARNED)}
    version = reader.version()

    writer.write({PREFIX: LEARNED})
    assert reader.version() == version

    writer.write({})
    assert reader.read().members == {}
    assert not path.exists()


def test_a_file_of_an_earlier_run_goes(tmp_path: Path):
    path = beside(tmp_path / "store")
    ProxiesWriter(path).write({PREFIX: LEARNED})

    ProxiesWriter(path).write({})

    assert not path.exists()
