"""``srv6ctl explain``: one SID, its status, drift and counters, and what its errors mean; or one
interface."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from srv6mgrd.cli.completion import sids as complete_sids
from srv6mgrd.cli.output import Cell, Column, Output
from srv6mgrd.cli.problem import Exit
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.units import ago, counted, short

if TYPE_CHECKING:
    from srv6mgrd.cli.explain.causes import Cause
    from srv6mgrd.cli.explain.evidence import Evidence

# RFC 8986, or the draft that has the behavior: what it does, and where that is written.
_BEHAVIORS = {
    "End": "goes on to the next segment (RFC 8986 section 4.1)",
    "End.X": "goes on to the next segment through one neighbor (RFC 8986 section 4.2)",
    "End.T": "looks the next segment up in a table of its own (RFC 8986 section 4.3)",
    "End.DX6": "takes IPv6 out and hands it to one neighbor (RFC 8986 section 4.4)",
    "End.DX4": "takes IPv4 out and hands it to one neighbor (RFC 8986 section 4.5)",
    "End.DT6": "takes IPv6 out and looks it up in a VRF (RFC 8986 section 4.6)",
    "End.DT4": "takes IPv4 out and looks it up in a VRF (RFC 8986 section 4.7)",
    "End.DT46": "takes IPv4 and IPv6 out and looks them up in a VRF (RFC 8986 section 4.8)",
    "End.DX2": "takes frames out and sends them on an interface (RFC 8986 section 4.9)",
    "End.B6.Encaps": "puts a segment list in front (RFC 8986 section 4.13)",
    "End.BPF": "runs a program of yours (Documentation/bpf, LWT_SEG6LOCAL)",
    "End.AS": "static service proxy (draft-ietf-spring-sr-service-programming section 6.1)",
    "End.AD": "dynamic service proxy (draft-ietf-spring-sr-service-programming section 6.2)",
    "End.AM": "masquerading service proxy (draft-ietf-spring-sr-service-programming section 6.3)",
}
_STYLES = {"certain": "bad", "likely": "warn", "possible": "dim"}


@click.command()
@click.argument("sid", metavar="SID|INTERFACE", shell_complete=complete_sids)
@click.option(
    "--listen",
    "seconds",
    metavar="SECONDS",
    type=click.FloatRange(0, 3600),
    default=1.0,
    help="Time to watch counters and packets to the SID (1); 0: do not watch.",
)
@json_option
@pass_session
def explain(session: Session, sid: str, seconds: float) -> None:
    """Explain the state of a SID or an interface, and the likely causes of a SID's errors.

    SID is a prefix, or an address within it. The exit status is 6 unless it is installed; for an
    interface, also if the kernel's state differs.
    """
    from srv6mgrd.cli.explain.causes import causes
    from srv6mgrd.cli.explain.evidence import gather
    from srv6mgrd.cli.explain.interface import explain as explain_interface
    from srv6mgrd.cli.explain.interface import is_declared
    from srv6mgrd.model.status import InstallStatus

    # No interface has a colon in its name, and every SID has one.
    if ":" not in sid and is_declared(sid, desired := session.desired()):
        if not explain_interface(session, desired, sid):
            sys.exit(Exit.FOUND)
        return
    found = gather(session, sid, seconds)
    session.warn_if_stale()
    seen = found.facts.heard or found.facts.dropped
    why = causes(found.sid, found.facts) if found.counters.errors or seen else []
    if session.out.as_json:
        session.out.json(_json(found, why))
    else:
        _print(session.out, found, why)
    if found.status.status is not InstallStatus.INSTALLED:
        sys.exit(Exit.FOUND)


def _print(out: Output, found: Evidence, why: list[Cause]) -> None:
    from srv6mgrd.cli.show.rows import leads_to, sid_json, status_cell

    sid, status, c, now = found.sid, found.status, found.counters, time.time_ns()
    out.line("SID ", Cell(str(sid.prefix), "name"))
    flavors = f", {' '.join(sorted(sid.flavors))}" if sid.flavors else ""
    facts: list[tuple[Cell | str, ...]] = [
        ("behavior", f"{sid.behavior}{flavors}: {_BEHAVIORS.get(sid.behavior, '')}"),
        ("leads to", leads_to(sid_json(sid))),
        ("locator", sid.locator),
    ]
    if found.exports:
        facts.append(("advertised", f"by BGP for VRF {', '.join(found.exports)}"))
    facts.append(("status", status_cell(status)))
    facts.append(("since", ago(status.since, now)))
    if status.reason:
        facts.append(("reason", status.reason))
    route = found.in_kernel
    facts.append(
        ("kernel", f"in table {route.table} on {route.device}")
        if route
        else ("kernel", Cell("it is not there", "bad"))
    )
    repaired = (
        f"repaired {counted(status.repairs, 'time')}, last {ago(status.last_repair, now)} ago"
    )
    facts.append(("drift", repaired if status.repairs else "none was found"))
    facts.append(("counted", f"{c.packets} packets, {c.octets} octets, {c.errors} errors"))
    if found.rate:
        packets, bits, errors = map(short, found.rate)
        facts.append(("now", f"{packets} packets/s, {bits} bit/s, {errors} errors/s"))
    columns = [Column(""), Column("")]
    out.table(columns, [(Cell(str(name), "head"), value) for name, value in facts], indent="  ")
    if why:
        _print_causes(out, found, why)
    elif not sid.counters:
        out.line("\nIt does not count: its counters are switched off (counters: false).")


def _print_causes(out: Output, found: Evidence, why: list[Cause]) -> None:
    out.line()
    out.line(
        f"{counted(found.counters.errors, 'error')}. What it most likely means, the surest first:"
    )
    for cause in why:
        out.item(["  ", Cell(f"{cause.how:9}", _STYLES[cause.how])], cause.what)
        out.item(["           -> "], cause.remedy)
    if all(cause.how == "possible" for cause in why):
        hint = (
            "No packet that it must drop came meanwhile: give it longer with --listen 10."
            if found.listened
            else "Packets were not looked at: run it as root, with --listen 10."
        )
        out.line(Cell(f"  {hint}", "dim"))


def _json(found: Evidence, why: list[Cause]) -> dict[str, Any]:
    from srv6mgrd.cli.show.rows import sid_json, status_json

    c = found.counters
    reported: dict[str, Any] = {
        **sid_json(found.sid),
        **status_json(found.status),
        "in-kernel": found.in_kernel is not None,
        "exported-by": list(found.exports),
        "counters": {"in-pkts": c.packets, "in-octets": c.octets, "in-errors": c.errors},
        "causes": [cause._asdict() for cause in why],
    }
    if found.rate:
        reported["rates"] = {n: round(v, 3) for n, v in found.rate._asdict().items()}
    return reported
