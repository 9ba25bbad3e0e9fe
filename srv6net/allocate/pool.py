"""Numbers of a pool: stable, never handed out twice, and in quarantine after their release.

A number that a service gave back is still in routes and caches of others for a while. It goes to
another service only after the quarantine; its own owner gets it back at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from srv6mgrd.model.rejection import Rejection


@dataclass(frozen=True, slots=True)
class Pool:
    """``first`` to ``last``; ``object`` and ``remedy`` are for the operator when it is empty."""

    name: str
    first: int
    last: int
    object: str
    remedy: str

    @property
    def size(self) -> int:
        return max(0, self.last - self.first + 1)


@dataclass(frozen=True, slots=True)
class Released:
    """A number that ``owner`` gave back; it goes to nobody else before ``until``, Unix time."""

    owner: str
    until: float


@dataclass(frozen=True, slots=True)
class Numbers:
    """The state of one pool: numbers by owner, and those in quarantine."""

    taken: Mapping[str, int] = field(default_factory=dict)
    released: Mapping[int, Released] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The next state of a pool. ``rejection``: it has too few numbers; ``warning``: soon."""

    numbers: Numbers
    rejection: Rejection | None = None
    warning: str = ""


# Part of a pool beyond which the operator is warned.
_NEARLY_FULL = 0.9


def allocate(
    pool: Pool,
    numbers: Numbers,
    owners: Iterable[str],
    now: float,
    quarantine: float,
    *,
    reserved: frozenset[int] = frozenset(),
) -> Outcome:
    """A number for each owner, the same as before where it has one. Those of other owners are
    released. ``reserved`` numbers are in use by others and are handed out to nobody."""
    present = frozenset(owners)
    wanted = sorted(present)
    taken = {owner: n for owner, n in numbers.taken.items() if owner in present}
    released = {n: r for n, r in numbers.released.items() if r.until > now}
    for owner, number in numbers.taken.items():
        if owner not in taken:
            released[number] = Released(owner, now + quarantine)
    own = {r.owner: number for number, r in released.items()}
    for owner in wanted:
        if owner not in taken and owner in own:
            taken[owner] = own[owner]
            del released[own[owner]]
    in_use = {*taken.values(), *released, *reserved}
    free = (n for n in range(pool.first, pool.last + 1) if n not in in_use)
    for owner in wanted:
        if owner in taken:
            continue
        found = next(free, None)
        if found is None:
            return Outcome(numbers, _exhausted(pool, len(wanted), len(released)))
        taken[owner] = found
    allocated = Numbers(taken, released)
    return Outcome(allocated, None, nearly_full(pool, allocated))


def nearly_full(pool: Pool, numbers: Numbers) -> str:
    """The warning for the operator; empty while there are enough numbers."""
    used = len(numbers.taken) + len(numbers.released)
    if used <= _NEARLY_FULL * pool.size:
        return ""
    return (
        f"{pool.object}: {used} of {pool.size} numbers are in use or in quarantine; {pool.remedy}"
    )


def _exhausted(pool: Pool, wanted: int, in_quarantine: int) -> Rejection:
    cause = f"it has {pool.size} numbers, and {wanted} are needed"
    if in_quarantine:
        cause += f" while {in_quarantine} are in quarantine"
    return Rejection(pool.object, cause, pool.remedy, "exhausted")
