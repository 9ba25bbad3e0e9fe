"""All faults by name."""

from __future__ import annotations

import random
from typing import Protocol

from tests.soak.chaos import faults_clients, faults_files, faults_network, faults_process
from tests.soak.chaos.faults_process import Nothing
from tests.soak.chaos.target import Target


class Fault(Protocol):
    """``spares``: the tenant that the step does not change loses no packet. ``rejects``: a commit
    may be rejected meanwhile, as a whole."""

    name: str
    spares: bool
    rejects: bool

    def strike(self, target: Target, rng: random.Random) -> None: ...

    def heal(self, target: Target) -> None:
        """End what does not end by itself; services that died are started by others."""


FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        Nothing(),
        *faults_process.FAULTS,
        *faults_network.FAULTS,
        *faults_files.FAULTS,
        *faults_clients.FAULTS,
    )
}
