"""Debian's nfacctd (pmacct) decodes what srv6-metricsd exports; each field is compared."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import pytest

from lab.unpacked import home
from lab.waiting import wait_until
from srv6mgrd.counters.accounting import ACCOUNTING
from tests.contract.metrics.conftest import Start, free_port
from tests.contract.metrics.test_scrape import OverSocket, get

pytestmark = pytest.mark.contract

HOME = Path(home("pmacct"))
# Elements that pmacct has no words for, by their numbers in the IANA registry.
PRIMITIVES = """
name=vrf field_type=236 len=vlen semantics=str
name=active_segment field_type=495 len=16 semantics=ip
name=segment field_type=494 len=16 semantics=ip
name=locator_length field_type=501 len=1 semantics=u_int
name=segment_list field_type=497 len=vlen semantics=raw
name=post_octets field_type=23 len=8 semantics=u_int
name=direction field_type=61 len=1 semantics=u_int
"""
NAMES = "vrf, active_segment, segment, locator_length, segment_list, post_octets, direction"


class Collector:
    """nfacctd, which writes what it gets as JSON."""

    def __init__(self, place: Path) -> None:
        self.port = free_port()
        self.found = place / "flows.json"
        (place / "primitives").write_text(PRIMITIVES)
        settings = place / "nfacctd.conf"
        settings.write_text(f"""
daemonize: false
debug: true
nfacctd_ip: 127.0.0.1
nfacctd_port: {self.port}
aggregate_primitives: {place}/primitives
aggregate: src_host, dst_host, proto, {NAMES}
plugins: print
print_output: json
print_output_file: {self.found}
print_output_file_append: true
print_refresh_time: 1
""")
        self.log = place / "nfacctd.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [HOME / "usr/sbin/nfacctd", "-f", settings],
                env={**os.environ, "LD_LIBRARY_PATH": str(HOME / "usr/lib/x86_64-linux-gnu")},
                stdout=log,
                stderr=log,
            )

    def flows(self) -> list[dict[str, Any]]:
        if not self.found.exists():
            return []
        lines = self.found.read_text().splitlines()
        return [one for one in map(json.loads, lines) if "vrf" in one]

    def has_templates(self) -> bool:
        return "template ID" in self.log.read_text()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=20)


@pytest.fixture
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    found = Collector(tmp_path_factory.mktemp("nfacctd"))
    yield found
    found.stop()


def write(place: Path, *, sent: list[Any], received: list[Any]) -> None:
    """What srv6mgrd publishes."""
    content = {"statistics": {"sent": sent, "received": received}}
    fresh = place / "new"
    fresh.write_text(json.dumps({ACCOUNTING: content}))
    fresh.rename(place / "accounting.json")


def test_every_field_arrives(start: Start, place: Path, collector: Collector) -> None:
    listed = {
        "vrf": "red", "address-family": "ipv4", "segments": "fcbb:0:9:: fcbb:0:2:64::",
        "remote-sid": "fcbb:0:2:64::", "remote-locator": "fcbb:0:2::/48",
        "packets": "25", "inner-octets": "2100", "outer-octets": "4300",
    }  # fmt: skip
    single = {
        "vrf": "blue", "address-family": "ipv6", "segments": "fcbb:0:3:c8::",
        "remote-sid": "fcbb:0:3:c8::",
        "packets": "11", "inner-octets": "924", "outer-octets": "1364",
    }  # fmt: skip
    received = {
        "vrf": "red", "address-family": "ethernet", "source": "2001:db8::2",
        "packets": "4", "inner-octets": "400", "outer-octets": "560",
    }  # fmt: skip
    write(place, sent=[listed], received=[])
    start(
        f'ipfix_collector = "127.0.0.1:{collector.port}"\nipfix_interval = 0.5\nipfix_domain = 7\n'
    )
    wait_until(collector.has_templates, "templates")

    more = {**listed, "packets": "35", "inner-octets": "2940", "outer-octets": "6020"}
    write(place, sent=[more, single], received=[received])

    wait_until(lambda: len(collector.flows()) >= 3, "three flows", timeout=30)
    flows = {(one["vrf"], one["direction"]): one for one in collector.flows()}
    # Directions: 0 is ingress, 1 is egress. The first segment is the active one.
    assert flows == {
        ("red", "1"): {
            "event_type": "purge", "ip_src": "", "ip_dst": "fcbb:0:9::", "ip_proto": "ipencap",
            "vrf": "red", "active_segment": "fcbb:0:9::", "segment": "fcbb:0:2:64::",
            "locator_length": "48", "segment_list": listed_as("fcbb:0:2:64::", "fcbb:0:9::"),
            "direction": "1", "packets": 10, "bytes": 840, "post_octets": "1720",
        },
        ("blue", "1"): {
            "event_type": "purge", "ip_src": "", "ip_dst": "fcbb:0:3:c8::", "ip_proto": "ipv6",
            "vrf": "blue", "active_segment": "fcbb:0:3:c8::", "segment": "fcbb:0:3:c8::",
            "locator_length": "0", "segment_list": "",
            "direction": "1", "packets": 11, "bytes": 924, "post_octets": "1364",
        },
        ("red", "0"): {
            "event_type": "purge", "ip_src": "2001:db8::2", "ip_dst": "", "ip_proto": "143",
            "vrf": "red", "active_segment": "::", "segment": "::",
            "locator_length": "0", "segment_list": "",
            "direction": "0", "packets": 4, "bytes": 560, "post_octets": "400",
        },
    }  # fmt: skip
    # Nothing is counted twice: further exports have templates alone.
    assert len(collector.flows()) == 3


def listed_as(*segments: str) -> str:
    """As nfacctd writes raw octets."""
    return "-".join(f"{octet:02X}" for one in segments for octet in IPv6Address(one).packed)


def test_without_a_collector_all_else_works(start: Start, place: Path) -> None:
    server = start(f'ipfix_collector = "127.0.0.1:{free_port()}"\nipfix_interval = 0.1\n')

    # The kernel reports the closed port with the next datagram.
    wait_until(lambda: "see whether it runs" in server.log.read_text(), "a warning")

    client = OverSocket(server.socket)
    assert get(client, {}, "/metrics?kind=node")[0] == 200
    client.close()
    assert server.log.read_text().count("see whether it runs") == 1
