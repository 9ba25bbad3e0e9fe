"""The DSCP modes of SIDs that decapsulate, as CONFIG_DB has them. Pure.

Srv6Orch finds the row of a SID by the text of its prefix, and where several locators have that, by
the lengths of the locator (sonic-swss orchagent/srv6orch.cpp, getMySidEntryDscpMode).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from orchagent import sai

Fields = Mapping[str, str]
_MODES = frozenset({"uniform", "pipe"})
_LENGTHS = (("block_len", "32"), ("node_len", "16"), ("func_len", "16"), ("arg_len", "0"))


@dataclass(frozen=True, slots=True)
class DecapModes:
    """By prefix: the modes that rows give it, each with the lengths of their locator. None where a
    row gives none."""

    _by_prefix: Mapping[str, Mapping[tuple[str, ...], str | None]] = field(default_factory=dict)

    def of(self, key: str) -> str | None:
        """The mode for this key of SRV6_MY_SID_TABLE."""
        found = self._by_prefix.get(sai.counter_name(key), {})
        if len(found) == 1:
            return next(iter(found.values()))
        return found.get(sai.lengths(key)[:4])


def modes(sids: Iterable[tuple[str, Fields]], locators: Mapping[str, Fields]) -> DecapModes:
    """From the rows of SRV6_MY_SIDS (key: locator and prefix) and SRV6_MY_LOCATORS."""
    by_prefix: dict[str, dict[tuple[str, ...], str | None]] = {}
    for key, fields in sids:
        locator, _, prefix = key.partition("|")
        mode = fields.get("decap_dscp_mode")
        if mode is not None and mode not in _MODES:
            continue
        named = locators.get(locator, {})
        lengths = tuple(named.get(name, default) for name, default in _LENGTHS)
        by_prefix.setdefault(_text(prefix), {})[lengths] = mode
    some = {p: m for p, m in by_prefix.items() if any(mode is not None for mode in m.values())}
    return DecapModes(some)


def _text(prefix: str) -> str:
    """A prefix as ``sai.counter_name`` writes it. Srv6Orch compares texts, and misses the
    upper-case keys of SONiC's own examples."""
    address, _, length = prefix.partition("/")
    try:
        return sai.counter_name(f"{length}:0:0:0:{address}")
    except sai.SaiError:
        return prefix
