"""``top`` where output is no terminal: a line about the node, and a table of all SIDs."""

from __future__ import annotations

from srv6mgrd.cli.output import Column, Output, Row
from srv6mgrd.cli.rates import Rate
from srv6mgrd.cli.show.rows import UNKNOWN, behavior_of, leads_to
from srv6mgrd.cli.top.scene import Scene
from srv6mgrd.cli.units import counted, short
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, SidCounters

_COLUMNS = (
    *(Column(title) for title in ("SID", "BEHAVIOR", "LEADS TO")),
    *(Column(title, right=True) for title in ("PKT/S", "BIT/S", "ERR/S", "PACKETS", "ERRORS")),
    Column("DROPPED FOR"),
    Column("STATUS"),
)
_STATUSES = {status: status.text for status in InstallStatus}
_NOTHING = SidCounters()


def show(out: Output, scene: Scene) -> None:
    """Print all of it."""
    total = scene.history.total[-1] if scene.history.total else Rate()
    packets, bits, errors = map(short, total)
    out.line(
        f"srv6mgr on {scene.node}  {scene.clock}  {packets} packets/s  {bits} bit/s"
        f"  {errors} errors/s"
    )
    installed = f"{scene.bad} not installed" if scene.bad else "all installed"
    stopped = "" if scene.managed else "  srv6mgrd does not run: nothing moves"
    out.line(f"{counted(len(scene.names), 'SID')}, {installed}{stopped}  {scene.about}")
    out.line()
    counters = scene.history.last.counters if scene.history.last else {}
    out.table(_COLUMNS, [_row(scene, name, counters.get(name, _NOTHING)) for name in scene.names])


def _row(scene: Scene, name: str, counters: SidCounters) -> Row:
    sid = scene.declared.get(name)
    # Nothing has a colour here.
    return (
        name,
        behavior_of(sid) if sid else "?",
        leads_to(sid) if sid else "?",
        *map(short, scene.history.now(name)),
        short(counters.packets),
        str(counters.errors),
        scene.drops.get(name, ""),
        _STATUSES[scene.statuses.get(ObjectRef(Kind.SID, name), UNKNOWN).status],
    )
