"""The programs of the proxies, and their maps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.libbpf import Map
from srv6mgrd.ebpf.pinned import PinnedPrograms, folder_of_namespace
from srv6mgrd.kinds.proxy.object import PROXY_FOLDER, PROXY_OBJECT, PROXY_PROGRAMS
from srv6mgrd.proxy import health_checks, layout

OBJECT = Path(PROXY_OBJECT)


@dataclass(frozen=True, slots=True)
class Maps:
    """The maps of bpf/maps.h."""

    nodes: Map
    proxies: Map
    chains: Map
    passes: Map
    counters: Map
    flows: Map
    flow_chains: Map
    health_checks: Map


def _sizes() -> dict[str, int]:
    """What each map's value takes when it is read."""
    return {
        "nodes": layout.NODE_SIZE,
        "proxies": layout.PROXY_SIZE,
        "chains": layout.CHAIN_SIZE,
        "passes": 4,
        "counters": layout.COUNTERS.size * libbpf.possible_cpus(),
        "flows": layout.FOLLOWED_SIZE,
        "flow_chains": layout.FLOW_CHAIN_SIZE,
        "health_checks": health_checks.VALUE_SIZE,
    }


class Programs(PinnedPrograms):
    """``path`` is the object file, ``folder`` where all is pinned, if not where the present network
    namespace has it."""

    def __init__(self, path: Path = OBJECT, folder: Path | None = None) -> None:
        folder = folder or folder_of_namespace(PROXY_FOLDER)
        super().__init__(path, folder, PROXY_PROGRAMS, _sizes)

    def maps(self) -> Maps | None:
        """None when one of them is not pinned, or another version's."""
        found = self.opened()
        return None if found is None else Maps(**found)
