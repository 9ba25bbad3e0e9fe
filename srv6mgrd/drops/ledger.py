"""What is known about drops: packets by SID and reason, and how sure the reason is. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from ipaddress import IPv6Network

from srv6mgrd.drops import layout
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.drops import Certainty, Drop, DropReason

# Packets that the behavior has passed on (ip6_pkt_discard returns 0), or has never got.
_NO_ERRORS = frozenset(
    {DropReason.NO_ROUTE, DropReason.POLICY, DropReason.NO_NEIGHBOR, DropReason.BOUNDARY}
)
# A neighbor that is asked for may answer; in so many samples in a row it did not.
_UNANSWERED = 3


class Ledger:
    """``now`` is the time in nanoseconds since the epoch."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._drops: dict[tuple[IPv6Network, DropReason], Drop] = {}
        self._streaks: dict[IPv6Network, int] = {}
        # Of watched SIDs, in this sample and what the last one had left over: drops that are errors
        # and that a check explains, and packets with an HMAC that no check can verify.
        self._explained: dict[IPv6Network, int] = {}
        self._hmacs: dict[IPv6Network, int] = {}
        # Errors of these may be of packets that no check has seen.
        self._unseen: set[IPv6Network] = set()

    @property
    def drops(self) -> Iterable[Drop]:
        return self._drops.values()

    def keep(self, desired: Desired) -> bool:
        """Forget SIDs that are no longer declared; whether there were any."""
        kept = {key: drop for key, drop in self._drops.items() if key[0] in desired.sids}
        has_forgotten, self._drops = len(kept) != len(self._drops), kept
        return has_forgotten

    def begin(self, prefix: IPv6Network) -> None:
        """It is watched from now on."""
        self._explained[prefix] = self._hmacs[prefix] = 0
        self._unseen.add(prefix)
        self._streaks.pop(prefix, None)

    def seen(
        self, desired: Desired, counts: Mapping[IPv6Network, Mapping[int, int]]
    ) -> set[IPv6Network]:
        """Packets of watched SIDs by number of the reason, since the last sample. SIDs of which
        some were dropped."""
        dropping = set()
        for prefix, by_number in counts.items():
            self._hmacs[prefix] += by_number.get(layout.HMAC_UNKNOWN, 0)
            for number, packets in by_number.items():
                reason = layout.REASON.get(number)
                if reason is not None:
                    certainty = self._certainty(prefix, reason)
                    self._explained[prefix] += 0 if reason in _NO_ERRORS else packets
                    self._add(prefix, desired, reason, packets, certainty)
                    dropping.add(prefix)
        silent = {prefix for prefix, found in counts.items() if _NO_NEIGHBOR in found}
        self._streaks = {p: streak for p, streak in self._streaks.items() if p in silent}
        return dropping

    def counted(
        self, desired: Desired, errors: Mapping[IPv6Network, int], *, all_seen: bool
    ) -> bool:
        """Errors since the last sample: those of watched SIDs that no check explains are of packets
        with a wrong HMAC, or of another reason. Not so while not ``all_seen`` by the checks."""
        changed = False
        for prefix in self._explained:
            if prefix in self._unseen or not all_seen:
                self._explained[prefix] = self._hmacs[prefix] = 0
            else:
                changed |= self._unexplained(prefix, desired, errors.get(prefix, 0))
        self._unseen = set() if all_seen else set(self._explained)
        return changed

    def end(self, prefixes: Collection[IPv6Network]) -> None:
        """These are no longer watched."""
        for prefix in prefixes:
            for counts in (self._explained, self._hmacs, self._streaks):
                counts.pop(prefix, None)
            self._unseen.discard(prefix)

    def _unexplained(self, prefix: IPv6Network, desired: Desired, errors: int) -> bool:
        explained, hmacs = self._explained[prefix], self._hmacs[prefix]
        left = errors - explained
        is_hmac = 0 < left <= hmacs
        # Errors are read before what the checks have seen: those of the last packets follow.
        self._explained[prefix] = max(-left, 0)
        self._hmacs[prefix] = max(hmacs - left, 0) if left > 0 else hmacs
        if left <= 0:
            return False
        # Packets with an HMAC were dropped, all of them, and no others.
        is_certain = left == hmacs and not explained
        self._add(
            prefix,
            desired,
            DropReason.HMAC if is_hmac else DropReason.OTHER,
            left,
            Certainty.CERTAIN if is_certain else Certainty.LIKELY,
        )
        return True

    def _certainty(self, prefix: IPv6Network, reason: DropReason) -> Certainty:
        if reason is not DropReason.NO_NEIGHBOR:
            return Certainty.CERTAIN
        streak = self._streaks[prefix] = self._streaks.get(prefix, 0) + 1
        return Certainty.CERTAIN if streak >= _UNANSWERED else Certainty.LIKELY

    def _add(
        self,
        prefix: IPv6Network,
        desired: Desired,
        reason: DropReason,
        packets: int,
        certainty: Certainty,
    ) -> None:
        sid = desired.sids.get(prefix)
        if sid is None:
            return
        key, now = (prefix, reason), self._now()
        if (known := self._drops.get(key)) is None:
            known = Drop(prefix, sid.vrf, reason, certainty, 0, now)
        self._drops[key] = replace(
            known, vrf=sid.vrf, certainty=certainty, packets=known.packets + packets, last=now
        )


_NO_NEIGHBOR = next(n for n, reason in layout.REASON.items() if reason is DropReason.NO_NEIGHBOR)
