"""From the kernel's counters, which start at 0 with every route, to ones that never go back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from srv6mgrd.model.status import SidCounters

# packets, bytes, errors as the kernel gives them
Raw = tuple[int, int, int]

_ZERO: Raw = (0, 0, 0)


class Accumulator:
    """Total of a SID = its base + what its present route counted.

    When the route is replaced the total so far becomes the new base. A raw value below the one
    before says that it was, too. Totals and bases are all that has to be kept across a restart.
    """

    def __init__(
        self,
        totals: Mapping[str, SidCounters] | None = None,
        bases: Mapping[str, Raw] | None = None,
    ) -> None:
        self.totals: dict[str, SidCounters] = dict(totals or {})
        # Of those whose route was replaced: of the others nothing is added.
        self.bases: dict[str, Raw] = {sid: b for sid, b in (bases or {}).items() if b != _ZERO}
        self._moved: dict[str, Raw] = {}
        # SIDs whose totals the last sample changed.
        self.changed: list[str] = []

    def add(self, sample: Mapping[str, Raw], now: int) -> dict[str, Raw]:
        """Take in a sample; return the bases that moved since the one before. ``now`` in ns.

        SIDs that the sample lacks keep their totals.
        """
        moved, self._moved = self._moved, {}
        self.changed = []
        # Most of many new ones have counted nothing: one object serves them all.
        alike: dict[Raw, SidCounters] = {}
        for sid, raw in sample.items():
            total = self.totals.get(sid)
            if total is None:
                if raw not in alike:
                    alike[raw] = SidCounters(*raw, discontinuity=now)
                self.totals[sid] = alike[raw]
                self.changed.append(sid)
                moved[sid] = _ZERO
                continue
            base = self.bases.get(sid, _ZERO)
            packets, octets, errors = raw[0] + base[0], raw[1] + base[1], raw[2] + base[2]
            if packets < total.packets or octets < total.octets or errors < total.errors:
                base = (total.packets, total.octets, total.errors)
                moved[sid] = self.bases[sid] = base
                packets, octets, errors = raw[0] + base[0], raw[1] + base[1], raw[2] + base[2]
            elif packets == total.packets and octets == total.octets and errors == total.errors:
                continue
            self.totals[sid] = SidCounters(packets, octets, errors, total.discontinuity)
            self.changed.append(sid)
        return moved

    def replaced(self, sids: Iterable[str]) -> None:
        """The routes of these SIDs count from 0 again.

        Only this shows when a new route counts more than the old one before it is sampled.
        """
        for sid in sids:
            if (total := self.totals.get(sid)) is not None:
                self._moved[sid] = self.bases[sid] = (total.packets, total.octets, total.errors)

    def keep(self, sids: Iterable[str]) -> None:
        """Forget the SIDs that are no longer declared."""
        kept = set(sids)
        for gone in [sid for sid in self.totals if sid not in kept]:
            del self.totals[gone]
            self.bases.pop(gone, None)
