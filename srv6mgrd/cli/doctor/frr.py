"""FRR: which one runs, what it lacks, and whether its BGP sessions are up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from srv6mgrd.cli.doctor.finding import Finding, fail, note, or_ok, skip, warn
from srv6mgrd.cli.units import counted
from srv6mgrd.frr import isis_status
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.status import sessions
from srv6mgrd.frr.vty import Shows, VtyError
from srv6mgrd.model.bgp import Bgp
from srv6mgrd.model.capabilities import FrrCapabilities
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.isis import Isis
from srv6mgrd.model.outcomes import carried, exports

# What frr-patches/build.sh adds to the version.
_PATCHED = "+srv6mgr"
# bgpd listens in each VRF by IPv4 and IPv6 (bgp_socket); it has 25 at the start, and one for each
# session and vty.
_FOR_EACH_VRF, _AT_THE_START = 2, 25


def frr(directory: Path, desired: Desired | None) -> Iterator[Finding]:
    """What of it matters for what is declared; all of it where that is not known."""
    sockets = FrrSockets(directory)
    needed = desired is not None and bool(carried(desired))
    try:
        capabilities = sockets.capabilities()
    except (VtyError, OSError) as error:
        yield warn("frr", str(error), "see the logs of zebra and bgpd")
        return
    yield from capabilities_of_frr(capabilities, needed=needed)
    if desired is None or "frr" in capabilities.missing:
        return
    yield from descriptors(desired, _limit(directory))
    if desired.bgp is not None and exports(desired):
        yield from neighbors(desired.bgp, sockets)
    if desired.isis is not None:
        yield from underlay(desired, desired.isis, sockets)


def capabilities_of_frr(capabilities: FrrCapabilities, *, needed: bool) -> Iterator[Finding]:
    """Its version, stock or patched, and what it lacks. ``needed`` by what is declared."""
    if "frr" in capabilities.missing:
        cause, _, remedy = capabilities.missing["frr"].partition("; ")
        yield (fail if needed else note)("frr", cause, remedy)
        return
    lacking = [
        warn("frr", f"{name} is not offered: {reason}", "use FRR 10.3 or newer")
        for name, reason in capabilities.missing.items()
    ]
    patched = _PATCHED in capabilities.version
    which = f"{capabilities.version} ({'with the patches of srv6mgr' if patched else 'stock'})"
    yield from or_ok("frr", f"version {which} knows all that is written", lacking)
    lacks = "exports from one locator only"
    if patched:
        yield note("frr", f"it {lacks}; zebra's own copies of SIDs count with sid-counters alone")
        return
    yield note(
        "frr",
        f"it {lacks}; zebra's own copies of SIDs don't count, those of srv6mgr do; bgpd ends when"
        " a neighbor gets a capability for VPN routes on a session that is up",
        "nothing has to be done; frr-patches/README.md says what each patch mends",
    )


def _limit(directory: Path) -> int | None:
    """How many file descriptors bgpd may have (proc(5)); None where that is not known."""
    with suppress(OSError, ValueError):
        number = int((directory / "bgpd.pid").read_text())
        for line in Path(f"/proc/{number}/limits").read_text().splitlines():
            if line.startswith("Max open files"):
                return int(line.split()[3])
    return None


def descriptors(desired: Desired, limit: int | None) -> Iterator[Finding]:
    """bgpd has enough for the VRFs that are declared."""
    vrfs = [vrf for vrf in desired.vrfs.values() if vrf.bgp is not None]
    sessions = sum(len(bgp.neighbors) for bgp in (desired.bgp, *(v.bgp for v in vrfs)) if bgp)
    needed = _AT_THE_START + _FOR_EACH_VRF * len(vrfs) + sessions
    if limit is None or needed <= limit:
        return
    yield warn(
        "frr",
        f"bgpd may have {limit} file descriptors and needs {needed} for"
        f" {counted(len(vrfs), 'VRF')} and {counted(sessions, 'session')}: without one it takes"
        " neither sessions nor configuration",
        "raise LimitNOFILE of frr.service (systemctl edit frr), and restart FRR",
    )


def neighbors(bgp: Bgp, shows: Shows) -> list[Finding]:
    """The sessions that carry VPN routes are up."""
    try:
        states = sessions(shows)
    except VtyError as error:
        return [skip("bgp", str(error))]
    message = f"{counted(len(bgp.neighbors), 'session')} for VPN routes established"
    return or_ok("bgp", message, _down(bgp, states)) if bgp.neighbors else [_alone()]


def underlay(desired: Desired, isis: Isis, shows: Shows) -> list[Finding]:
    """IS-IS carries the locator to other routers."""
    remedy = (
        "isisd=yes in /etc/frr/daemons; vtysh -c 'show isis neighbor' and 'show isis interface'"
    )
    said = {True: "is advertised, but", False: "does not reach other routers:"}
    missing = [
        warn("isis", f"locator {ref.name} {said[reaches]} {reason}", remedy)
        for ref, (reaches, reason) in isis_status.status(desired, shows).items()
        if reason
    ]
    message = f"locator {isis.locator} is advertised, every interface has a neighbor"
    return or_ok("isis", message, missing)


def _down(bgp: Bgp, states: dict[str, str]) -> Iterator[Finding]:
    for neighbor in bgp.neighbors:
        state = states.get(neighbor.address, "")
        if state == "Established":
            continue
        message = f"the session with {neighbor.address} is {state}: no VPN routes come or go"
        if not state:
            message = f"no VPN routes are exchanged with {neighbor.address}"
        yield warn(
            "bgp",
            message,
            f"ping {neighbor.address}; its AS, password and families: vtysh -c 'show bgp neighbors"
            f" {neighbor.address}'",
        )


def _alone() -> Finding:
    message = "VRFs are in BGP, and there is no neighbor"
    return warn("bgp", message, "declare one below bgp/neighbors")
