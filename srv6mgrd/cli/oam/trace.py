"""``srv6ctl trace``: the routers on the way through SIDs, and where packets stop."""

from __future__ import annotations

import sys
from typing import Any

import click

from srv6mgrd.cli.oam.command_line import probing, probing_options
from srv6mgrd.cli.oam.exchange import Exchange
from srv6mgrd.cli.oam.hops import End, Hop, Limits, Trace, Traced
from srv6mgrd.cli.oam.probe import Host, Vpn
from srv6mgrd.cli.oam.target import Options, Target
from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.session import Session, json_option, pass_session

_HINT = "a SID that takes packets out for a VRF drops others: for such a one name the VRF (--vrf)"


@click.command()
@probing_options
@click.option(
    "--max-hops", type=click.IntRange(1, 255), default=30, metavar="N", show_default=True,
    help="Largest number of hops to probe.",
)  # fmt: skip
@json_option
@pass_session
def trace(
    session: Session, target: str, options: Options, timeout: float, *, max_hops: int
) -> None:
    """List the routers on the way through SIDs, and where packets stop (RFC 9259).

    TO is the destination of the packet at that router: the SID, the rest of a container of
    compressed SIDs, or the target. LEFT is the number of segments left after it.

    The exit status is 0 if packets arrive, 1 if they do not, 2 after an error. It needs root, and
    no service of srv6mgr.
    """
    with probing(target, options, timeout) as (found, exchange):
        one = _Run(session, target, found, exchange, Limits(max_hops, timeout))
        end = one.run()
    if session.out.as_json:
        session.out.json(one.json())
    else:
        session.out.line(Cell(end.message, "good" if end.arrived else "bad"))
        if end.is_silence and not found.vrf:
            session.out.line(_HINT)
    if not end.arrived:
        sys.exit(Exit.REJECTED)


class _Run:
    def __init__(
        self, session: Session, text: str, found: Target, exchange: Exchange, limits: Limits
    ) -> None:
        self._out = session.out
        self._text = text
        self._target = found
        # Of the forms that none answered the first one: it has no more headers than it needs.
        probe = found.legs[0][0]
        if not isinstance(probe, Traced):
            cause = f"VRF {found.vrf} has {found.prefix} through no SID"
            raise Problem.of(text, cause, f"ip vrf exec {found.vrf} traceroute {text}", Exit.USAGE)
        self._probe = probe
        self._trace = Trace(exchange, probe, limits)

    def run(self) -> End:
        """Prints hops as they come."""
        if not self._out.as_json:
            self._out.line(self._head())
            self._out.line(Cell(f"{'HOP':>3}  {'ROUTER':24}{'TIME':>12}  {'LEFT':>4}  TO", "head"))
        for hop in self._trace.hops():
            self._print(hop)
        behind = any(isinstance(probe, Host) for leg in self._target.legs for probe in leg)
        if behind and self._trace.end.arrived and not self._trace.end.at_host:
            for hop in self._trace.inner_hops():
                self._print(hop)
        return self._trace.end

    def _head(self) -> str:
        through = " ".join(map(str, self._probe.segments))
        if isinstance(self._probe, Vpn):
            return (
                f"{self._text}: VRF {self._target.vrf} has {self._target.prefix} through {through}"
            )
        return f"{self._text} from {self._probe.source} over {through}"

    def _print(self, hop: Hop) -> None:
        if self._out.as_json:
            return
        router = str(hop.router) if hop.router is not None else "*"
        time = f"{hop.seconds * 1e3:.3f} ms" if hop.router is not None else ""
        left = "" if hop.left is None else str(hop.left)
        active = "" if hop.active is None else str(hop.active)
        note = f"  {hop.note}" if hop.note else ""
        line = f"{hop.number:3}  {router:24}{time:>12}  {left:>4}  {active}{note}"
        self._out.line(line.rstrip())

    def json(self) -> dict[str, Any]:
        end = self._trace.end
        return {
            "target": self._text,
            "vrf": self._target.vrf or None,
            "sid": str(self._target.sid) if self._target.sid is not None else None,
            "form": self._probe.form,
            "segments": [str(one) for one in self._probe.segments],
            "hops": [_json(hop) for hop in self._trace.found],
            "arrived": end.arrived,
            "message": end.message,
            "last-router": str(end.router) if end.router is not None else None,
            "last-hop": end.after or None,
            "next-sid": str(end.next_sid) if end.next_sid is not None else None,
        }


def _json(hop: Hop) -> dict[str, Any]:
    return {
        "hop": hop.number,
        "router": str(hop.router) if hop.router is not None else None,
        "round-trip-ms": round(hop.seconds * 1e3, 3) if hop.router is not None else None,
        "to": str(hop.active) if hop.active is not None else None,
        "segments-left": hop.left,
        "note": hop.note or None,
    }
