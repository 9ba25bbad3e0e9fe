"""Packets into each VRF of the other edges and back: whether the VPN carries any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from srv6mgrd.cli.doctor.finding import Finding, fail, note, ok, skip
from srv6mgrd.cli.oam.command_line import exchanging, resolving
from srv6mgrd.cli.oam.exchange import Exchange, Outcome, Shot
from srv6mgrd.cli.oam.reply import cause
from srv6mgrd.cli.oam.target import Target
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.units import counted

_CHECK = "probe"
# A VRF has four sockets.
_VRFS_AT_ONCE = 32
_GAP, _TIMEOUT, _TRIES = 0.01, 1.0, 3


def probe() -> Iterator[Finding]:
    """Each SID that a VRF has routes through is reached, and the way back works."""
    try:
        with resolving() as resolver:
            edges = list(resolver.edges())
        outcomes = [one for part in _parts(edges) for one in _probed(part)]
    except Problem as problem:
        yield skip(_CHECK, str(problem))
        return
    if not edges:
        yield note(_CHECK, "no VRF has a route through a SID and an address to send from")
        return
    failed = [(edge, outcome) for edge, outcome in outcomes if not outcome.arrived]
    for edge, outcome in failed:
        yield _failure(edge, outcome)
    if not failed:
        slowest = max(outcome.seconds for _, outcome in outcomes) * 1e3
        vrfs = counted(len({edge.vrf for edge in edges}), "VRF")
        sids = counted(len(edges), "path")
        yield ok(_CHECK, f"{sids} of {vrfs} carried a packet and its answer, in {slowest:.1f} ms")


def _parts(edges: Sequence[Target]) -> Iterator[list[Target]]:
    """Edges of so many VRFs."""
    vrfs = {name: n for n, name in enumerate(dict.fromkeys(edge.vrf for edge in edges))}
    for _, part in groupby(edges, lambda edge: vrfs[edge.vrf] // _VRFS_AT_ONCE):
        yield list(part)


def _probed(edges: Sequence[Target]) -> list[tuple[Target, Outcome]]:
    with exchanging(*{edge.vrf for edge in edges}) as exchange:
        return probed(exchange, edges)


def probed(exchange: Exchange, edges: Iterable[Target]) -> list[tuple[Target, Outcome]]:
    """Each edge with its outcome; what is lost is tried again."""
    shots = {Shot(edge.legs[0][0]): edge for edge in edges}
    found: dict[Shot, Outcome] = {}
    for _ in range(_TRIES):
        left = [shot for shot in shots if shot not in found or not found[shot].arrived]
        found |= {one.shot: one for one in exchange.run(left, _GAP, _TIMEOUT)}
    return [(edge, found[shot]) for shot, edge in shots.items()]


def _failure(edge: Target, outcome: Outcome) -> Finding:
    if outcome.problem:
        why = f"this router: {outcome.problem}"
    elif outcome.reply is not None:
        why = f"{outcome.reply.sender}: {cause(outcome.reply)}"
    else:
        why = "no answer"
    message = f"VRF {edge.vrf}: {edge.prefix} is not reached through SID {edge.sid}: {why}"
    return fail(_CHECK, message, f"srv6ctl trace {edge.prefix} --vrf {edge.vrf}")
