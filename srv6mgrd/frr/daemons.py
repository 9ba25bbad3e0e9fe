"""Daemons that a block needs: those that take it, and those beside, without which FRR accepts it in
vain."""

from __future__ import annotations

from collections.abc import Callable

from srv6mgrd.frr.blocks import BFDD, ISISD, MGMTD, OSPF6D, OSPFD, STATICD
from srv6mgrd.plan.objects import FrrBlock

_FILE = "/etc/frr/daemons"


def absent(block: FrrBlock, runs: Callable[[str], bool]) -> tuple[str, str] | None:
    """Why a block can't be carried out, and the remedy."""
    daemon = block.daemon
    if daemon in (OSPFD, OSPF6D) and not runs(daemon):
        return f"{daemon} does not run", f"set {daemon}=yes in {_FILE} and restart FRR"
    if daemon not in (MGMTD, ISISD, OSPFD, OSPF6D) or not runs(daemon):
        return None
    if daemon == MGMTD and not runs(STATICD):
        remedy = f"see that {_FILE} does not say staticd=no, and restart FRR"
        return "staticd does not run", remedy
    if any(line.endswith(" bfd") for line in block.lines) and not runs(BFDD):
        return "bfdd does not run, which BFD needs", f"set bfdd=yes in {_FILE} and restart FRR"
    return None
