"""``srv6ctl doctor``: whether this node can do what is declared, and does; with remedies."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.units import counted

if TYPE_CHECKING:
    from srv6mgrd.cli.doctor.finding import Finding
    from srv6mgrd.kinds.boundary.object import Boundary, UnknownBoundary
    from srv6mgrd.model.desired import Desired

# Exit statuses of monitoring plug-ins.
_DEGRADED, _DOWN, _UNKNOWN = 1, 2, 3
# Where this could not be looked at, the state of services is unknown.
_SERVICE_CHECK = "service"
_STYLES = {"ok": "good", "note": "dim", "skip": "dim", "warn": "warn", "fail": "bad"}


@click.command()
@click.option("--quiet", "-q", is_flag=True, help="Print only warnings and failures.")
@click.option(
    "--probe", "probes", is_flag=True, help="Send packets through the VPNs, to each edge and back."
)
@json_option
@pass_session
def doctor(session: Session, quiet: bool, probes: bool) -> None:
    """Find faults on this router, and print their remedies.

    Services of VRFs, daemons, BGP sessions, measured paths, kernel, sysctls, links, rules, routes,
    the boundary. It changes nothing, and works without srv6mgrd and without sysrepo. The exit
    status is that of monitoring plug-ins: 0 ok, 1 degraded (warnings), 2 down (failures), 3
    unknown (the state of services could not be read).
    """
    found = []
    with session.one_look():
        for finding in chain(checks(session), _probes() if probes else ()):
            found.append(finding)
            if not session.out.as_json and not (quiet and finding.level not in {"warn", "fail"}):
                _print(session, finding)
    levels = Counter(finding.level.value for finding in found)
    if session.out.as_json:
        session.out.json({"findings": [f._asdict() for f in found], "summary": dict(levels)})
    else:
        bad = f"{counted(levels['fail'], 'failure')}, {counted(levels['warn'], 'warning')}"
        session.out.line()
        session.out.line(
            Cell(bad, "bad" if levels["fail"] else "warn" if levels["warn"] else "good"),
            f"; {levels['ok']} checks are well",
        )
    sys.exit(_status(found))


def _status(found: Sequence[Finding]) -> int:
    """As monitoring plug-ins end."""
    levels = {finding.level.value for finding in found}
    if "fail" in levels:
        return _DOWN
    if any(f.level.value == "skip" and f.check == _SERVICE_CHECK for f in found):
        return _UNKNOWN
    return _DEGRADED if "warn" in levels else Exit.DONE


def _probes() -> Iterator[Finding]:
    from srv6mgrd.cli.doctor.probe import probe

    return probe()


def _print(session: Session, finding: Finding) -> None:
    style = _STYLES[finding.level]
    head = Cell(f"{finding.level:5}", style), Cell(f"{finding.check:14}", "head")
    session.out.item(head, finding.message)
    if finding.remedy:
        session.out.item([" " * 19, "-> "], finding.remedy)


def checks(session: Session) -> Iterator[Finding]:
    """Every finding, as the checks come to it."""
    from srv6mgrd.cli.doctor import services
    from srv6mgrd.cli.doctor.finding import SELF_REPAIR, skip
    from srv6mgrd.cli.doctor.frr import frr
    from srv6mgrd.cli.doctor.host import host
    from srv6mgrd.cli.doctor.kernel import kernel, probed
    from srv6mgrd.cli.doctor.networkd import networkd
    from srv6mgrd.cli.doctor.paths import paths
    from srv6mgrd.cli.doctor.vpn import vpn
    from srv6mgrd.counters.node import CAPABILITIES

    settings = session.settings
    if os.geteuid():
        yield skip("rights", "not all can be looked at", "run srv6ctl doctor as root")
    yield from services.srv6mgrd(session)
    yield from services.storage(session)
    yield from services.sysrepo(session)
    desired, why = session.desired_or_nothing()
    if session.state.managed:
        try:
            yield from vpn(session.state.observed())
        except Problem as problem:
            yield skip("service", str(problem))
    else:
        yield skip("service", "nothing is known of it while srv6mgrd does not run")
    yield from services.redis(settings.redis_socket)
    yield from host(settings)
    yield from frr(Path(settings.frr_directory), desired)
    yield from networkd()
    if desired is not None and session.state.managed:
        try:
            yield from paths(desired.path_measurement, session.state.observed())
        except Problem as problem:
            yield skip("paths", str(problem))
    reported = session.state.node().get(CAPABILITIES, {}) if session.state.managed else {}
    offered = reported or probed()
    yield from kernel(offered)
    resumed = services.resumed(session)
    try:
        for finding in _network(desired, why, offered):
            remedy = finding.remedy.replace(SELF_REPAIR, resumed or SELF_REPAIR)
            yield finding._replace(remedy=remedy)
    except Problem as problem:
        yield skip("network", str(problem))


def _network(desired: Desired | None, why: str, offered: Mapping[str, Any]) -> Iterator[Finding]:
    from srv6mgrd.apply.admission import Admission
    from srv6mgrd.cli import host
    from srv6mgrd.cli.doctor import network
    from srv6mgrd.cli.doctor.finding import skip
    from srv6mgrd.model.capabilities import FRR_LOOKUP_TABLE, ROUTE_LOOKUP_TABLE
    from srv6mgrd.plan.target import target

    seen = host.read(routes=True)
    yield from network.shared_tables(seen)
    if desired is None:
        yield skip("network", f"what is declared is not known: {why}")
        return
    # What a start rejected is not looked for.
    desired = Admission(lambda _: []).take(desired).valid
    offers = offered.get("facility", ())
    wanted = target(
        desired,
        {link.name: link.index for link in seen.links.values()},
        lookup_tables=ROUTE_LOOKUP_TABLE in offers,
        bgp_lookup_tables=FRR_LOOKUP_TABLE in offers,
    ).objects
    yield from network.devices(wanted.values(), seen)
    yield from network.interfaces(desired, seen)
    yield from network.sysctls(wanted.values(), seen, host.sysctl)
    yield from network.rp_filter(wanted.values(), host.sysctl("net/ipv4/conf/all/rp_filter"))
    yield from network.rules(wanted, seen)
    yield from network.routes(wanted, seen)
    yield from network.source(desired, seen)
    yield from network.domain_of(desired, seen)
    if os.geteuid():
        yield skip("boundary", "it can't be read", "run srv6ctl doctor as root")
    else:
        yield from network.boundary(wanted.values(), _filter())


def _filter() -> Boundary | UnknownBoundary | None:
    """The filter at the boundary, as installed."""
    from srv6mgrd.kinds.boundary.kernel import BoundaryTable
    from srv6mgrd.kinds.boundary.object import Boundary, UnknownBoundary

    table = BoundaryTable()
    try:
        for found in table.observed():
            if isinstance(found.object, Boundary | UnknownBoundary):
                return found.object
        return None
    finally:
        table.close()
