"""The program of chains, and its maps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from srv6mgrd.chains import layout
from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.libbpf import Map
from srv6mgrd.ebpf.pinned import PinnedPrograms, folder_of_namespace
from srv6mgrd.kinds.chain.object import CHAIN_FOLDER, CHAIN_OBJECT, CHAIN_PROGRAMS

OBJECT = Path(CHAIN_OBJECT)


@dataclass(frozen=True, slots=True)
class Maps:
    """The maps of bpf/maps.h that are written or read."""

    nodes: Map
    interfaces: Map
    classifiers: Map
    tuples: Map
    entries: Map
    selectors: Map
    paths: Map
    usable: Map
    places: Map
    rule_counts: Map
    path_counts: Map
    drop_counts: Map
    names: Map
    rules: Map
    path_records: Map
    states: Map


def _sizes() -> dict[str, int]:
    """What each map's value takes when it is read."""
    cpus = libbpf.possible_cpus()
    return {
        "nodes": layout.NODE_SIZE,
        "interfaces": layout.NUMBER_SIZE,
        "classifiers": layout.CLASSIFIER_SIZE,
        "tuples": layout.TUPLE_SIZE,
        "entries": layout.ENTRY_SIZE,
        "selectors": layout.SELECTOR_SIZE,
        "paths": layout.PATH_SIZE,
        "usable": layout.USABLE_SIZE,
        "places": layout.NUMBER_SIZE,
        "rule_counts": layout.COUNT_SIZE * cpus,
        "path_counts": layout.COUNT_SIZE * cpus,
        "drop_counts": layout.DROPS_SIZE * cpus,
        "names": layout.NAME_SIZE,
        "rules": layout.RULE_SIZE,
        "path_records": layout.PATH_RECORD_SIZE,
        "states": layout.NUMBER_SIZE,
    }


class ChainPrograms(PinnedPrograms):
    """``path`` is the object file, ``folder`` where all is pinned, if not where the present network
    namespace has it."""

    def __init__(self, path: Path = OBJECT, folder: Path | None = None) -> None:
        folder = folder or folder_of_namespace(CHAIN_FOLDER)
        super().__init__(path, folder, CHAIN_PROGRAMS, _sizes)

    def maps(self) -> Maps | None:
        """None when one of them is not pinned, or another version's."""
        found = self.opened()
        return None if found is None else Maps(**found)
