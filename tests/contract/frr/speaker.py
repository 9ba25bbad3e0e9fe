"""A BGP speaker that says what no implementation would: VPN routes with an SRv6 SID as given.

``python -m tests.contract.frr.speaker SOURCE PEER`` on a node, in AS 65000. A line on its standard
input is one route, ``PREFIX LABEL TLV`` with the value of the SRv6 L3 Service TLV in hexadecimal
digits; on its standard output it reports ``established``, and ``closed`` with the reason.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from ipaddress import IPv4Network, IPv6Address
from selectors import EVENT_READ, DefaultSelector

AS, HOLD = 65000, 180
_OPEN, _UPDATE, _NOTIFICATION, _KEEPALIVE = 1, 2, 3, 4
# RFC 4760: AFI, SAFI; RFC 8950: IPv4 VPN routes with an IPv6 next hop.
_VPNV4 = struct.pack("!HBB", 1, 0, 128)
_OPTIONAL, _TRANSITIVE = 0x80, 0x40


def message(kind: int, body: bytes = b"") -> bytes:
    """RFC 4271 section 4.1."""
    return b"\xff" * 16 + struct.pack("!HB", 19 + len(body), kind) + body


def greeting(router_id: bytes) -> bytes:
    """OPEN with what VPNv4 over IPv6 needs."""
    capabilities = [
        (1, _VPNV4),
        (5, struct.pack("!HHH", 1, 128, 2)),
        (65, struct.pack("!I", AS)),
    ]
    packed = b"".join(struct.pack("!BB", code, len(v)) + v for code, v in capabilities)
    options = struct.pack("!BB", 2, len(packed)) + packed
    body = struct.pack("!BHH4sB", 4, AS, HOLD, router_id, len(options)) + options
    return message(_OPEN, body)


def attribute(flags: int, code: int, value: bytes) -> bytes:
    # Extended length, whatever the length is.
    return struct.pack("!BBH", flags | 0x10, code, len(value)) + value


def announcement(prefix: IPv4Network, next_hop: IPv6Address, label: int, service: bytes) -> bytes:
    """A VPNv4 route with route distinguisher and target 65000:10, as iBGP has it."""
    octets = prefix.network_address.packed[: (prefix.prefixlen + 7) // 8]
    rd = struct.pack("!HHI", 0, AS, 210)
    nlri = bytes([24 + 64 + prefix.prefixlen]) + (label << 4 | 1).to_bytes(3) + rd + octets
    hop = bytes(8) + next_hop.packed
    reach = struct.pack("!HBB", 1, 128, len(hop)) + hop + b"\0" + nlri
    attributes = [
        attribute(_OPTIONAL, 14, reach),
        attribute(_TRANSITIVE, 1, b"\0"),
        attribute(_TRANSITIVE, 2, b""),
        attribute(_TRANSITIVE, 5, struct.pack("!I", 100)),
        attribute(_OPTIONAL | _TRANSITIVE, 16, struct.pack("!BBHI", 0, 2, AS, 10)),
        attribute(_OPTIONAL | _TRANSITIVE, 40, struct.pack("!BH", 5, len(service)) + service),
    ]
    packed = b"".join(attributes)
    return message(_UPDATE, struct.pack("!HH", 0, len(packed)) + packed)


class Speaker:
    """One session."""

    def __init__(self, source: str, peer: str) -> None:
        self._source = IPv6Address(source)
        self._socket = socket.create_connection((peer, 179), 10, (source, 0))
        self._received, self._begun = bytearray(), b""
        self._socket.sendall(greeting(bytes([192, 0, 2, 2])))

    def run(self) -> str:
        """Until the peer closes; the reason."""
        selector = DefaultSelector()
        selector.register(self._socket, EVENT_READ, self._hear)
        selector.register(0, EVENT_READ, self._reported)
        while True:
            for key, _ in selector.select():
                if (reason := key.data()) is not None:
                    return f"closed {reason}"

    def _reported(self) -> str | None:
        # Not through sys.stdin, which would hold lines back that the selector knows nothing of.
        data = os.read(0, 65536)
        if not data:
            return "by the test"
        *lines, self._begun = (self._begun + data).split(b"\n")
        for prefix, label, service in (line.decode().split() for line in lines):
            network, value = IPv4Network(prefix), bytes.fromhex(service)
            self._socket.sendall(announcement(network, self._source, int(label), value))
        return None

    def _hear(self) -> str | None:
        data = self._socket.recv(65536)
        if not data:
            return "without a word"
        self._received += data
        while len(self._received) >= 19:
            length, kind = struct.unpack_from("!HB", self._received, 16)
            if len(self._received) < length:
                break
            body = bytes(self._received[19:length])
            del self._received[:length]
            if kind == _OPEN:
                self._socket.sendall(message(_KEEPALIVE))
            elif kind == _KEEPALIVE:
                print("established", flush=True)
            elif kind == _NOTIFICATION:
                return f"by notification {body[0]}/{body[1]}"
        return None


if __name__ == "__main__":
    print(Speaker(*sys.argv[1:]).run(), flush=True)
