"""What the programs and srv6mgrd have to agree on."""

from __future__ import annotations

import re
from pathlib import Path

from srv6mgrd.drops import layout
from srv6mgrd.drops.node import discards_of
from srv6mgrd.model.drops import DropReason

_MAPS = Path(layout.__file__).parent / "bpf/maps.h"


def test_reasons_have_the_numbers_of_the_programs() -> None:
    (body,) = re.findall(r"enum reason \{(.*?)\};", _MAPS.read_text(), re.DOTALL)
    names = re.findall(r"^    ([A-Z_]+),$", re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL), re.M)
    assert names == ["PASSED", *(reason.name for reason in DropReason)]
    assert f"HMAC_UNKNOWN = {layout.HMAC_UNKNOWN}," in body
    assert f"REASONS = {layout.REASONS}\n" in body
    assert max(layout.REASON) < layout.HMAC_UNKNOWN


def test_counters_of_the_node_that_say_that_a_packet_came_to_nothing() -> None:
    snmp6 = "Ip6InReceives 900\nIp6InNoRoutes 3\nIp6InHdrErrors 2\nIcmp6OutDestUnreachs 1\n"
    snmp = (
        "Ip: Forwarding DefaultTTL InReceives InHdrErrors\nIp: 1 64 800 5\n"
        "Icmp: InMsgs OutDestUnreachs\nIcmp: 7 4\nTcp: InSegs InErrs\nTcp: 10 9\n"
    )
    netstat = "TcpExt: SyncookiesSent\nTcpExt: 6\nIpExt: InNoRoutes InTruncatedPkts\nIpExt: 11 8\n"
    assert discards_of(snmp6, snmp, netstat) == (3 + 2 + 1) + (5 + 4) + 11
