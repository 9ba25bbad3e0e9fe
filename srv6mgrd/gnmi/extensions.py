"""Extensions of a request (gnmi-extensions.md): what they ask for, and who is master."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from enum import Enum
from typing import Any

from grpc import StatusCode

from srv6mgrd.gnmi.failure import RpcError

# What each RPC takes; an extension that changes what a request means must not be passed over.
CAPABILITIES: frozenset[str] = frozenset()
GET = frozenset({"depth"})
SET = frozenset({"master_arbitration", "commit"})
SUBSCRIBE = frozenset({"depth"})

_WHERE = {"depth": "Get and Subscribe", "master_arbitration": "Set", "commit": "Set"}
_NEVER = {
    "history": "history: not implemented, nothing of the past is kept here; subscribe to what is"
    " now, and keep it at the collector",
}
# gnmi-commit-confirmed.md 3.2.1; the longest is that of the model.
_ROLLBACK_S, _LONGEST_S = 600, 86_400
_LONGEST_ID = 255


@dataclass(frozen=True, slots=True)
class Election:
    """Who asks: of which role, elected as which (gnmi-master-arbitration.md)."""

    role: str
    id: int


class Step(Enum):
    """What a Set does with a commit that has to be confirmed (gnmi-commit-confirmed.md 3.2)."""

    BEGIN = "commit"
    CONFIRM = "confirm"
    CANCEL = "cancel"
    EXTEND = "set_rollback_duration"


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A step of the commit ``id``; ``seconds`` until it is undone, for BEGIN and EXTEND."""

    id: str
    step: Step
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class Extensions:
    """``depth``: levels below each path, 0 for all."""

    depth: int = 0
    election: Election | None = None
    confirmed: Confirmed | None = None


def read(request: Any, taken: frozenset[str]) -> Extensions:
    """The extensions of a request to an RPC that takes these; RpcError for any other that we
    know. An extension unknown to us was registered after this was written: it is left alone."""
    depth, election, confirmed = 0, None, None
    for extension in request.extension:
        what = extension.WhichOneof("ext")
        if what in _NEVER and what not in taken:
            raise RpcError(StatusCode.UNIMPLEMENTED, f"extension {_NEVER[what]}")
        if what in _WHERE and what not in taken:
            raise RpcError(
                StatusCode.INVALID_ARGUMENT,
                f"extension {what}: it belongs to {_WHERE[what]}; leave it out",
            )
        if what == "depth":
            depth = extension.depth.level
        elif what == "master_arbitration":
            election = _election(extension.master_arbitration)
        elif what == "commit":
            confirmed = _confirmed(extension.commit)
    return Extensions(depth, election, confirmed)


def _confirmed(given: Any) -> Confirmed:
    def rejected(cause: str) -> RpcError:
        return RpcError(StatusCode.INVALID_ARGUMENT, f"extension commit: {cause}")

    action = given.WhichOneof("action")
    if action is None:
        raise rejected("no action; set commit, confirm, cancel or set_rollback_duration")
    if not given.id or len(given.id) > _LONGEST_ID:
        raise rejected(f"id has {len(given.id)} characters; choose 1 to {_LONGEST_ID}")
    step = Step(action)
    if step in (Step.CONFIRM, Step.CANCEL):
        return Confirmed(given.id, step)
    asked = getattr(given, action)
    if not asked.HasField("rollback_duration"):
        if step is Step.EXTEND:
            raise rejected("rollback_duration is missing; set it")
        return Confirmed(given.id, step, _ROLLBACK_S)
    # The clock counts whole seconds; nobody gets less than asked for.
    duration = asked.rollback_duration
    seconds = duration.seconds + (duration.nanos > 0)
    if not 1 <= seconds <= _LONGEST_S:
        raise rejected(f"rollback_duration is {seconds} s; choose 1 to {_LONGEST_S} s")
    return Confirmed(given.id, step, seconds)


def _election(given: Any) -> Election:
    if not given.HasField("election_id"):
        raise RpcError(
            StatusCode.INVALID_ARGUMENT,
            "extension master_arbitration: election_id is missing; set the one of your election",
        )
    return Election(given.role.id, given.election_id.high << 64 | given.election_id.low)


class Arbitration:
    """The highest election of each role since this server started."""

    # Roles are agreed upon by the controllers; without a limit each Set could make one.
    _MOST = 1000

    def __init__(self) -> None:
        self._masters: dict[str, int] = {}
        self._lock = threading.Lock()

    def check(self, election: Election | None) -> None:
        """Take note of a new master; RpcError for one that was. No election passes."""
        if election is None:
            return
        with self._lock:
            highest = self._masters.get(election.role, 0)
            if election.id < highest:
                role = f"role {election.role}" if election.role else "the default role"
                raise RpcError(
                    StatusCode.PERMISSION_DENIED,
                    f"election_id {election.id}: another client is master of {role}, with"
                    f" election_id {highest}; win an election first",
                )
            if election.role not in self._masters and len(self._masters) >= self._MOST:
                raise RpcError(
                    StatusCode.RESOURCE_EXHAUSTED,
                    f"role {election.role}: there are {self._MOST} roles already; use one of them",
                )
            self._masters[election.role] = election.id
