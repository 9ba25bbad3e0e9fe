"""Goodput of TCP by number of segments and encapsulation: its share of the octets on a link with an
MTU of 1500, beside what ``bench.header_overhead`` computes (appendix D of the paper on SRNK).

    client, headend ---- router: all segments ---- server

All segments are SIDs of one router, which the last one leaves. NSH is not in the kernel.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator, Sequence

from bench import header_overhead, namespaces
from bench.report import Goal

# TCP sends again what a disturbed machine loses: the best counts.
OCTETS, TIMES = 4_000_000, 3
# The kernel passes at most so many SIDs of one router (XMIT_RECURSION_LIMIT).
SEGMENTS = (1, 2, 3, 4, 6)
# Of the computed share: what TCP itself sends besides, as when a connection begins.
GOAL = 0.995
_SERVER = "2001:db8:3::2"
# IPv6 and TCP with timestamps; Ethernet, which the interface counts.
_TCP, _ETHERNET = 40 + 20 + 12, 14
# Of the router, by number: End, and what is at the end of the list. uSIDs are of the block fcbb::.
_END, _DECAPSULATES, _POPS = "fcbb:0:1:{:x}::", "fcbb:0:1:d::", "fcbb:0:1:e::"
_MICRO, _MICRO_LAST = "fccc:{:x}::", "fccc:d::"


class Nodes:
    """Three network namespaces in a row."""

    def __init__(self) -> None:
        self._names = {node: f"goodput-{node}-{os.getpid()}" for node in ("a", "b", "c")}
        for name in self._names.values():
            namespaces.create(name)
        self._link("a", "b", 1)
        self._link("b", "c", 3)
        self.on("a", "ip -6 route add fcbb::/16 via 2001:db8:1::2")
        self.on("a", "ip -6 route add fccc::/16 via 2001:db8:1::2")
        self.on("c", "ip -6 route add default via 2001:db8:3::1")
        for sid in range(0x11, 0x20):
            self._sid(_END.format(sid), "End")
            micro = f"{_MICRO.format(sid)}/32"
            self._sid(micro, "End flavors next-csid lblen 16 nflen 16")
        for sid in (_DECAPSULATES, _MICRO_LAST):
            self._sid(f"{sid}/64" if sid == _DECAPSULATES else f"{sid}/32", "End.DT6 table 254")
        self._sid(_POPS, "End flavors psp")

    def _sid(self, prefix: str, behavior: str) -> None:
        self.on("b", f"ip -6 route add {prefix} encap seg6local action {behavior} dev b-a")

    def _link(self, near: str, far: str, number: int) -> None:
        names = f"{near}-{far}", f"{far}-{near}"
        # A packet on the wire for each that is counted.
        ends = [f"{name} netns {self._names[node]} gso_max_segs 1"
                for name, node in zip(names, (near, far), strict=True)]  # fmt: skip
        namespaces.run(f"ip link add {ends[0]} type veth peer name {ends[1]}")
        for place, node, name in ((1, near, names[0]), (2, far, names[1])):
            self.on(node, f"ip addr add 2001:db8:{number}::{place}/64 dev {name} nodad")
            self.on(node, f"ip link set {name} up")

    def steer(self, mode: str, segments: Sequence[str]) -> None:
        self.on("a", f"ip -6 route replace {_SERVER}/128 encap seg6 mode {mode}"
                     f" segs {','.join(segments)} via 2001:db8:1::2")  # fmt: skip
        self.on("b", "ip -6 route replace 2001:db8:1::/64 dev b-a")

    def share(self) -> float:
        """Of the octets on the link, in percent."""
        with namespaces.entered(self._names["c"]):
            server = socket.create_server((_SERVER, 5001), family=socket.AF_INET6)
        server.settimeout(30)
        taken = threading.Thread(target=_take, args=(server,))
        taken.start()
        octets, packets = self._sent()
        with namespaces.entered(self._names["a"]):
            client = socket.create_connection((_SERVER, 5001), timeout=30)
        with client:
            client.sendall(bytes(OCTETS))
            client.shutdown(socket.SHUT_WR)
            client.recv(1)
        taken.join()
        after, more = self._sent()
        return 100 * OCTETS / (after - octets - _ETHERNET * (more - packets))

    def _sent(self) -> tuple[int, int]:
        counters = "/sys/class/net/a-b/statistics"
        octets, packets = self.on("a", f"cat {counters}/tx_bytes {counters}/tx_packets").split()
        return int(octets), int(packets)

    def on(self, node: str, command: str) -> str:
        return namespaces.on(self._names[node], command)

    def close(self) -> None:
        for name in self._names.values():
            namespaces.delete(name)


def _take(server: socket.socket) -> None:
    """All that comes over one connection; then one octet says so."""
    connection, _ = server.accept()
    with server, connection:
        while connection.recv(1 << 16):
            pass
        connection.sendall(b".")


def _segments(encapsulation: str, count: int) -> tuple[str, list[str]]:
    """Mode of iproute2, and segment list, the last segment included."""
    passed = range(0x11, 0x11 + count - 1)
    if encapsulation == "uSID":
        micro = [f"{sid:x}" for sid in (*passed, 0xD)]
        return "encap.red", ["fccc:" + ":".join(micro) + "::"]
    ends = [_END.format(sid) for sid in passed]
    if encapsulation == "insert":
        return "inline", [*ends, _POPS]
    return {"H.Encaps": "encap", "H.Encaps.Red": "encap.red"}[encapsulation], [*ends, _DECAPSULATES]


def goals() -> Iterator[Goal]:
    with contextlib.ExitStack() as stack:
        nodes = Nodes()
        stack.callback(nodes.close)
        for encapsulation in ("H.Encaps", "H.Encaps.Red", "insert", "uSID"):
            octets = header_overhead.ENCAPSULATIONS[encapsulation]
            for count in SEGMENTS:
                nodes.steer(*_segments(encapsulation, count))
                yield Goal(
                    f"SRNK: goodput, {encapsulation}, {count} segments",
                    [nodes.share() for _ in range(TIMES)],
                    [header_overhead.share(octets(count) + _TCP)],
                    GOAL, "%", more=True,
                )  # fmt: skip
