"""The text, as parsers of the formats read it."""

import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest
from prometheus_client import parser
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import parser as openmetrics

from srv6mgrd.metrics.exposition import Format, body, compressed
from srv6mgrd.metrics.query import Query, parse
from srv6mgrd.metrics.state import State
from tests.unit.metrics.router import BLUE, END, RED, snapshot, state

OPEN = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def values(families: Iterable[Metric]) -> Values:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): float(sample.value)
        for family in families
        for sample in family.samples
    }


def read(found: State, target: str = "/metrics", accept: str = OPEN) -> Values:
    written = Format.wanted(accept)
    text = b"".join(body(found, parse(target), written)).decode()
    parse_text = openmetrics.text_string_to_metric_families if written.is_open else None
    return values((parse_text or parser.text_string_to_metric_families)(text))


def value(found: Values, name: str, **labels: str) -> float:
    return found[name, tuple(sorted(labels.items()))]


def test_counters_of_sids(tmp_path: Path):
    found = read(state(tmp_path))

    red = {"sid": RED, "vrf": "red", "behavior": "End.DT46"}
    assert value(found, "srv6_sid_packets_total", **red) == float((1 << 64) - 1)
    assert value(found, "srv6_sid_bytes_total", **red) == 840
    assert value(found, "srv6_sid_errors_total", **red) == 1
    end = {"sid": END, "vrf": "", "behavior": "End"}
    assert value(found, "srv6_sid_packets_total", **end) == 3


def test_both_formats_say_the_same(tmp_path: Path):
    router = state(tmp_path)

    assert read(router) == read(router, accept="text/plain")


def test_names_are_those_of_the_conventions(tmp_path: Path):
    text = b"".join(body(state(tmp_path), Query(), Format.wanted(OPEN))).decode()

    families = list(openmetrics.text_string_to_metric_families(text))
    assert {family.unit for family in families if family.name.endswith("_bytes")} == {"bytes"}
    assert all(family.documentation for family in families)
    assert all(family.name.startswith(("srv6_", "srv6mgr")) for family in families)
    assert len({family.name for family in families}) == len(families)
    assert text.endswith("# EOF\n")
    assert text.count("# EOF") == 1


def test_the_traffic_matrix(tmp_path: Path):
    found = read(state(tmp_path))

    sent = {
        "vrf": "red",
        "family": "ipv4",
        "remote_sid": "fcbb:0:2:64::",
        "remote_locator": "fcbb:0:2::/48",
        "segments": "fcbb:0:9:: fcbb:0:2:64::",
        "segment_list": 'by "nine"\\',
    }
    assert value(found, "srv6_accounting_sent_packets_total", **sent) == 25
    assert value(found, "srv6_accounting_sent_inner_bytes_total", **sent) == 2100
    source = {"vrf": "blue", "family": "ipv6", "source": "2001:db8::2"}
    assert value(found, "srv6_accounting_received_outer_bytes_total", **source) == 560
    other = {"direction": "sent", "family": "ipv4"}
    assert value(found, "srv6_accounting_other_packets_total", **other) == 1


def test_services_and_what_carries_them(tmp_path: Path):
    found = read(state(tmp_path))

    service = "srv6_vrf_service_state"
    assert value(found, service, vrf="blue", srv6_vrf_service_state="degraded") == 1
    assert value(found, service, vrf="blue", srv6_vrf_service_state="up") == 0
    assert value(found, "srv6_interface_up", interface="eth0") == 1
    assert value(found, "srv6_interface_up", interface="eth1") == 0
    assert value(found, "srv6_path_loss_ratio", session="pe2", direction="forward") == 0.005
    delay = {"session": "pe2", "statistic": "median"}
    assert value(found, "srv6_path_round_trip_delay_seconds", **delay) == 0.001
    assert value(found, "srv6_proxy_errors_total", sid=END, reason="no-srh") == 1
    assert value(found, "srv6_proxy_bytes_total", sid=END, direction="to-function") == 500
    assert value(found, "srv6_alarms", severity="major") == 2


def test_bgp_sessions(tmp_path: Path):
    found = read(state(tmp_path), "/metrics?kind=bgp")

    reflector = {"vrf": "default", "neighbor": "2001:db8::2"}
    assert value(found, "srv6_bgp_session_established", **reflector) == 1
    assert value(found, "srv6_bgp_session_transitions_total", **reflector) == 3
    of_vpn = {**reflector, "afi_safi": "ipv4-vpn"}
    assert value(found, "srv6_bgp_prefixes", **of_vpn, direction="accepted") == 20
    assert value(found, "srv6_bgp_prefixes", **of_vpn, direction="advertised") == 5
    for neighbor in ("eth1", "10.2.0.7"):
        of_red = {"vrf": "red", "neighbor": neighbor}
        assert value(found, "srv6_bgp_session_established", **of_red) == 0
    assert len(read(state(tmp_path), "/metrics?kind=bgp&vrf=red")) == 4


def test_reasons_of_drops(tmp_path: Path):
    found = read(state(tmp_path), "/metrics?kind=drop")

    no_route = {"sid": RED, "vrf": "red", "reason": "no-route", "certainty": "certain"}
    other = {"sid": END, "vrf": "", "reason": "other", "certainty": "likely"}
    assert value(found, "srv6_dropped_packets_total", **no_route) == 12
    assert value(found, "srv6_dropped_packets_total", **other) == 1
    assert len(read(state(tmp_path), "/metrics?kind=drop&vrf=red")) == 1


def test_the_node(tmp_path: Path):
    found = read(state(tmp_path), "/metrics?kind=node,object")

    assert value(found, "srv6mgr_up") == 1
    assert value(found, "srv6mgr_sample_timestamp_seconds") == 1_790_000_000
    assert value(found, "srv6mgr_info", kernel="6.12", frr="10.3") == 1
    assert value(found, "srv6mgr_rejected_commits_total") == 1
    assert value(found, "srv6mgr_storage_problems") == 1
    assert value(found, "srv6mgr_event_loop_gap_seconds", daemon="srv6mgrd") == 0.012
    stage = {"daemon": "srv6mgrd", "stage": "plan"}
    assert value(found, "srv6mgr_stage_seconds_sum", **stage) == 1.5
    assert value(found, "srv6mgr_stage_seconds_count", **stage) == 3
    assert value(found, "srv6mgr_queue_length", daemon="srv6mgrd", queue="commits") == 2
    assert value(found, "srv6_objects", kind="sid", status="installed") == 2
    assert value(found, "srv6_objects", kind="sid", status="failed") == 1
    assert value(found, "srv6_object_repairs_total", kind="sid") == 3


def test_nobody_vouches_for_statuses_without_srv6mgrd(tmp_path: Path):
    found = read(state(tmp_path, lease=-1))

    assert value(found, "srv6mgr_up") == 0
    assert value(found, "srv6_objects", kind="sid", status="unknown") == 3
    assert value(found, "srv6_objects", kind="sid", status="installed") == 0
    # Counters are those of the last sample, whose time is shown.
    red = {"sid": RED, "vrf": "red", "behavior": "End.DT46"}
    assert value(found, "srv6_sid_bytes_total", **red) == 840


@pytest.mark.parametrize("accept", [OPEN, "text/plain"])
def test_a_router_without_anything(tmp_path: Path, accept: str):
    found = read(State(snapshot(tmp_path)), accept=accept)

    assert value(found, "srv6_objects", kind="vrf", status="installed") == 2


def test_filters_choose_what_is_stored(tmp_path: Path):
    router = state(tmp_path)

    sids = read(router, "/metrics?kind=sid&vrf=blue")
    assert {name for name, _ in sids} == {
        "srv6_sid_packets_total",
        "srv6_sid_bytes_total",
        "srv6_sid_errors_total",
    }
    assert {dict(labels)["sid"] for _, labels in sids} == {BLUE}
    blue = read(router, "/metrics?vrf=blue")
    assert {dict(labels)["vrf"] for _, labels in blue} == {"blue"}
    assert len(blue) == 3 + 4 + 3
    assert {name for name, _ in read(router, "/metrics?kind=alarm")} == {"srv6_alarms"}


def test_gzip(tmp_path: Path):
    pieces = body(state(tmp_path), Query(), Format.wanted(OPEN))

    assert gzip.decompress(b"".join(compressed(pieces))) == b"".join(pieces)
