"""What is made of the output of ip, ping, vtysh, Redis and the lab."""

from __future__ import annotations

from tests.robot.library import console, frr, inner_lab, kernel, monitor, snapshot, sonic, traffic
from tests.robot.library.kernel import Counted

SID_ROUTE = {
    "dst": "fcbb:0:1:64::/64",
    "encap": {
        "encap_type": "seg6local",
        "action": "End.DT46",
        "vrftable": "10",
        "stats64": {"packets": 20, "bytes": 3160, "errors": 1},
    },
}


def test_counted() -> None:
    now = kernel.counted(SID_ROUTE)
    assert now == Counted(packets=20, octets=3160, errors=1)
    assert now - Counted(5, 60, 1) == Counted(15, 3100, 0)


def test_segments() -> None:
    route = {"encap": {"encap_type": "seg6", "segs": ["fcbb:0:2:64::"]}}
    assert kernel.segments(route) == ["fcbb:0:2:64::"]
    assert kernel.segments({"dst": "default"}) == []


def test_received() -> None:
    shown = "10 packets transmitted, 9 received, 10% packet loss, time 540ms"
    assert traffic.received(shown) == 9
    assert traffic.received("ping: connect: Network is unreachable") == 0


def test_transposition() -> None:
    assert frr.transposed("fcbb:0:1::", 1600) == "fcbb:0:1:64::"
    assert frr.transposed("fcbb:0:1::", 3200) == "fcbb:0:1:c8::"


def test_advertised() -> None:
    path = {"remoteSid": "fcbb:0:1::", "remoteLabel": 1600}
    assert frr.advertised({"65000:110": {"paths": [path]}}, "65000:110") == ["fcbb:0:1:64::"]
    assert frr.advertised({}, "65000:110") == []


def test_rows_naming() -> None:
    rows = {"0 VRF_TABLE:red": {"NULL": "NULL"}, "2 MAP": {"red": "1"}, "6 X": ["blue"]}
    assert sonic.naming(rows, "red") == ["0 VRF_TABLE:red", "2 MAP"]


def test_a_snapshot_leaves_out_what_moves() -> None:
    first = [{"dst": "b", "expires": 9}, {"dst": "a", "metrics": [{"used": 1}]}]
    later = [{"dst": "a", "metrics": [{"used": 2}]}, {"dst": "b", "expires": 3}]
    assert snapshot.lines_of(first) == snapshot.lines_of(later)


def test_a_snapshot_leaves_out_next_hops_that_zebra_keeps_for_a_while() -> None:
    shown = '[{"id": 7, "dev": "red", "protocol": "zebra"}, {"id": 8, "dev": "red"}]'
    assert snapshot.kernel_lines(shown) == ['{"dev": "red", "id": 8}']
    route = '[{"dst": "a", "nhid": 7, "protocol": "bgp"}]'
    assert len(snapshot.kernel_lines(route)) == 1


def test_differences() -> None:
    before = {"rules": ["a", "b"], "FRR": ["x"]}
    after = {"rules": ["b", "c"], "FRR": ["x", "y"]}
    assert snapshot.differences(before, after) == ["- rules: a", "+ rules: c", "+ FRR: y"]
    assert snapshot.differences(before, after, ["FRR:", "a"]) == ["+ rules: c"]
    assert snapshot.differences(before, before) == []


def test_marks_are_not_heard() -> None:
    lines = ["blackhole 192.0.2.253 table 4999", "", "Deleted fcbb:0:1:64::/64 table 8986"]
    assert monitor.between(lines) == ["Deleted fcbb:0:1:64::/64 table 8986"]


def test_console() -> None:
    assert console.line("passed", "One", 1.26) == "  pass  One (1.3 s)"
    assert console.line("failed", "Two", 0) == "  FAIL  Two (0.0 s)"
    assert console.line("skipped", "Three", 0) == "  skip  Three (0.0 s)"
    assert console.indented("a\nb") == "        a\n        b"


def test_new_traces() -> None:
    assert inner_lab.new(["mount /"], ["mount /", "file /tmp/x"]) == ["file /tmp/x"]
