"""FRR through its daemons' vty sockets: the one writer of FRR's configuration."""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from srv6mgrd.frr import mgmtd, running
from srv6mgrd.frr import vrfs as vrf_steps
from srv6mgrd.frr.bfd import is_idle, relieved
from srv6mgrd.frr.blocks import (
    BFDD,
    BGPD,
    ISISD,
    LOCATORS,
    MGMTD,
    OSPF6D,
    OSPFD,
    RESOLUTION_VIA_DEFAULT,
    STATICD,
    ZEBRA,
    is_policy,
    negated,
)
from srv6mgrd.frr.capabilities import capabilities as frr_capabilities
from srv6mgrd.frr.daemons import absent
from srv6mgrd.frr.hold import Hold, moves_sids
from srv6mgrd.frr.kept import KeptSession
from srv6mgrd.frr.lookup_table import lookup_table
from srv6mgrd.frr.script import (
    Step,
    additions,
    changes_router_id,
    commands,
    frr_block,
    is_instance,
    rejections,
    removals,
    undone,
)
from srv6mgrd.frr.sids_first import Arrivals, stages
from srv6mgrd.frr.static_routes import apart
from srv6mgrd.frr.vty import Answer, Instance, Instances, Sessions, VtyError, instance
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.capabilities import FrrCapabilities
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.ports import AdapterError, RejectedAction

_LOG = logging.getLogger(__name__)

DEFAULT_DIRECTORY = Path("/run/frr")

# How often a transaction of mgmtd is repeated that others undid.
_AGAIN = 3

_Rejected = dict[int, tuple[Action, str]]


class FrrSockets:
    """``ports.Frr`` on ``<directory>/<daemon>.vty``.

    Sessions last for one call: a restarted daemon is met by the next call, and no session of
    ours is among those that ``show`` commands of the operator list. That with mgmtd is kept
    (see ``kept``).
    """

    def __init__(
        self,
        directory: Path = DEFAULT_DIRECTORY,
        daemons: Sequence[str] = (ZEBRA, BGPD),
        optional: Sequence[str] = (MGMTD, ISISD, OSPFD, OSPF6D),
        helpers: Sequence[str] = (STATICD, BFDD),
        timeout: float = 30.0,
        *,
        progressed: Callable[[], None] = lambda: None,
    ) -> None:
        """``optional`` daemons may be without; ``helpers`` have no configuration of ours.
        ``progressed`` is called as FRR answers while ``apply`` writes, which may take minutes; a
        daemon that says nothing for ``timeout`` seconds ends the batch."""
        self._progressed = progressed
        self._directory = directory
        self._daemons = tuple(daemons)
        self._optional = tuple(optional)
        self._helpers = tuple(helpers)
        self._timeout = timeout
        self._unreachable = ""
        self._names_lookup_tables = False
        self._writes = 0
        self._mgmtd = KeptSession(self._path(MGMTD), timeout)

    def close(self) -> None:
        """End the session that is kept."""
        self._mgmtd.drop()

    @property
    def unreachable(self) -> str:
        """Why the last ``observe`` gave None, in plain words; empty when it did not."""
        return self._unreachable

    @property
    def names_lookup_tables(self) -> bool:
        """As ``ports.Frr`` has it."""
        return self._names_lookup_tables

    @property
    def writes(self) -> int:
        """How many configuration commands were sent so far."""
        return self._writes

    def observe(self) -> Mapping[str, FrrBlock] | None:
        """All contexts of the daemons' running configuration, the operator's lines included; of a
        daemon that few need, none while it does not run. Raises AdapterError when it is us who
        can't ask: FRR is not absent then."""
        blocks: dict[str, FrrBlock] = {}
        self._unreachable = ""
        self._names_lookup_tables = False
        try:
            in_all_routes = ZEBRA in self._daemons and lookup_table(self).in_all_routes
            for daemon in self._daemons:
                blocks.update(self._running(daemon))
            for daemon in self._optional:
                if self._runs(daemon):
                    blocks.update(self._running(daemon))
        except VtyError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                cause, _, remedy = str(error).partition("; ")
                raise AdapterError("FRR", cause, remedy) from error
            self._unreachable = str(error)
            return None
        self._names_lookup_tables = in_all_routes
        return blocks

    def apply(self, actions: Sequence[Action], *, atomic: bool = False) -> list[RejectedAction]:
        """Carry out; the daemons' order of dependency goes before that of ``actions``.

        A rejected action is taken back as far as it went, and is in doubt where that is rejected,
        too; the others stay. SIDs are allocated after this returns: see ``status.vrf_status``.
        ``atomic`` as in ``daemons.absent``.
        """
        for action in actions:
            frr_block(action)
        rejected: _Rejected = {}
        # Each try takes a place in the daemon's queue, which has few.
        runs = functools.cache(self._runs)
        in_vain = [
            RejectedAction(action, 0, why[0], remedy=why[1])
            for action in actions
            if not isinstance(action, Delete)
            if (why := absent(action, runs, atomic=atomic)) is not None
        ]
        lacking = {id(r.action) for r in in_vain}
        actions = [a for a in actions if id(a) not in lacking]
        with self._held(actions):
            self._carry_out(actions, rejected)
            left = [a for a in actions if id(a) not in rejected]
            self._carry_out_again(left)
            self._renew_locator(left, rejected)
            self._start_relieved(left)
            back = {key: a.undo for key, (a, _) in rejected.items() if not isinstance(a, Delete)}
            left_over: _Rejected = {}
            if back:
                self._carry_out(list(back.values()), left_over)
            in_doubt = {key for key, undo in back.items() if id(undo) in left_over}
        found = [
            RejectedAction(a, 0, message, in_doubt=key in in_doubt)
            for key, (a, message) in rejected.items()
        ]
        return [*in_vain, *found]

    @contextlib.contextmanager
    def _held(self, actions: Sequence[Action]) -> Iterator[None]:
        """While SIDs move, neighbors get no updates (see ``hold``)."""
        if not moves_sids(actions):
            yield
            return
        hold = None
        try:
            hold = Hold(self, self._running(BGPD))
            hold.begin()
        except VtyError as error:
            _LOG.debug("updates are not kept back: %s", error)
        try:
            yield
        finally:
            try:
                if hold is not None:
                    hold.end()
            except VtyError as error:
                _LOG.warning("a line 'neighbor ... advertisement-interval' may be left: %s", error)

    def meet(self, vrfs: Sequence[str]) -> None:
        """Return once zebra knows these VRFs."""
        vrf_steps.meet(self, vrfs)

    def see_off(self, vrfs: Sequence[str]) -> None:
        """Return once zebra has noticed that these VRFs have gone."""
        vrf_steps.see_off(self, vrfs)

    def let_go(self, vrfs: Sequence[str]) -> None:
        """Return once zebra has nothing under way for these VRFs."""
        vrf_steps.let_go(self, vrfs)

    def withdraw_sids(self, vrfs: Collection[str]) -> None:
        """Remove the lines that give these VRFs their SIDs; that is drift. Raises VtyError."""
        steps = [
            Step(BGPD, block.context, negated(line), None)
            for block in self._running(BGPD).values()
            if block.context[0].partition(" vrf ")[2] in vrfs
            for line in block.lines
            if line.startswith(("sid vpn per-vrf export ", "sid vpn export "))
        ]
        self._run(steps, {})

    def configure(self, daemon: str, lines: Sequence[str]) -> list[Answer]:
        """Answers to these lines of configuration, which are no part of a commit. Raises
        VtyError."""
        with self._sessions() as sessions:
            return _configure(sessions, daemon, lines)

    def run(self, daemon: str, commands: Sequence[str]) -> list[Answer]:
        """Commands as given, and their answers; ``VtyError`` when out of reach."""
        with self._sessions() as sessions:
            return sessions.run(daemon, commands)

    def show(self, daemon: str, command: str) -> str:
        """Output of a show command; ``VtyError`` when rejected or out of reach."""
        with self._sessions() as sessions:
            return sessions.show(daemon, command)

    def instances(self) -> Instances:
        """Which processes serve the daemons' sockets now; cheap, never waits."""
        daemons = (*self._daemons, *self._optional, *self._helpers)
        return tuple(map(self._instance, daemons))

    def capabilities(self) -> FrrCapabilities:
        """What the running daemons offer. ``VtyError`` (ETIMEDOUT) when one is silent."""
        return frr_capabilities(self)

    def _runs(self, daemon: str) -> bool:
        return self._instance(daemon) is not None

    def _instance(self, daemon: str) -> Instance:
        return self._mgmtd.instance() if daemon == MGMTD else instance(self._path(daemon))

    def _path(self, daemon: str) -> Path:
        return self._directory / f"{daemon}.vty"

    def _sessions(self) -> Sessions:
        return Sessions(self._directory, self._timeout, {MGMTD: self._mgmtd})

    def _writing(self) -> Sessions:
        """The writer's: what others ask FRR meanwhile is no progress of the writer."""
        keepers = {MGMTD: self._mgmtd}
        return Sessions(self._directory, self._timeout, keepers, self._progressed)

    def _running(self, daemon: str) -> dict[str, FrrBlock]:
        found = running.parse(daemon, self.show(daemon, "show running-config"))
        return apart(found.values()) if daemon == MGMTD else found

    def _carry_out(self, actions: Sequence[Action], rejected: _Rejected) -> None:
        # What has gone from a policy goes last: who applies it would reject all routes meanwhile.
        of_policies = [a for a in actions if is_policy(frr_block(a))]
        others = [a for a in actions if not is_policy(frr_block(a))]
        whole = [a for a in others if isinstance(a, Delete)]
        standing = self._present(whole, rejected)
        left = [a for a in others if id(a) not in rejected]
        self._run(self._not_of_profile(removals(left, standing)), rejected)
        left = [a for a in left if id(a) not in rejected]
        renamed = [a for a in left if changes_router_id(a)]
        standing = self._present(renamed, rejected)
        left = [*of_policies, *(a for a in left if id(a) not in rejected)]
        self._write(additions(left, standing), rejected)
        left = [a for a in of_policies if id(a) not in rejected]
        self._run(removals(left, {}), rejected)

    def _carry_out_again(self, actions: Sequence[Action]) -> None:
        """What mgmtd took and lost, because a session of somebody else ended (see ``kept``)."""
        ours = [a for a in actions if frr_block(a).daemon == MGMTD]
        for _ in range(_AGAIN if ours else 0):
            try:
                left = undone(ours, self._running(MGMTD))
            except VtyError:
                return
            if not left:
                return
            self._carry_out(left, {})

    def _not_of_profile(self, steps: list[Step]) -> list[Step]:
        """Without those that take back what the daemon's profile implies."""
        if not any(step.line in RESOLUTION_VIA_DEFAULT for step in steps):
            return steps
        try:
            if not running.is_datacenter(self.show(MGMTD, "show running-config")):
                return steps
        except VtyError:
            return steps
        return [step for step in steps if step.line not in RESOLUTION_VIA_DEFAULT]

    def _write(self, steps: Sequence[Step], rejected: _Rejected) -> None:
        *before, last = stages(steps)
        # With a session for each question zebra would do little else.
        with self._writing() as sessions:
            arrivals = Arrivals(sessions)
            for stage in before:
                self._run(stage, rejected, sessions)
                arrivals.wait(stage)
        self._run(last, rejected)

    def _present(self, actions: Sequence[Action], rejected: _Rejected) -> dict[str, FrrBlock]:
        """What the daemons run whose instances these actions are about; when one does not say, the
        actions that depend on it are rejected."""
        found: dict[str, FrrBlock] = {}
        blocks = [frr_block(a) for a in actions]
        for daemon in dict.fromkeys(b.daemon for b in blocks if is_instance(b)):
            try:
                found |= self._running(daemon)
            except VtyError as error:
                for action in actions:
                    if frr_block(action).daemon == daemon:
                        rejected[id(action)] = (action, str(error))
        return found

    def _run(
        self, steps: Sequence[Step], rejected: _Rejected, sessions: Sessions | None = None
    ) -> None:
        """Daemon by daemon, in the order in which the steps first name them."""
        for daemon in dict.fromkeys(step.daemon for step in steps):
            sent = commands([s for s in steps if s.daemon == daemon])
            answers, silence = self._send(daemon, [c.text for c in sent], sessions)
            for key, found in rejections(sent, answers, silence).items():
                rejected.setdefault(key, found)

    def _send(
        self, daemon: str, texts: Sequence[str], sessions: Sessions | None
    ) -> tuple[list[Answer], str]:
        self._writes += len(texts)
        self._progressed()
        try:
            if sessions is not None:
                return _configure(sessions, daemon, texts), ""
            with self._writing() as own:
                return _configure(own, daemon, texts), ""
        except VtyError as error:
            return error.answers, str(error)

    def _start_relieved(self, actions: Sequence[Action]) -> None:
        """Have bgpd begin again with neighbors that BFD had kept from it (see ``bfd``)."""
        try:
            clears = [one.clear for one in relieved(actions) if is_idle(self, one)]
            if clears:
                self.run(BGPD, clears)
        except VtyError as error:
            # They come up all the same, if late.
            _LOG.debug("sessions are not restarted: %s", error)

    def _renew_locator(self, actions: Sequence[Action], rejected: _Rejected) -> None:
        """Make bgpd ask for its locator again after another one was removed from zebra.

        bgpd forgets its own locator when any is removed: it does not look at the name
        (bgp_zebra_process_srv6_locator_delete).
        """
        gone = {
            frr_block(a).context[-1]
            for a in actions
            if isinstance(a, Delete) and frr_block(a).context[: len(LOCATORS)] == LOCATORS
        }
        if not gone:
            return
        try:
            standing = self._running(BGPD).values()
        except VtyError:
            return
        steps = [
            Step(BGPD, found.context, line, None)
            for found in standing
            if found.context[-1] == "segment-routing srv6"
            for line in found.lines
            if line.startswith("locator ") and line not in gone
        ]
        self._run(steps, rejected)


def _configure(sessions: Sessions, daemon: str, texts: Sequence[str]) -> list[Answer]:
    """Answers to these commands, those that enter and leave configuration mode aside."""
    if daemon == MGMTD:
        return mgmtd.configure(sessions, texts)
    try:
        return sessions.run(daemon, ["configure terminal", *texts, "end"])[1:-1]
    except VtyError as error:
        raise VtyError(error.errno or errno.EPIPE, str(error), error.answers[1:]) from error
