"""Daemons that a block needs: those that take it, and those beside, without which FRR accepts it in
vain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from srv6mgrd.frr.blocks import BFDD, BGPD, ISISD, MGMTD, OSPF6D, OSPFD, STATICD
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.plan.actions import Create, Replace

_FILE = "/etc/frr/daemons"


def absent(
    action: Create | Replace, runs: Callable[[str], bool], *, atomic: bool
) -> tuple[str, str] | None:
    """Why a block can't be carried out, and the remedy.

    ``atomic``: a commit, which is rejected. A repair carries out what it can: the sessions of
    a tenant are worth more than that BFD watches them.
    """
    block = action.object
    assert isinstance(block, FrrBlock)
    daemon = block.daemon
    if daemon in (OSPFD, OSPF6D) and not runs(daemon):
        return f"{daemon} does not run", f"set {daemon}=yes in {_FILE} and restart FRR"
    judged = (MGMTD, ISISD, OSPFD, OSPF6D, *([BGPD] if atomic else []))
    if daemon not in judged or not runs(daemon):
        return None
    if daemon == MGMTD and not runs(STATICD):
        remedy = f"see that {_FILE} does not say staticd=no, and restart FRR"
        return "staticd does not run", remedy
    watched = [line for line in _added(action, block) if line.endswith(" bfd")]
    if watched and not runs(BFDD):
        remedy = f"set bfdd=yes in {_FILE} and restart FRR"
        return f"bfdd does not run, which BFD{_neighbors(watched)} needs", remedy
    return None


def _added(action: Create | Replace, block: FrrBlock) -> Iterator[str]:
    """Lines that are not there yet."""
    before = action.before if isinstance(action, Replace) else None
    known = before.lines if isinstance(before, FrrBlock) else ()
    return (line for line in block.lines if line not in known)


def _neighbors(watched: Iterable[str]) -> str:
    """The neighbors of bgpd that are to be watched; other daemons have it by interface."""
    words = (line.split() for line in watched)
    names = [words[1] for words in words if words[0] == "neighbor"]
    return f" of neighbor {', '.join(names)}" if names else ""
