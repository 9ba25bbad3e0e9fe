"""Messages of IPFIX (RFC 7011): templates, records, and the messages that hold them. Pure.

Information elements are those of the IANA registry; 494 to 501 are RFC 9487's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

_HEADER = struct.Struct("!HHIII")
_SET = struct.Struct("!HH")
_VERSION = 10
_TEMPLATE_SET = 2
# RFC 7011 section 10.3.3: a message over UDP fits in one packet; of 1,280 octets, with headers.
MOST_BYTES = 1232
_VARIABLE = 0xFFFF
# RFC 7011 section 7: lengths below take one octet.
_SHORT = 255


class Element(IntEnum):
    """Information elements."""

    OCTET_DELTA_COUNT = 1
    PACKET_DELTA_COUNT = 2
    PROTOCOL_IDENTIFIER = 4
    POST_OCTET_DELTA_COUNT = 23
    SOURCE_IPV6_ADDRESS = 27
    DESTINATION_IPV6_ADDRESS = 28
    FLOW_DIRECTION = 61
    FLOW_START_MILLISECONDS = 152
    FLOW_END_MILLISECONDS = 153
    VRF_NAME = 236
    SRH_SEGMENT_IPV6 = 494
    SRH_ACTIVE_SEGMENT_IPV6 = 495
    SRH_SEGMENT_IPV6_LIST_SECTION = 497
    SRH_SEGMENT_IPV6_LOCATOR_LENGTH = 501


# Octets of each; others are of variable length.
_LENGTHS = {
    Element.OCTET_DELTA_COUNT: 8,
    Element.PACKET_DELTA_COUNT: 8,
    Element.PROTOCOL_IDENTIFIER: 1,
    Element.POST_OCTET_DELTA_COUNT: 8,
    Element.SOURCE_IPV6_ADDRESS: 16,
    Element.DESTINATION_IPV6_ADDRESS: 16,
    Element.FLOW_DIRECTION: 1,
    Element.FLOW_START_MILLISECONDS: 8,
    Element.FLOW_END_MILLISECONDS: 8,
    Element.SRH_SEGMENT_IPV6: 16,
    Element.SRH_ACTIVE_SEGMENT_IPV6: 16,
    Element.SRH_SEGMENT_IPV6_LOCATOR_LENGTH: 1,
}
Value = int | bytes


@dataclass(frozen=True, slots=True)
class Template:
    """``number`` is its id, from 256 on (RFC 7011 section 3.4.1)."""

    number: int
    elements: tuple[Element, ...]

    def encoded(self) -> bytes:
        """Its template record."""
        fields = [
            struct.pack("!HH", element, _LENGTHS.get(element, _VARIABLE))
            for element in self.elements
        ]
        return struct.pack("!HH", self.number, len(fields)) + b"".join(fields)

    def record(self, values: Sequence[Value]) -> bytes:
        """A data record of values in the order of the elements."""
        return b"".join(map(_field, self.elements, values))


def _field(element: Element, value: Value) -> bytes:
    length = _LENGTHS.get(element)
    if isinstance(value, int):
        return value.to_bytes(length or 8, "big")
    if length is not None:
        return value
    if len(value) < _SHORT:
        return bytes((len(value),)) + value
    return struct.pack("!BH", _SHORT, len(value)) + value


class Messages:
    """Makes the messages of one transport session, and counts what it sent."""

    def __init__(self, domain: int) -> None:
        """``domain``: the observation domain."""
        self._domain = domain
        # RFC 7011 section 3.1: data records that were sent before, modulo 2^32.
        self._sequence = 0

    def templates(self, templates: Iterable[Template], now: int) -> bytes:
        """A message that describes them; ``now`` in seconds."""
        content = b"".join(template.encoded() for template in templates)
        return self._message([_set(_TEMPLATE_SET, content)], 0, now)

    def data(self, records: Iterable[tuple[Template, bytes]], now: int) -> Iterator[bytes]:
        """Messages with all records, which are sorted by their templates."""
        sets: list[bytes] = []
        held: list[bytes] = []
        number = size = count = 0
        for template, record in records:
            more = len(record) + (_SET.size if template.number != number else 0)
            if count and _HEADER.size + size + more > MOST_BYTES:
                yield self._message([*sets, _set(number, b"".join(held))], count, now)
                sets, held, number, size, count = [], [], 0, 0, 0
                more = len(record) + _SET.size
            if template.number != number:
                if held:
                    sets.append(_set(number, b"".join(held)))
                number, held = template.number, []
            held.append(record)
            size += more
            count += 1
        if count:
            yield self._message([*sets, _set(number, b"".join(held))], count, now)

    def _message(self, sets: Sequence[bytes], records: int, now: int) -> bytes:
        content = b"".join(sets)
        length = _HEADER.size + len(content)
        header = _HEADER.pack(_VERSION, length, now, self._sequence, self._domain)
        self._sequence = (self._sequence + records) % (1 << 32)
        return header + content


def _set(number: int, content: bytes) -> bytes:
    return _SET.pack(number, _SET.size + len(content)) + content
