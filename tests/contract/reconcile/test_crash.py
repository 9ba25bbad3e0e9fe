"""SIGKILL after any write of a commit, on the real kernel, with the journal on disk: the next
process ends at the old state or at the new one, whichever is declared then, and writes nothing
more. What belongs to others is as it was."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from srv6mgrd.apply.admission import Admission
from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds import batch
from srv6mgrd.kinds.batch import Batch
from srv6mgrd.model.desired import Desired
from tests.contract.kernel.conftest import Run
from tests.contract.reconcile.router import picture
from tests.fakes.frr import FakeFrr
from tests.transitions import TRANSITIONS, Transition

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("vrf", "own_pins")]

# Between them they create, change and remove every kind of object, and move VRFs and ports.
NAMES = (
    "all from nothing",
    "all from nothing, and back",
    "VRF to another table",
    "VRFs swap tables",
    "VRF takes the table of one that goes",
    "ports swap VRFs",
    "VRF without a source",
    "interface of a next hop leaves its VRF",
    "behaviors change in place",
    "steering",
    "service proxies from nothing",
    "service proxies change",
    "interfaces from nothing",
    "interfaces change",
)
# Of a transition; all of them with HYPOTHESIS_PROFILE=thorough. The property tests die at all.
POINTS = 10
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
FOREIGN = """
for i in 1 2 9; do ip link add eth$i type dummy; ip link set eth$i up; done
ip link add theirs type vrf table 77; ip link set theirs up; ip link set eth9 master theirs
ip -6 rule add pref 2500 to fcbb:0:1::/48 lookup 254
ip -6 rule add pref 2000 to fc00:9:9::/48 lookup 8986
ip -6 route add fcbb:0:9:1::/64 dev eth9 table 8986
ip -6 route add blackhole fcbb:0:1:3::/64 table 8986 metric 2048
ip route add blackhole 198.51.100.0/24 metric 7; ip route add blackhole 192.0.2.0/24 table 100
"""


class Process:
    """srv6mgrd as far as it commits, on the kernel of this namespace."""

    def __init__(self, path: Path) -> None:
        self.kernel = LinuxKernel()
        self.journal = Journal(path)
        self.reconciler = Reconciler(self.kernel, FakeFrr(), self.journal, lambda _: [])

    def ends_at(self, state: Desired) -> None:
        """Start with this declared; start once more, which is no write."""
        self.reconciler.repair(state)
        writes = self.kernel.writes
        report = self.reconciler.repair(state)
        assert report.actions == []
        assert self.kernel.writes == writes

    def close(self) -> None:
        self.journal.close()
        self.kernel.close()


def dies(path: Path, old: Desired, new: Desired, number: int, *, before: bool) -> bool:
    """Commit in a process that is killed ``before`` or after its write of this number; whether
    it came to that."""
    child = os.fork()
    if child == 0:
        try:
            _mortal(number, before=before)
            process = Process(path)
            process.reconciler._current = Admission(lambda _: []).take(old)
            process.reconciler.commit(new)
            os._exit(0)
        finally:
            # An exception must not reach the test in the child.
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.waitstatus_to_exitcode(status) == 0
    return False


def _mortal(number: int, *, before: bool) -> None:
    """What is one send stays one: the kernel carries it out within one system call."""
    count = itertools.count(1)

    def killing(write: Callable[..., object]) -> Callable[..., object]:
        def written(*arguments: object) -> object:
            mine = next(count) == number
            if mine and before:
                os.kill(os.getpid(), signal.SIGKILL)
            done = write(*arguments)
            if mine:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return written

    batch.BATCH = 1
    for name in ("send", "call"):
        setattr(Batch, name, killing(getattr(Batch, name)))


@pytest.mark.parametrize("transition", [t for t in TRANSITIONS if t.name in NAMES], ids=str)
def test_killed_at_any_write(transition: Transition, run: Run, tmp_path: Path) -> None:
    path, old, new = tmp_path / "journal.sqlite", transition.old, transition.new
    run(FOREIGN)
    process = Process(path)
    # Once there and back, since sysctls are not set back.
    process.reconciler.commit(old)
    start = process.kernel.writes
    process.reconciler.commit(new)
    writes = process.kernel.writes - start
    pictures = {id(new): picture(run)}
    process.reconciler.commit(old)
    pictures[id(old)] = picture(run)
    process.close()

    points = range(1, writes + 1, 1 if THOROUGH else -(-writes // POINTS))
    for point, number in enumerate(points):
        # Before a write is after what the journal was given since the one before it.
        declared, before = (new, old)[point % 2], point % 3 == 0
        if not dies(path, old, new, number, before=before):
            # Some writes are one send.
            assert number > 0.8 * writes
            break
        process = Process(path)
        process.ends_at(declared)
        assert picture(run) == pictures[id(declared)]
        process.reconciler.commit(old)
        process.close()
    assert not dies(path, old, new, writes + 1, before=True)
    assert picture(run) == pictures[id(new)]
