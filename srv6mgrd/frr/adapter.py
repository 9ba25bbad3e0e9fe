"""FRR through its daemons' vty sockets: the one writer of FRR's configuration."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from srv6mgrd.frr import running
from srv6mgrd.frr import vrfs as vrf_steps
from srv6mgrd.frr.blocks import BGPD, ISISD, LOCATORS, ZEBRA, negated
from srv6mgrd.frr.offer import offer as frr_offer
from srv6mgrd.frr.script import (
    Step,
    additions,
    changes_router_id,
    commands,
    frr_block,
    is_instance,
    refusals,
    removals,
)
from srv6mgrd.frr.sids_first import Arrivals, stages
from srv6mgrd.frr.vty import Answer, Instances, Sessions, VtyError, instance
from srv6mgrd.model.capabilities import FrrOffer
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.objects import FrrBlock
from srv6mgrd.ports import RefusedAction

DEFAULT_DIRECTORY = Path("/run/frr")

_Refused = dict[int, tuple[Action, str]]


class FrrSockets:
    """``ports.Frr`` on ``<directory>/<daemon>.vty``.

    Sessions last for one call: a restarted daemon is met by the next call, and no session of
    ours stands among those that ``show`` commands of the operator list.
    """

    def __init__(
        self,
        directory: Path = DEFAULT_DIRECTORY,
        daemons: Sequence[str] = (ZEBRA, BGPD),
        optional: Sequence[str] = (ISISD,),
        timeout: float = 30.0,
    ) -> None:
        self._directory = directory
        self._daemons = tuple(daemons)
        self._optional = tuple(optional)
        self._timeout = timeout
        self._unreachable = ""
        self._writes = 0

    @property
    def unreachable(self) -> str:
        """Why the last ``observe`` gave None, in plain words; empty when it did not."""
        return self._unreachable

    @property
    def writes(self) -> int:
        """How many configuration commands were sent so far."""
        return self._writes

    def observe(self) -> Mapping[str, FrrBlock] | None:
        """All contexts of the daemons' running configuration, the operator's lines included; of a
        daemon that few need, none while it does not run."""
        blocks: dict[str, FrrBlock] = {}
        self._unreachable = ""
        try:
            for daemon in self._daemons:
                blocks.update(self._running(daemon))
            for daemon in self._optional:
                if instance(self._path(daemon)) is not None:
                    blocks.update(self._running(daemon))
        except VtyError as error:
            self._unreachable = str(error)
            return None
        return blocks

    def apply(self, actions: Sequence[Action]) -> list[RefusedAction]:
        """Carry out; the daemons' order of dependency goes before that of ``actions``.

        A refused action is taken back as far as it went; the others stand. SIDs are allocated
        after this returns: ``status.vrf_status`` tells.
        """
        for action in actions:
            frr_block(action)
        refused: _Refused = {}
        self._carry_out(actions, refused)
        left = [a for a in actions if id(a) not in refused]
        self._renew_locator(left, refused)
        back: list[Action] = [a.undo for a, _ in refused.values() if not isinstance(a, Delete)]
        if back:
            self._carry_out(back, {})
        return [RefusedAction(a, 0, words) for a, words in refused.values()]

    def meet(self, vrfs: Sequence[str]) -> None:
        """Return once zebra knows these VRFs."""
        vrf_steps.meet(self, vrfs)

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

    def show(self, daemon: str, command: str) -> str:
        """Output of a show command; ``VtyError`` when refused or out of reach."""
        with self._sessions() as sessions:
            return sessions.show(daemon, command)

    def instances(self) -> Instances:
        """Which processes serve the daemons' sockets now; cheap, never waits."""
        return tuple(instance(self._path(daemon)) for daemon in (*self._daemons, *self._optional))

    def offer(self) -> FrrOffer:
        """What the running daemons offer. ``VtyError`` (ETIMEDOUT) when one is silent."""
        return frr_offer(self)

    def _path(self, daemon: str) -> Path:
        return self._directory / f"{daemon}.vty"

    def _sessions(self) -> Sessions:
        return Sessions(self._directory, self._timeout)

    def _running(self, daemon: str) -> dict[str, FrrBlock]:
        return running.parse(daemon, self.show(daemon, "show running-config"))

    def _carry_out(self, actions: Sequence[Action], refused: _Refused) -> None:
        whole = [a for a in actions if isinstance(a, Delete)]
        standing = self._standing(whole, refused)
        left = [a for a in actions if id(a) not in refused]
        self._run(removals(left, standing), refused)
        left = [a for a in left if id(a) not in refused]
        renamed = [a for a in left if changes_router_id(a)]
        standing = self._standing(renamed, refused)
        self._write(additions([a for a in left if id(a) not in refused], standing), refused)

    def _write(self, steps: Sequence[Step], refused: _Refused) -> None:
        *before, last = stages(steps)
        # With a session for each question zebra would do little else.
        with self._sessions() as sessions:
            arrivals = Arrivals(sessions)
            for stage in before:
                self._run(stage, refused, sessions)
                arrivals.wait(stage)
        self._run(last, refused)

    def _standing(self, actions: Sequence[Action], refused: _Refused) -> dict[str, FrrBlock]:
        """What the daemons run whose instances these actions are about; when one does not say, the
        actions that hang on it are refused."""
        found: dict[str, FrrBlock] = {}
        blocks = [frr_block(a) for a in actions]
        for daemon in dict.fromkeys(b.daemon for b in blocks if is_instance(b)):
            try:
                found |= self._running(daemon)
            except VtyError as error:
                for action in actions:
                    if frr_block(action).daemon == daemon:
                        refused[id(action)] = (action, str(error))
        return found

    def _run(
        self, steps: Sequence[Step], refused: _Refused, sessions: Sessions | None = None
    ) -> None:
        """Daemon by daemon, in the order in which the steps first name them."""
        for daemon in dict.fromkeys(step.daemon for step in steps):
            sent = commands([s for s in steps if s.daemon == daemon])
            texts = ["configure terminal", *(c.text for c in sent), "end"]
            answers, silence = self._send(daemon, texts, sessions)
            for key, found in refusals(sent, answers[1:], silence).items():
                refused.setdefault(key, found)

    def _send(
        self, daemon: str, texts: Sequence[str], sessions: Sessions | None
    ) -> tuple[list[Answer], str]:
        self._writes += len(texts) - 2
        try:
            if sessions is not None:
                return sessions.run(daemon, texts), ""
            with self._sessions() as own:
                return own.run(daemon, texts), ""
        except VtyError as error:
            return error.answers, str(error)

    def _renew_locator(self, actions: Sequence[Action], refused: _Refused) -> None:
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
        self._run(steps, refused)
