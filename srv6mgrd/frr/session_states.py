"""State of BGP sessions in the words of the model, from two questions for all of them.

bgpd prints a neighbor in a line or in six kilobytes (``show bgp neighbors``). The line lacks why a
session ended, which ``show bgp summary failed`` has of those that are down. A session that came up
again in between is asked for alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from srv6mgrd.frr.bfd_peers import BfdStates, bfd_states
from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.json_shows import show_json
from srv6mgrd.frr.neighbors import peer
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.bgp import Neighbor, PeerKind
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.times import time_text

_LOG = logging.getLogger(__name__)

SUMMARY = "show bgp vrf all summary json"
FAILED = "show bgp vrf all summary failed json"
_DEFAULT = "default"
_UP = "established"
_NS = 1_000_000_000

# bgp_status_msg of bgpd; a session that is being ended is idle for anybody else.
_STATES = {
    "Idle": "idle",
    "Connect": "connect",
    "Active": "active",
    "OpenSent": "open-sent",
    "OpenConfirm": "open-confirm",
    "Established": _UP,
    "Clearing": "idle",
    "Deleted": "idle",
}
_FAMILIES = {
    "ipv4Unicast": "ipv4-unicast",
    "ipv6Unicast": "ipv6-unicast",
    "ipv4Vpn": "ipv4-vpn",
    "ipv6Vpn": "ipv6-vpn",
}
# What bgpd says of a session that it tries again: not why it ended.
_TRIED_AGAIN = ("Waiting for", "No AFI/SAFI")
# bgpd computes the time of a change from two clocks in whole seconds.
_SAME_CHANGE = 2
# So many sessions are asked for alone in one round.
_ALONE = 20

Entry = dict[str, Any]


@dataclass(slots=True)
class _Session:
    """What is remembered of a session from round to round."""

    established: int = 0
    dropped: int = 0
    changed: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Round:
    """What the daemons say now: entries of peers by instance, peer and family."""

    peers: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]]
    failed: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]] = field(
        default_factory=dict
    )
    bfd: BfdStates = field(default_factory=dict)


class SessionStates:
    """States of all declared neighbors. Used in one thread."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Session] = {}

    def lists(self, desired: Desired, frr: Shows) -> dict[str, Entry]:
        """The lists of neighbors with their state by VRF, ``default`` for the router's own: members
        of the container ``bgp``. Empty when bgpd can't be asked."""
        instances = dict(_instances(desired))
        if not any(instances.values()):
            self._known.clear()
            return {}
        try:
            now = self._ask(instances, frr)
        except VtyError as error:
            _LOG.debug("state of BGP sessions: %s", error)
            return {}
        self._forget(now)
        self._learn(now, frr)
        return {
            vrf: lists
            for vrf, neighbors in instances.items()
            if (lists := self._lists(vrf, neighbors, now))
        }

    def _ask(self, instances: Mapping[str, Sequence[Neighbor]], frr: Shows) -> _Round:
        peers = _by_peer(show_json(frr, BGPD, SUMMARY))
        failed = {}
        if any(_state(e) != _UP for found in peers.values() for e in found.values()):
            failed = _by_peer(failed_summaries(frr))
        bfd: BfdStates = {}
        if any(n.bfd for neighbors in instances.values() for n in neighbors):
            try:
                bfd = bfd_states(frr)
            except VtyError as error:
                _LOG.debug("state of BFD sessions: %s", error)
        return _Round(peers, failed, bfd)

    def _forget(self, now: _Round) -> None:
        there = {(vrf, name) for vrf, found in now.peers.items() for name in found}
        self._known = {key: known for key, known in self._known.items() if key in there}

    def _learn(self, now: _Round, frr: Shows) -> None:
        """Bring what is remembered up to what bgpd says."""
        alone = 0
        for vrf, found in now.peers.items():
            for name, families in found.items():
                entry = next(iter(families.values()))
                known = self._known.setdefault((vrf, name), _Session())
                dropped, established = _count(entry, "Dropped"), _count(entry, "Established")
                anew = (dropped, established) != (known.dropped, known.established)
                _time(known, entry, anew=anew)
                failed = next(iter(now.failed.get(vrf, {}).get(name, {}).values()), None)
                if failed is not None:
                    _explain(known, failed, anew=dropped != known.dropped)
                elif dropped and dropped != known.dropped:
                    if alone == _ALONE:
                        continue  # in the next round
                    alone += 1
                    _explain(known, _alone(vrf, name, frr), anew=True)
                elif not dropped:
                    known.reason = ""
                known.dropped, known.established = dropped, established

    def _lists(self, vrf: str, neighbors: Sequence[Neighbor], now: _Round) -> Entry:
        found: Entry = {}
        peers = now.peers.get(vrf, {})
        for neighbor in neighbors:
            if neighbor.kind is PeerKind.DYNAMIC:
                entries = list(self._dynamic(vrf, neighbor, neighbors, now))
                state: Entry = {"dynamic-neighbor": entries} if entries else {}
            elif (name := peer(neighbor)) in peers:
                state = {"state": self._state(vrf, name, now)}
            else:
                state = {}
            if state:
                listed = found.setdefault(neighbor.kind.value, [])
                listed.append({neighbor.kind.key: neighbor.address, **state})
        return found

    def _dynamic(
        self, vrf: str, group: Neighbor, neighbors: Sequence[Neighbor], now: _Round
    ) -> Iterator[Entry]:
        """Those who have connected from the prefixes of a peer group."""
        for name, families in sorted(now.peers.get(vrf, {}).items()):
            entry = next(iter(families.values()))
            if entry.get("dynamicPeer") and _group_of(name, neighbors) == group.address:
                yield {
                    "address": str(ip_address(name)),
                    "remote-as": int(entry.get("remoteAs", 0)),
                    "state": self._state(vrf, name, now),
                }

    def _state(self, vrf: str, name: str, now: _Round) -> Entry:
        families, known = now.peers[vrf][name], self._known.get((vrf, name), _Session())
        state: Entry = {"session-state": _state(families)}
        state["established-transitions"] = _count(next(iter(families.values())), "Established")
        if known.changed:
            state["last-change"] = time_text(known.changed * _NS)
        if known.reason:
            state["last-reset-reason"] = known.reason
        if (bfd := now.bfd.get((vrf, name))) is not None:
            state["bfd-state"] = bfd
        if state["session-state"] == _UP:
            state["afi-safi"] = [
                {
                    "name": _FAMILIES[family],
                    "prefixes": {
                        "accepted": int(entry.get("pfxRcd", 0)),
                        "advertised": int(entry.get("pfxSnt", 0)),
                    },
                }
                for family, entry in families.items()
            ]
        return state


def failed_summaries(frr: Shows) -> dict[str, Any]:
    """Why sessions are down; nothing where bgpd 10.3 gives no JSON, since one is shut down."""
    try:
        return show_json(frr, BGPD, FAILED)
    except VtyError as error:
        _LOG.debug("why BGP sessions ended: %s", error)
        return {}


def _instances(desired: Desired) -> Iterator[tuple[str, Sequence[Neighbor]]]:
    if desired.bgp is not None:
        yield _DEFAULT, desired.bgp.neighbors
    for vrf in desired.vrfs.values():
        if vrf.bgp is not None:
            yield vrf.name, vrf.bgp.neighbors


def _by_peer(
    summaries: Mapping[str, Any],
) -> dict[str, dict[str, dict[str, Mapping[str, Any]]]]:
    """Entries by instance, peer and family."""
    found: dict[str, dict[str, dict[str, Mapping[str, Any]]]] = {}
    for vrf, summary in summaries.items():
        peers = found.setdefault(vrf, {})
        for family in _FAMILIES:
            for name, entry in summary.get(family, {}).get("peers", {}).items():
                peers.setdefault(name, {})[family] = entry
    return found


def _state(families: Mapping[str, Mapping[str, Any]]) -> str:
    """Established in any family is; the others have the words of a session that is not."""
    # 'Idle (Admin)', 'Idle (PfxCt)'.
    said = {_STATES.get(str(e.get("state", "")).split(" ")[0], "idle") for e in families.values()}
    return _UP if _UP in said else min(said, default="idle")


def _count(entry: Mapping[str, Any], what: str) -> int:
    return int(entry.get(f"connections{what}", 0))


def _time(known: _Session, entry: Mapping[str, Any], *, anew: bool) -> None:
    changed = int(entry.get("peerUptimeEstablishedEpoch", 0))
    if anew or abs(changed - known.changed) > _SAME_CHANGE:
        known.changed = changed


def _explain(known: _Session, entry: Mapping[str, Any], *, anew: bool) -> None:
    said = str(entry.get("lastResetDueTo", ""))
    if known.reason and not anew and said.startswith(_TRIED_AGAIN):
        return
    notification = str(entry.get("lastNotificationReason", ""))
    known.reason = f"{said}: {notification}" if notification else said


def _alone(vrf: str, name: str, frr: Shows) -> Mapping[str, Any]:
    instance = "bgp" if vrf == _DEFAULT else f"bgp vrf {vrf}"
    try:
        shown = show_json(frr, BGPD, f"show {instance} neighbors {name} json")
    except VtyError as error:
        _LOG.debug("neighbor %s: %s", name, error)
        return {}
    found: Mapping[str, Any] = shown.get(name, {})
    return found


def _group_of(name: str, neighbors: Sequence[Neighbor]) -> str | None:
    """The peer group whose prefix is the longest one that holds the address."""
    try:
        address = ip_address(name)
    except ValueError:
        return None
    held = [
        (network.prefixlen, neighbor.address)
        for neighbor in neighbors
        for network in map(ip_network, neighbor.prefixes)
        if address in network
    ]
    return max(held)[1] if held else None
