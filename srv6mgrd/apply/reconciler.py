"""The reconciler: observe, plan, apply, report.

Commit, restart, repair and dry run are one path.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from srv6mgrd.apply import error_messages
from srv6mgrd.apply.admission import Admission, Admitted
from srv6mgrd.apply.executor import Executor
from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.outcomes import outcomes
from srv6mgrd.apply.retry_policy import RetryPolicy
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model import needs
from srv6mgrd.model.capabilities import EVERYTHING, ROUTE_LOOKUP_TABLE, Capabilities
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.outcomes import INSTALLED, Outcome, declared
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.model.status import InstallStatus, ObjectRef
from srv6mgrd.model.subset import without
from srv6mgrd.plan.actions import Action, Delete, Replace
from srv6mgrd.plan.diff import Plan, plan
from srv6mgrd.plan.drift import differences
from srv6mgrd.plan.interfaces import without_leaving
from srv6mgrd.plan.observed import Links, ObservedObject
from srv6mgrd.plan.target import VALUES_KEPT, met, target, with_sids
from srv6mgrd.plan.target_objects import Target
from srv6mgrd.ports import AdapterError, Frr, Kernel, RejectedAction
from srv6mgrd.stages import Stage, stages
from srv6mgrd.storage import StorageError
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Report:
    """What a pass did: the actions carried out, which declared objects are ``not_installed`` for
    what reason, and what was rejected. ``differences`` says of a repair how what it touched
    differed. ``is_outdated`` if another program changed something else while it wrote: the next
    pass is due."""

    actions: list[Action] = field(default_factory=list)
    desired: Desired = field(default_factory=Desired)
    not_installed: Mapping[ObjectRef, Outcome] = field(default_factory=dict)
    touched: frozenset[ObjectRef] = frozenset()
    rejections: tuple[Rejection, ...] = ()
    differences: Mapping[ObjectRef, str] = field(default_factory=dict)
    is_outdated: bool = False

    @property
    def outcomes(self) -> Mapping[ObjectRef, Outcome]:
        """What became of each declared object."""
        return dict.fromkeys(declared(self.desired), INSTALLED) | dict(self.not_installed)


@dataclass(frozen=True, slots=True)
class _Compared:
    """The target, the observed state, and the difference. ``some`` are the keys that were looked
    at, if not all: the others were as desired, and nothing has changed in them."""

    target: Target
    observed: Mapping[str, ObservedObject]
    some: frozenset[str] | None
    plan: Plan
    shadowed: Mapping[str, str]
    frr_up: bool


# A target behind all that it depends on; the flags: whether the kernel takes the table of a
# lookup, and whether FRR sets it.
_TargetOf = tuple[Desired, Links, list[FrrBlock], frozenset[str], bool, bool, Target]


class _Owned:
    """The keys of objects that are as the journal has them."""

    def __init__(self, journal: Journal, observed: Mapping[str, ObservedObject]) -> None:
        self._journal = journal
        self._observed = observed

    def __contains__(self, key: object) -> bool:
        seen = self._observed.get(key) if isinstance(key, str) else None
        return seen is not None and self._journal.owns(seen.object)


@one_thread(but=("desired", "valid"))
class Reconciler:
    """Keeps the kernel and FRR as the current desired state says.

    ``render`` turns a desired state into FRR contexts, ``limits`` says what FRR can't carry (both
    belong to the FRR adapter).
    """

    def __init__(
        self,
        kernel: Kernel,
        frr: Frr,
        journal: Journal,
        render: Callable[[Desired], list[FrrBlock]],
        *,
        limits: Callable[[Desired], list[Rejection]] = lambda _: [],
        capabilities: Capabilities = EVERYTHING,
        clock: Callable[[], float] = time.monotonic,
        borrowed: bool = False,
    ) -> None:
        """``borrowed``: VRFs are another's, to be used as they are."""
        self._borrowed = borrowed
        self._kernel = kernel
        self._frr = frr
        self._journal = journal
        self._render = render
        # What the node offers; may be replaced between passes.
        self.capabilities = capabilities
        self._admission = Admission(limits)
        self._executor = Executor(kernel, frr, journal)
        self._retry_policy = RetryPolicy(clock)
        self._last_target: _TargetOf | None = None
        # Keys of objects that were not as desired at the last compare; None: any object may differ.
        self._unsettled: set[str] | None = None
        # The last state that lacks nothing here, and of what; and what the current one lacks.
        self._carried: tuple[Desired, Capabilities] | None = None
        self._lacked: Mapping[ObjectRef, str] = {}
        # What could not be put in place, with the reason, by key.
        self._failed: Mapping[str, tuple[Object, Rejection]] = {}
        # Called with the actions to be written, and then with those written, undone ones included.
        self.before_writing: Callable[[Sequence[Action]], None] = _nobody
        self.after_writing: Callable[[Sequence[Action]], None] = _nobody
        # The journal was lost: what is declared and present is ours, though it has no mark.
        self._adopting = False
        self._current = Admitted()

    @property
    def desired(self) -> Desired:
        """The current state, expanded: what is made for a VRF is in it. What is rejected, or
        what the node lacks, is in it too."""
        return self._current.whole

    @property
    def valid(self) -> Desired:
        """The same without what is rejected."""
        return self._current.valid

    @property
    def rejected(self) -> Iterable[Rejection]:
        """Why parts of the current state are not carried out, which a start found in it."""
        return self._current.partition.rejected.values()

    def commit(self, desired: Desired, *, rollback: bool = False) -> Report:
        """Make ``desired`` the current state. Raises RejectedError, with all as it was before,
        when a check, the kernel or FRR rejects it. A ``rollback`` leads to a state that was the
        current one: what is invalid in it is left out, as by a start."""
        try:
            with stages(Stage.CHECK):
                admitted, lacking = self._checked(desired, rollback=rollback)
            with self._emptying() if desired.is_empty else contextlib.nullcontext():
                report = self._pass(admitted, lacking, atomic=True)
        except AdapterError as error:
            raise RejectedError([error_messages.of_unreachable(error)]) from error
        except StorageError as error:
            raise RejectedError([error_messages.of_journal(error)]) from error
        self._current, self._lacked = admitted, lacking
        return report

    @contextlib.contextmanager
    def _emptying(self) -> Iterator[None]:
        """A commit of nothing is under way: should we die in it, an empty configuration is meant
        to be empty."""
        declares = self._journal.declares
        self._journal.declare(False)
        try:
            yield
        except Exception:
            self._journal.declare(declares)
            raise

    def stored(self) -> None:
        """The current state is what the running configuration says."""
        try:
            self._journal.declare(not self.desired.is_empty)
        except StorageError as error:
            _LOG.error("%s", error)

    def misses(self, desired: Desired) -> bool:
        """Whether ``desired`` lacks all that was declared, and no commit took it away."""
        return desired.is_empty and self._journal.declares

    def repair(self, desired: Desired | None = None) -> Report:
        """Bring back what differs from the current state (or from ``desired``, which becomes the
        current one, less what is invalid in it). What is rejected stays so, with the reason in the
        report. Raises AdapterError when the kernel can't be read."""
        if desired is not None:
            self._current = self._admission.take(desired)
            self._adopting = self._adopting or (self._journal.is_new and not desired.is_empty)
        # What the node lacks since is no reason to let go of the rest.
        self._lacked = self._lacking(self._current.valid, accept=True)
        return self._pass(self._current, self._lacked, atomic=False)

    def dry_run(self, desired: Desired) -> Plan:
        """The plan that a commit of ``desired`` would carry out. Raises RejectedError."""
        admitted, lacking = self._checked(desired)
        now = self._compare(without(admitted.valid, lacking))
        excused = self._excused(now.target)
        return Plan(
            [a for a in now.plan.actions if a.object.key not in excused],
            [c for c in now.plan.conflicts if c.wanted.key not in excused],
        )

    def _checked(
        self, desired: Desired, *, rollback: bool = False
    ) -> tuple[Admitted, Mapping[ObjectRef, str]]:
        """What a commit would carry out, and what the node lacks for it. Raises RejectedError."""
        if rollback:
            admitted = self._admission.take(desired)
        else:
            admitted = self._admission.commit(desired, self._current)
        return admitted, self._lacking(admitted.valid, accept=rollback)

    def _excused(self, t: Target) -> dict[str, Rejection]:
        """Objects that failed before and are declared as they were then: no reason to reject a
        commit. A repair tries them again."""
        return {
            key: rejection
            for key, (obj, rejection) in self._failed.items()
            if t.objects.get(key) == obj
        }

    def _lacking(self, desired: Desired, *, accept: bool = False) -> Mapping[ObjectRef, str]:
        """What the node lacks for the expanded ``desired``. Raises RejectedError, unless such
        objects are accepted or ``accept`` is set.

        Objects that are as declared stay, whatever became of a try: to remove what forwards
        because something else failed would be the greater fault.
        """
        carried = self._carried
        if carried is not None and carried[0] is desired and carried[1] is self.capabilities:
            return {}
        accepting = replace(desired, accept_unsupported=True)
        lacking = needs.check(accepting, self.capabilities)
        if not lacking:
            self._carried = desired, self.capabilities
            return lacking
        now = self._compare(desired)
        differing = {action.object.key for action in now.plan.actions}
        differing |= {conflict.wanted.key for conflict in now.plan.conflicts}
        changed = {ref for key in differing for ref in now.target.refs(key)}
        standing = lacking.keys() - changed - now.target.pending.keys()
        known = {ref for ref in self._lacked if self._current.has(ref, desired)}
        state = accepting if accept else desired
        return needs.check(state, self.capabilities, standing, known)

    def _compare(self, desired: Desired) -> _Compared:
        with stages(Stage.OBSERVE_FRR):
            frr = self._frr.observe()
            blocks = self._render(desired) if frr is not None else []
        # Before all else, since which sysctls there are depends on it.
        unsettled, self._unsettled = self._unsettled, None
        with stages(Stage.PLAN, "target"):
            t, other = self._target(desired, self._kernel.links(), blocks)
            sysctls = [o.path for o in t.objects.values() if isinstance(o, Sysctl)]
        with stages(Stage.OBSERVE_KERNEL):
            seen = self._kernel.observe(sysctls)
        observed = dict(seen.objects)
        some: frozenset[str] | None = None
        if unsettled is not None and other is not None and seen.changed is not None:
            some = seen.changed.union(unsettled, other, (b.key for b in blocks), frr or ())
        t.meet(observed, some)
        for key, block in (frr or {}).items():
            if key in t.objects or key in self._journal:
                observed[key] = ObservedObject(self._ours(block, t), False)
        owned = _Owned(self._journal, observed)
        with stages(Stage.PLAN, "difference"):
            found = plan(t.objects, observed, owned, self._journal, some)
        shadowed = dict(seen.overruled)
        shadowed |= {s.wanted.key: error_messages.of_shadow(s) for s in found.shadows}
        self._unsettled = found.unsettled
        return _Compared(t, observed, some, found, shadowed, frr is not None)

    def _target(
        self, desired: Desired, links: Links, blocks: list[FrrBlock]
    ) -> tuple[Target, frozenset[str] | None]:
        """The target, the last one when nothing that it depends on has changed; and the keys in
        which it differs from the last one, None when that is not known."""
        kept = frozenset(key for key in VALUES_KEPT if key in self._journal)
        links = without_leaving(desired, links, self._journal)
        links = met(desired, links, borrowed=self._borrowed)
        tables = ROUTE_LOOKUP_TABLE in self.capabilities.facilities
        in_bgp = self._frr.names_lookup_tables
        known = self._last_target
        if known is not None and known[1:6] == (links, blocks, kept, tables, in_bgp):
            if known[0] is desired:
                return known[6], frozenset()
            derived = with_sids(known[6], known[0], desired)
        else:
            derived = None
        t = derived or target(
            desired,
            links,
            blocks,
            kept,
            borrowed=self._borrowed,
            lookup_tables=tables,
            bgp_lookup_tables=in_bgp,
        )
        self._last_target = desired, links, blocks, kept, tables, in_bgp, t
        return t, None if derived is None else derived.differs

    def _ours(self, found: FrrBlock, t: Target) -> FrrBlock:
        """Of an FRR context the lines that are ours: wanted or journaled; in the wanted order."""
        wanted = t.objects.get(found.key)
        lines = wanted.lines if isinstance(wanted, FrrBlock) else ()
        order = wanted.order if isinstance(wanted, FrrBlock) else found.order
        known = self._journal.lines(found.key)
        present = set(found.lines)
        kept = [line for line in lines if line in present]
        kept += [line for line in known if line in present and line not in lines]
        return replace(found, lines=tuple(kept), order=order)

    def _pass(
        self, admitted: Admitted, lacking: Mapping[ObjectRef, str], *, atomic: bool
    ) -> Report:
        whole, desired = admitted.whole, without(admitted.valid, lacking)
        now = self._compare(desired)
        if self._adopting:
            self._adopt_marked(now.observed)
            now = self._compare(desired)
        actions = now.plan.actions
        failures = {c.wanted.key: error_messages.of_conflict(c) for c in now.plan.conflicts}
        if atomic:
            excused = self._excused(now.target)
            if new := [rejection for key, rejection in failures.items() if key not in excused]:
                raise RejectedError(new)
            actions = [a for a in actions if a.object.key not in excused]
            failures = excused | failures
        else:
            held = {
                a.object.key: r for a in actions if (r := self._retry_policy.holds(a)) is not None
            }
            failures |= held
            actions = [a for a in actions if a.object.key not in held]
        rejected, after = self._carry_out(
            desired, actions, set(failures), now.plan.values, atomic=atomic
        )
        failures |= {r.action.object.key: error_messages.of_rejected(r) for r in rejected}
        failed = {r.action.object.key for r in rejected}
        done = [a for a in actions if a.object.key not in failed]
        unread = _unread(after, failures, actions) if after is not None else {}
        outdated = after is not None and _has_others(after, failures, actions)
        if not atomic:
            self._retry_policy.repaired(done, unread)
        failures |= {key: rejection for key, (_, rejection) in unread.items()}
        self._adopt(now, failures)
        wanted = now.target.objects
        self._failed = {key: (wanted[key], why) for key, why in failures.items() if key in wanted}
        reasons = {key: str(failure) for key, failure in failures.items()}
        shadowed = (after or now).shadowed
        left_out = {ref: Outcome(InstallStatus.UNSUPPORTED, why) for ref, why in lacking.items()}
        left_out.update(admitted.rejected)
        return Report(
            done,
            whole,
            outcomes(whole, now.target, reasons, left_out, shadowed, frr_up=now.frr_up),
            frozenset(ref for a in done for ref in now.target.refs(a.object.key)),
            tuple(failures.values()),
            {} if atomic else _by_ref(differences(done), now.target),
            outdated,
        )

    def _carry_out(
        self,
        desired: Desired,
        actions: Sequence[Action],
        failed: set[str],
        values: Sequence[Replace],
        *,
        atomic: bool,
    ) -> tuple[list[RejectedAction], _Compared | None]:
        """Write; what was rejected, and what is there then. Atomic: raises RejectedError with all
        undone if anything was rejected or reads back otherwise."""
        if not actions:
            return [], None
        self.before_writing(actions)
        try:
            rejected = self._executor.apply(actions, atomic=atomic, values=values)
            if rejected and atomic:
                raise RejectedError([error_messages.of_rejected(rejected[0])])
            try:
                after = self._compare(desired)
            except AdapterError:
                if atomic:
                    self._executor.undo(actions)
                raise
            unread = _unread(after, failed, actions)
            if atomic and any(not isinstance(a.object, FrrBlock) for a, _ in unread.values()):
                self._executor.undo(actions)
                raise RejectedError([rejection for _, rejection in unread.values()])
            self._executor.settle(actions, rejected, _left(unread))
            return rejected, after
        finally:
            self.after_writing(self._executor.take_carried_out())

    def _adopt_marked(self, observed: Mapping[str, ObservedObject]) -> None:
        """The journal was lost: the mark alone says what is ours. Else what a commit had put in
        place that was under way would stay forever."""
        try:
            self._journal.adopt([seen.object for seen in observed.values() if seen.ours])
        except StorageError as error:
            _LOG.error("%s", error)

    def _adopt(self, now: _Compared, failures: Container[str]) -> None:
        """Own what is declared and has our mark, should the journal have been lost; disown what
        is no longer declared and could not be removed because it isn't there or isn't ours."""
        try:
            self._journal_present(now, failures)
        except StorageError as error:
            # It names what is ours and perhaps more; the next pass tries again, with all of it.
            self._unsettled = None
            _LOG.error("%s", error)

    def _journal_present(self, now: _Compared, failures: Container[str]) -> None:
        wanted = now.target.objects
        adopted: list[Object] = []
        if self._adopting:
            self._adopting = not now.frr_up
            adopted += _unmarked(now)
        adopted += (
            seen.object
            for key in (now.observed if now.some is None else now.some)
            if (seen := now.observed.get(key)) is not None
            and seen.ours
            and key not in self._journal
            and seen.object == wanted.get(key)
        )
        self._journal.adopt(adopted)
        self._journal.forget(
            key
            for key in self._journal.keys
            if not (key in wanted or key in failures or (_in_frr(key) and not now.frr_up))
        )


def _unmarked(now: _Compared) -> Iterator[Object]:
    """Declared and present objects of kinds without a mark; of FRR's contexts, such lines."""
    for key, seen in now.observed.items():
        obj = now.target.objects.get(key)
        if isinstance(seen.object, FrrBlock) and isinstance(obj, FrrBlock):
            lines = tuple(line for line in seen.object.lines if line in obj.lines)
            yield replace(seen.object, lines=lines)
        elif obj is not None and not obj.bears_mark and seen.object == obj:
            yield obj


def _nobody(_: Sequence[Action]) -> None:
    pass


def _in_frr(key: str) -> bool:
    return key.startswith("frr ")


def _unread(
    after: _Compared, known: Container[str], written: Iterable[Action]
) -> dict[str, tuple[Action, Rejection]]:
    """What still differs after it was written, beside what is known to have failed: kernels ignore
    attributes that they don't know, without error."""
    keys = {action.object.key for action in written}
    return {
        a.object.key: (a, error_messages.of_unread(a))
        for a in after.plan.actions
        if a.object.key in keys and a.object.key not in known
    }


def _has_others(after: _Compared, known: Container[str], written: Iterable[Action]) -> bool:
    """Whether something differs that was not written: another program changed it meanwhile."""
    keys = {action.object.key for action in written}
    differing = (action.object.key for action in after.plan.actions)
    return any(key not in keys and key not in known for key in differing)


def _left(unread: Mapping[str, tuple[Action, Rejection]]) -> set[str]:
    """The keys of static routes that were removed and are there all the same. Other contexts of FRR
    stay for the operator's lines, or with lines that a profile implies."""
    removed = (
        (key, action.object) for key, (action, _) in unread.items() if isinstance(action, Delete)
    )
    return {key for key, obj in removed if isinstance(obj, FrrBlock) and obj.part}


def _by_ref(differences: Mapping[str, str], t: Target) -> dict[ObjectRef, str]:
    """Differences of objects as those of the declared objects that they serve."""
    found: dict[ObjectRef, list[str]] = {}
    for key, difference in differences.items():
        for ref in t.refs(key):
            found.setdefault(ref, []).append(difference)
    return {ref: "; ".join(all_of_it) for ref, all_of_it in found.items()}
