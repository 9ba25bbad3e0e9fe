"""The programs of accounting, and their maps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from srv6mgrd.accounting import layout
from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.libbpf import Map
from srv6mgrd.ebpf.pinned import PinnedPrograms, folder_of_namespace
from srv6mgrd.kinds.accounting.object import (
    ACCOUNTING_FOLDER,
    ACCOUNTING_OBJECT,
    ACCOUNTING_PROGRAMS,
)

OBJECT = Path(ACCOUNTING_OBJECT)


@dataclass(frozen=True, slots=True)
class Maps:
    """The maps of bpf/maps.h."""

    nodes: Map
    vrfs: Map
    names: Map
    sources: Map
    sids: Map
    rows: Map
    others: Map
    folded: Map
    lists: Map


def _sizes() -> dict[str, int]:
    """What each map's value takes when it is read."""
    counts = layout.COUNT.size * libbpf.possible_cpus()
    return {
        "nodes": layout.NODE_SIZE,
        "vrfs": layout.NUMBER_SIZE,
        "names": layout.VRF_SIZE,
        "sources": layout.NUMBER_SIZE,
        "sids": layout.SID_SIZE,
        "rows": counts,
        "others": counts,
        "folded": layout.COUNT.size,
        "lists": layout.LIST_SIZE,
    }


class AccountingPrograms(PinnedPrograms):
    """``path`` is the object file, ``folder`` where all is pinned, if not where the present network
    namespace has it."""

    def __init__(self, path: Path = OBJECT, folder: Path | None = None) -> None:
        folder = folder or folder_of_namespace(ACCOUNTING_FOLDER)
        super().__init__(path, folder, ACCOUNTING_PROGRAMS, _sizes)

    def maps(self) -> Maps | None:
        """None when one of them is not pinned, or another version's."""
        found = self.opened()
        return None if found is None else Maps(**found)
