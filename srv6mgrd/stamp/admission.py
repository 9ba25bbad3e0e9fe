"""Who is answered by the reflector, and how often. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address

# Packets per second, and at once: of one sender, and of all.
PER_SENDER, IN_ALL = 1_000, 5_000
_SENDERS = 1_024
_NS = 1_000_000_000


class Bucket:
    """A token bucket with a second's worth of tokens."""

    def __init__(self, rate: int, now: int) -> None:
        self._rate = rate
        self._tokens, self._at = float(rate), now

    def take(self, now: int) -> bool:
        self._tokens = min(self._rate, self._tokens + (now - self._at) * self._rate / _NS)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class Admission:
    """Senders in declared prefixes are admitted, as often as the rates permit."""

    def __init__(self, allowed: Iterable[IPv4Network | IPv6Network], now: int) -> None:
        self._allowed = tuple(
            (one.version, int(one.network_address), int(one.netmask)) for one in allowed
        )
        self._all = Bucket(IN_ALL, now)
        # The least recently seen first.
        self._senders: OrderedDict[str, Bucket] = OrderedDict()

    def admits(self, sender: str, now: int) -> bool:
        bucket = self._senders.get(sender)
        if bucket is None:
            if not self._is_allowed(sender):
                return False
            bucket = self._senders[sender] = Bucket(PER_SENDER, now)
            if len(self._senders) > _SENDERS:
                self._senders.popitem(last=False)
        self._senders.move_to_end(sender)
        return bucket.take(now) and self._all.take(now)

    def _is_allowed(self, sender: str) -> bool:
        # A link-local address has its interface behind a percent sign.
        address = ip_address(sender.partition("%")[0])
        version, number = address.version, int(address)
        return any(v == version and number & mask == net for v, net, mask in self._allowed)
