"""``srv6ctl ping``: whether packets come through a SID, to an address, or into a VPN and back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from srv6mgrd.cli.oam.command_line import probing, probing_options
from srv6mgrd.cli.oam.exchange import Outcome
from srv6mgrd.cli.oam.probe import Host, Loop, Vpn
from srv6mgrd.cli.oam.reply import Kind, cause
from srv6mgrd.cli.oam.rounds import Leg, Timing, rounds, times
from srv6mgrd.cli.oam.target import Options, Target
from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.problem import Exit
from srv6mgrd.cli.session import Session, json_option, pass_session


@click.command()
@probing_options
@click.option(
    "--count", "-c", type=click.IntRange(1, 100_000), default=5, metavar="N", show_default=True,
    help="Rounds of probes.",
)  # fmt: skip
@click.option(
    "--interval", "-i", type=click.FloatRange(0.01, 3600), default=1.0, metavar="SECONDS",
    show_default=True, help="Time between two rounds.",
)  # fmt: skip
@json_option
@pass_session
def ping(
    session: Session,
    target: str,
    options: Options,
    timeout: float,
    *,
    count: int,
    interval: float,
) -> None:
    """Send packets through a SID and back, to an address, or into a VPN (RFC 9259).

    SIDs of Linux answer no echo, so a packet goes through the SID and comes back. An address or a
    prefix in a VRF is probed twice: the SID of its route from outside, and the address itself
    through the VRF.

    The exit status is 0 if answers came, 1 if none came, 2 after an error. It needs root, and no
    service of srv6mgr.
    """
    with probing(target, options, timeout) as (found, exchange):
        legs = [Leg(forms) for forms in found.legs]
        if not session.out.as_json:
            session.out.line(_head(target, found))
        listed = []
        for number, outcome in rounds(exchange, legs, Timing(count, interval, timeout)):
            if session.out.as_json:
                listed.append(_json(number, outcome))
            else:
                _print(session, number, outcome, of_several=len(legs) > 1)
    if session.out.as_json:
        session.out.json(
            {
                "target": target,
                "vrf": found.vrf or None,
                "sid": str(found.sid) if found.sid is not None else None,
                "prefix": str(found.prefix) if found.prefix is not None else None,
                "probes": listed,
                "summary": [_summary(leg) for leg in legs],
            }
        )
    else:
        _print_summary(session, target, options.vrf, legs)
    if not legs[-1].arrived:
        sys.exit(Exit.REJECTED)


def _head(text: str, found: Target) -> str:
    probe = found.legs[0][0]
    through = " ".join(map(str, probe.segments))
    if isinstance(probe, Vpn):
        route = f"VRF {found.vrf} has {found.prefix} through {through}"
        return f"{text} from {probe.inner.source}: {route}"
    if isinstance(probe, Host):
        return f"{text} from {probe.source}: VRF {found.vrf} has {found.prefix}, through no SID"
    over = f" over {through}" if len(probe.segments) > 1 else ""
    return f"{text} from {probe.source}{over}"


def _print(session: Session, number: int, outcome: Outcome, *, of_several: bool) -> None:
    form = "SID" if isinstance(outcome.shot.probe, Vpn) else "host"
    what = f"{form:6}" if of_several else ""
    time = f"{outcome.seconds * 1e3:.3f} ms" if outcome.arrived else ""
    style = "" if outcome.arrived else "bad"
    session.out.line(
        f"{number:4}  {what}", Cell(f"{_said(outcome):40}", style), f"  {time}".rstrip()
    )


def _said(outcome: Outcome) -> str:
    """What became of a probe."""
    reply, probe = outcome.reply, outcome.shot.probe
    if reply is None:
        return f"this router: {outcome.problem}" if outcome.problem else "no answer"
    if not outcome.arrived:
        to = f" to {reply.quoted.destination}" if reply.quoted is not None else ""
        return f"{reply.sender}: {cause(reply)}{to}"
    if isinstance(probe, Loop):
        return "came back through it"
    if reply.kind is Kind.ECHO_REPLY:
        return f"answer of {reply.sender}"
    return f"taken out of the SID by {reply.sender}"


def _print_summary(session: Session, text: str, vrf: str, legs: Sequence[Leg]) -> None:
    for leg in legs:
        found, sent = times(leg.outcomes), len(leg.outcomes)
        name = f"SID {leg.form.segments[-1]}" if isinstance(leg.form, Vpn) else text
        said = f"{name}  {sent} sent, {len(leg.arrived)} arrived"
        if found is not None:
            shown = " ".join(f"{t * 1e3:.3f}" for t in (found.least, found.middle, found.most))
            said += f"; round trip {shown} ms (least, median, most)"
        session.out.line(said)
    if any(not leg.arrived for leg in legs):
        where = f" --vrf {vrf}" if vrf else ""
        session.out.line(f"srv6ctl trace {text}{where} shows how far packets come")


def _summary(leg: Leg) -> dict[str, Any]:
    found = times(leg.outcomes)
    return {
        "form": leg.form.form,
        "sent": len(leg.outcomes),
        "arrived": len(leg.arrived),
        "round-trip-ms": {
            "minimum": _ms(found.least),
            "median": _ms(found.middle),
            "maximum": _ms(found.most),
        }
        if found is not None
        else None,
    }


def _json(number: int, outcome: Outcome) -> dict[str, Any]:
    reply = outcome.reply
    reported: dict[str, Any] = {
        "round": number,
        "form": outcome.shot.probe.form,
        "arrived": outcome.arrived,
        "from": str(reply.sender) if reply is not None else None,
    }
    if outcome.arrived:
        reported["round-trip-ms"] = _ms(outcome.seconds)
    elif reply is not None:
        reported["cause"] = cause(reply)
        reported["next-sid"] = str(reply.quoted.destination) if reply.quoted else None
    else:
        reported["cause"] = outcome.problem or "no answer"
    return reported


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 3)
