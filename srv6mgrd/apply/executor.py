"""The one executor: carries out actions through the adapters, journal before and after."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import groupby

from srv6mgrd.apply.journal import Journal
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.device import Device
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.plan.actions import Action, Create, Delete, Replace
from srv6mgrd.plan.order import in_order
from srv6mgrd.ports import AdapterError, Frr, Kernel, RejectedAction
from srv6mgrd.progress import progress
from srv6mgrd.stages import Stage, stages
from srv6mgrd.storage import StorageError

_LOG = logging.getLogger(__name__)

# The key of a block of FRR.
_STATIC_ROUTE = re.compile(r"frr \S+ vrf (?P<vrf>\S+) / ip(?:v6)? route (?P<prefix>\S+)")
# Actions on the kernel in one go: a tenth of a second.
_ROUND = 5000


class Executor:
    """Applies plans. ``atomic`` ones leave no trace when an action is rejected."""

    def __init__(self, kernel: Kernel, frr: Frr, journal: Journal) -> None:
        self._kernel = kernel
        self._frr = frr
        self._journal = journal
        self._known: Mapping[str, tuple[str, ...]] = {}
        self._carried_out: list[Action] = []
        self._values: Sequence[Replace] = ()

    def apply(
        self, actions: Sequence[Action], *, atomic: bool, values: Sequence[Replace] = ()
    ) -> list[RejectedAction]:
        """Carry out in order; return what was rejected. ``settle`` or ``undo`` follows. ``values``
        go with devices that are removed (``Plan.values``).

        Atomic: after a rejection nothing that may depend on it is tried, and what was done is
        undone. Not atomic: the rest goes on, since one object's failure is its own.
        """
        self._known = self._journal.checkpoint()
        self._carried_out = []
        self._values = values
        done: list[Action] = []
        rejected: list[RejectedAction] = []
        for part in _rounds(actions):
            progress.write(len(done), len(actions), part[0].object.key)
            failures = self._intended(part, atomic=atomic)
            failed = {id(f.action) for f in failures}
            done += [a for a in part if id(a) not in failed]
            rejected += failures
            if failures and atomic:
                in_doubt = [f.action for f in failures if f.in_doubt]
                self.undo([*done, *in_doubt, *_put_again(actions, [*done, *in_doubt])])
                break
        return rejected

    def _intended(self, actions: Sequence[Action], *, atomic: bool) -> list[RejectedAction]:
        try:
            with stages(Stage.JOURNAL):
                self._journal.intend(_written(a) for a in actions if not isinstance(a, Delete))
        except StorageError as error:
            return [RejectedAction(a, 0, str(error), by="srv6mgrd") for a in actions]
        return self._part(actions, atomic=atomic)

    def _part(self, actions: Sequence[Action], *, atomic: bool = False) -> list[RejectedAction]:
        in_frr = isinstance(actions[0].object, FrrBlock)
        if going := _vrfs(a for a in actions if isinstance(a, Delete)):
            self._frr.let_go(going)
        if again := self._made_again(actions):
            self._frr.see_off(again)
        try:
            detail = f"{len(actions)} actions"
            if in_frr:
                with stages(Stage.WRITE_FRR, detail):
                    rejected = self._frr.apply(actions, atomic=atomic)
            else:
                with stages(Stage.WRITE_KERNEL, detail):
                    rejected = self._kernel.apply(actions)
        except AdapterError as error:
            rejected = [
                RejectedAction(a, 0, str(error), error.what, in_doubt=True) for a in actions
            ]
        failed = {id(r.action) for r in rejected}
        self._carried_out += [a for a in actions if id(a) not in failed]
        self._clear(a.object for a in actions if isinstance(a, Delete) and id(a) not in failed)
        if made := _vrfs(a for a in actions if isinstance(a, Create) and id(a) not in failed):
            self._frr.meet(made)
        return rejected

    def _clear(self, gone: Iterable[Object]) -> None:
        """Of VRFs that have gone, what FRR may have left of static routes of ours, those of a
        commit that is undone among them."""
        tables = {vrf.name: vrf.table for vrf in gone if isinstance(vrf, VrfDevice)}
        if not tables:
            return
        keys = {*self._known, *(action.object.key for action in self._carried_out)}
        if found := _static_routes(keys, tables):
            # Until it has noticed, zebra may install a route that was taken back meanwhile.
            self._frr.see_off(list(found))
        for vrf, prefixes in found.items():
            try:
                self._kernel.clear_static_routes(tables[vrf], prefixes)
            except AdapterError as error:
                # The VRF has gone all the same.
                _LOG.warning("routes of VRF %s may be left in its table: %s", vrf, error)

    def _made_again(self, actions: Iterable[Action]) -> list[str]:
        """VRFs that were there before."""
        return _vrfs(a for a in actions if isinstance(a, Create) and a.object.key in self._known)

    def take_carried_out(self) -> list[Action]:
        """Actions carried out since the last ``apply`` began, undone ones included. Returned once,
        because they may be many."""
        carried_out, self._carried_out = self._carried_out, []
        self._known = {}
        return carried_out

    def settle(
        self,
        actions: Sequence[Action],
        rejected: Sequence[RejectedAction],
        left: Collection[str] = (),
    ) -> None:
        """Disown what is gone after the last ``apply``. Only when all is well: until then
        whatever may have to be put back is named, so that undoing does not depend on a journal
        that can be written. ``left`` are the keys of what was removed and is there all the same."""
        failed = {id(r.action) for r in rejected}
        in_doubt = {r.action.object.key for r in rejected if r.in_doubt}.union(left)
        try:
            self._journal.done(
                a.object for a in actions if not isinstance(a, Delete) and id(a) not in failed
            )
            self._journal.forget(_gone(actions, failed) - in_doubt)
        except StorageError as error:
            # It names more than there is, until the next pass sets it right.
            _LOG.error("%s", error)

    def undo(self, done: Sequence[Action]) -> None:
        """Take back actions of the last ``apply`` that were carried out. What was there before has
        its dependencies too, so this is ordered like any plan. The journal still names all of
        it."""
        gone, undone = _removed(done), {a.object.key for a in done}
        raises = any(isinstance(a.object, AdminState | VrfPort) for a in done)
        lost = [
            value
            for value in self._values
            if value.object.key not in undone
            and (not gone.isdisjoint(value.object.hangs_on) or (raises and _is_down(value.object)))
        ]
        undo = in_order([*(a.undo for a in done), *lost])
        # What comes back may need a value that was not set before, strict_mode above all.
        undo.sort(key=lambda a: isinstance(a.object, Sysctl))
        rejected = []
        for part in _rounds(undo):
            progress.step()
            rejected += self._part(part)
        failed = {r.action.object.key for r in rejected}
        try:
            self._journal.restore(self._known, failed)
        except StorageError as error:
            _LOG.error("%s", error)
        for failure in rejected:
            # There is no caller to report to: the next compare finds and repairs it.
            _LOG.error("undo of %s rejected: %s", failure.action.object.key, failure.message)


def _parts(actions: Iterable[Action]) -> Iterator[list[Action]]:
    """Runs of actions that don't depend on each other. FRR has an order of its own."""

    def part(action: Action) -> tuple[int, bool, int]:
        obj = action.object
        # VLANs are stacked on each other.
        order = obj.order if isinstance(obj, VlanDevice) else 0
        return obj.rank, isinstance(action, Delete) and not isinstance(obj, FrrBlock), order

    for _, group in groupby(actions, key=part):
        yield list(group)


def _rounds(actions: Iterable[Action]) -> Iterator[list[Action]]:
    """Parts, long ones of the kernel bit by bit: between these others may read the kernel, and who
    watches the writer sees it get on. FRR takes all at once, or the neighbors hear of it twice."""
    for part in _parts(actions):
        size = len(part) if isinstance(part[0].object, FrrBlock) else _ROUND
        for first in range(0, len(part), size):
            yield part[first : first + size]


def _put_again(actions: Sequence[Action], undone: Sequence[Action]) -> list[Action]:
    """Of actions not carried out, what was there before: other actions may have removed it."""
    known = {id(action) for action in undone}
    gone = _removed(undone)
    return [
        Replace(a.before, a.before)
        for a in actions
        if isinstance(a, Replace)
        and id(a) not in known
        and (a.before == a.object or not gone.isdisjoint(a.before.hangs_on))
    ]


def _is_down(obj: Object) -> bool:
    return isinstance(obj, AdminState) and not obj.up


def _removed(actions: Iterable[Action]) -> set[str]:
    """The names of devices."""
    return {
        a.object.name for a in actions if isinstance(a, Delete) and isinstance(a.object, Device)
    }


def _vrfs(actions: Iterable[Action]) -> list[str]:
    return [a.object.name for a in actions if isinstance(a.object, VrfDevice)]


def _static_routes(
    keys: Iterable[str], vrfs: Collection[str]
) -> Mapping[str, list[IPv4Network | IPv6Network]]:
    """Of these VRFs, among the keys of what is ours."""
    found: dict[str, list[IPv4Network | IPv6Network]] = {}
    for key in keys if vrfs else ():
        if (match := _STATIC_ROUTE.fullmatch(key)) and match["vrf"] in vrfs:
            found.setdefault(match["vrf"], []).append(ip_network(match["prefix"]))
    return found


def _written(action: Create | Replace) -> Object:
    """Our part of a written object: lines that were there before keep their owner."""
    obj = action.object
    if isinstance(action, Replace) and isinstance(obj, FrrBlock):
        assert isinstance(action.before, FrrBlock)
        return replace(obj, lines=tuple(ln for ln in obj.lines if ln not in action.before.lines))
    return obj


def _gone(actions: Iterable[Action], failed: Container[int]) -> set[str]:
    """Keys of what is not there after these actions, for all that we did."""
    gone = set()
    for action in actions:
        rejected = id(action) in failed
        # A rejected Create left nothing of ours; an object of that key is somebody else's.
        if isinstance(action, Create if rejected else Delete):
            gone.add(action.object.key)
        elif not rejected:
            gone.discard(action.object.key)
    return gone
