"""The proxies in the maps, as they were last read and since written: writing one of a thousand
needs no look at the others."""

from __future__ import annotations

import errno
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network, IPv6Network

from srv6mgrd.netlink.errors import Failure
from srv6mgrd.proxy import layout
from srv6mgrd.proxy.layout import ProxyValue
from srv6mgrd.proxy.programs import Maps


class MapIndex:
    """Reads and writes the maps ``proxies`` and ``passes``, and ``nodes``, which describes them."""

    def __init__(self, maps: Maps) -> None:
        self._maps = maps
        self._values = dict(values(maps))
        self._lengths = Counter(layout.sid_of(key).prefixlen for key in self._values)
        self._kinds = Counter(value.kind for value in self._values.values())
        taken = {value.id for value in self._values.values()}
        self._free = [n for n in reversed(range(layout.MAX_PROXIES)) if n not in taken]
        self._passes: defaultdict[bytes, set[bytes]] = defaultdict(set)
        for key in maps.passes.keys(layout.PASS_SIZE):
            self._passes[layout.pass_of(key)[0]].add(key)

    def get(self, key: bytes) -> ProxyValue | None:
        return self._values.get(key)

    def all(self) -> list[tuple[bytes, ProxyValue]]:
        """Each with its key."""
        return list(self._values.items())

    def number(self) -> int | None:
        """One in the counters that no proxy has; None when all are taken."""
        return self._free[-1] if self._free else None

    def put(self, key: bytes, value: ProxyValue) -> Failure | None:
        if failure := self._maps.proxies.put(key, value.pack()):
            return failure
        if (old := self._values.get(key)) is None:
            self._free.remove(value.id)
            self._lengths[layout.sid_of(key).prefixlen] += 1
        else:
            self._kinds[old.kind] -= 1
        self._kinds[value.kind] += 1
        self._values[key] = value
        return None

    def take(self, key: bytes) -> None:
        self._maps.proxies.delete(key)
        if (value := self._values.pop(key, None)) is not None:
            self._free.append(value.id)
            self._lengths[layout.sid_of(key).prefixlen] -= 1
            self._kinds[value.kind] -= 1

    def set_passes(
        self, port: bytes, prefixes: Sequence[IPv4Network | IPv6Network]
    ) -> Failure | None:
        """Make these the prefixes that pass from this port."""
        known = self._passes.pop(port, set())
        wanted = {layout.pass_key(port, prefix) for prefix in prefixes}
        for key in known - wanted:
            self._maps.passes.delete(key)
        for key in wanted:
            if failure := self._maps.passes.put(key, bytes(4)):
                return failure
        if wanted:
            self._passes[port] = wanted
        return None

    def fit(self, sid_device: int) -> Failure | None:
        """Write to the maps which lengths and kinds of SIDs there are, and the SID device."""
        try:
            node = self._node(sid_device)
        except ValueError as error:
            return Failure(errno.E2BIG, str(error))
        nodes = self._maps.nodes
        return None if nodes.get(layout.FIRST) == node else nodes.put(layout.FIRST, node)

    def fits(self, sid_device: int) -> bool:
        """Whether the programs know these."""
        return self._maps.nodes.get(layout.FIRST) == self._node(sid_device)

    def _node(self, sid_device: int) -> bytes:
        return layout.node(+self._lengths, sid_device, +self._kinds)


def values(maps: Maps) -> Iterator[tuple[bytes, ProxyValue]]:
    """All proxies by their key."""
    for key in list(maps.proxies.keys(layout.SID_SIZE)):
        if (value := maps.proxies.get(key)) is not None:
            yield key, ProxyValue.unpack(value)
