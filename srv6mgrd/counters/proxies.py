"""State of the proxies, from srv6mgrd to its readers: a small JSON file beside the store, since
chains have no fixed size (docs/adr/0008). ``counters.node.NodeReader`` reads it.

Members are the prefixes of SIDs, each with the container ``proxy/state`` as RFC 7951 writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

from srv6mgrd.counters.node import MAKE_ROOM, publish
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.model.times import time_text
from srv6mgrd.storage import Problems


def beside(store: Path) -> Path:
    """The path of the file, given the store."""
    return store.with_name("proxies.json")


def proxy_state(p: ProxyState) -> dict[str, Any]:
    """The container ``proxy/state``."""
    c = p.counts
    # RFC 7951 section 6.1: 64-bit numbers are strings.
    state: dict[str, Any] = {
        "to-function": {"pkts": str(c.to_packets), "octets": str(c.to_octets)},
        "from-function": {"pkts": str(c.from_packets), "octets": str(c.from_octets)},
        "errors": {
            "no-srh": str(c.no_srh),
            "no-segments-left": str(c.no_segments_left),
            "hop-limit": str(c.hop_limit),
            "header-too-long": str(c.header_too_long),
            "nothing-learned": str(c.nothing_learned),
            "not-for-proxy": str(c.not_for_proxy),
            "too-big": str(c.too_big),
            "extension-header-chain-too-long": str(c.extension_header_chain_too_long),
            "fragment": str(c.fragment),
        },
    }
    if c.bypassed:
        state["bypassed-pkts"] = str(c.bypassed)
    if p.mtu:
        state["mtu"] = p.mtu
    if p.source is not None:
        state["chain"] = {
            "source-address": str(p.source),
            "segment": _segments(p.segments),
        }
        if p.learned:
            state["chain"]["last-learned"] = time_text(p.learned)
    if p.flow_chains:
        state["flow-chain"] = [
            {
                "id": f"{chain.digest:016x}",
                "source-address": str(chain.source),
                "segment": _segments(chain.segments),
                "last-learned": time_text(chain.learned),
            }
            for chain in p.flow_chains
        ]
    return state


def _segments(segments: tuple[IPv6Address, ...]) -> list[dict[str, Any]]:
    return [{"index": n, "sid": str(sid)} for n, sid in enumerate(segments)]


class ProxiesWriter:
    """Writes the file, whole and at once, when something changed. Without proxies there is none."""

    def __init__(self, path: Path, problems: Problems | None = None) -> None:
        self._path = path
        self._problems = problems or Problems()
        self._written: Mapping[IPv6Network, ProxyState] | None = None

    def write(self, proxies: Mapping[IPv6Network, ProxyState]) -> None:
        if proxies == self._written:
            return
        self._written = None
        with self._problems.writing(self._path, MAKE_ROOM):
            if proxies:
                publish(self._path, {str(prefix): proxy_state(p) for prefix, p in proxies.items()})
            else:
                self._path.unlink(missing_ok=True)
            self._written = dict(proxies)
