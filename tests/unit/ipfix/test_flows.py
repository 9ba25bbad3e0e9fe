"""Flow records of accounting, and the messages that hold them."""

from __future__ import annotations

import copy
import struct
from typing import Any

from srv6mgrd.ipfix import flows
from srv6mgrd.ipfix.flows import Reading, reading, records
from srv6mgrd.ipfix.messages import MOST_BYTES, Messages, Template
from tests.unit.metrics.router import ACCOUNTING

AT = 1_790_000_000_000_000_000
NONE = reading({}, AT - 60_000_000_000)


def rows(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = content["srv6mgr-accounting:accounting"]["statistics"]
    return found


def counted(before: Reading, now: Reading) -> list[tuple[int, tuple[int, ...]]]:
    """Template, and packets with octets before and after, of each record."""
    return [
        (template.number, struct.unpack("!3Q", record[-24:]))
        for template, record in records(before, now)
    ]


def test_counts_are_those_since_the_last_reading():
    before = reading(ACCOUNTING, AT)
    content = copy.deepcopy(ACCOUNTING)
    rows(content)["received"][0] |= {
        "packets": "10",
        "inner-octets": "1000",
        "outer-octets": "1400",
    }

    assert counted(before, reading(content, AT + 1)) == [(258, (6, 840, 600))]


def test_a_new_row_counts_from_0():
    found = counted(NONE, reading(ACCOUNTING, AT))

    assert found == [
        (257, (25, 2100, (1 << 64) - 1)),
        (258, (4, 560, 400)),
        (259, (1, 84, 148)),
    ]


def test_a_row_that_began_again_counts_from_0():
    lower = copy.deepcopy(ACCOUNTING)
    rows(lower)["received"][0] |= {"packets": "3", "inner-octets": "30", "outer-octets": "42"}

    assert counted(reading(ACCOUNTING, AT), reading(lower, AT)) == [(258, (3, 42, 30))]
    lower_octets = copy.deepcopy(ACCOUNTING)
    rows(lower_octets)["received"][0] |= {"packets": "5", "outer-octets": "42"}
    assert counted(reading(ACCOUNTING, AT), reading(lower_octets, AT)) == [(258, (5, 42, 400))]
    # After a reboot all began at 0, even what has counted more since.
    rebooted = copy.deepcopy(ACCOUNTING)
    rows(rebooted)["discontinuity-time"] = "2026-11-25T00:00:00+00:00"
    assert len(counted(reading(ACCOUNTING, AT), reading(rebooted, AT))) == 3


def test_a_message_fits_in_a_packet_and_counts_its_records():
    messages = Messages(7)
    template = Template(256, flows.OTHER.elements)
    record = template.record((1, 2, 1, 4, 3, 4, 5))

    made = list(messages.data(((template, record) for _ in range(100)), 9))

    assert max(map(len, made)) <= MOST_BYTES
    sequence = 0
    for message in made:
        version, length, time, number, domain = struct.unpack_from("!HHIII", message)
        assert (version, length, time, number, domain) == (10, len(message), 9, sequence, 7)
        sequence += (length - 20) // len(record)
    assert sequence == 100


def test_long_lists_have_a_long_length():
    values = bytes(16), bytes(16), bytes(16), 0, bytes(16 * 16)

    record = flows.SENT_WITH_LIST.record((0, 0, b"red", 1, 4, *values, 1, 1, 1))

    assert b"\xff\x01\x00" in record
