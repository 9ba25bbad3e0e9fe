"""The screen of ``top``, as rich draws it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Network

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from srv6mgrd.cli.rates import Rate
from srv6mgrd.cli.show.rows import UNKNOWN, behavior_of, leads_to
from srv6mgrd.cli.top.history import KEPT, History, sparkline
from srv6mgrd.cli.units import counted, short
from srv6mgrd.counters.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.model.desired import Sid

_STYLES = {
    InstallStatus.INSTALLED: "green",
    InstallStatus.PENDING: "yellow",
    InstallStatus.DRIFTED: "yellow",
    InstallStatus.UNSUPPORTED: "dim",
    InstallStatus.FAILED: "bold red",
}
_TREND = 24
# Lines that are not SIDs: the panel above, the table's heading and rule, keys below.
_FRAME = 10


class Order(StrEnum):
    """What the SIDs are ordered by."""

    RATE = "packets/s"
    BITS = "bit/s"
    ERRORS = "errors"
    SID = "SID"

    def next(self) -> Order:
        every = list(Order)
        return every[(every.index(self) + 1) % len(every)]


@dataclass(frozen=True, slots=True)
class Scene:
    """All that is on the screen. ``declared`` is empty where sysrepo can't be asked."""

    node: str
    clock: str
    about: str
    managed: bool
    history: History
    statuses: Mapping[ObjectRef, ObjectStatus]
    declared: Mapping[IPv6Network, Sid]
    order: Order = Order.RATE
    paused: bool = False
    first: int = 0
    height: int = 24
    plain: bool = False


def screen(scene: Scene) -> RenderableType:
    """The whole screen."""
    names = ordered(scene)
    room = max(1, scene.height - _FRAME)
    shown = names[scene.first : scene.first + room]
    return Group(_head(scene, names), _table(scene, shown), _foot(scene, names, shown))


def ordered(scene: Scene) -> list[str]:
    """SIDs in the order that was chosen; those alike by their prefix."""
    history = scene.history
    counters = history.last.counters if history.last else {}
    names = sorted(counters, key=IPv6Network)
    match scene.order:
        case Order.RATE:
            names.sort(key=lambda n: -history.now(n).packets)
        case Order.BITS:
            names.sort(key=lambda n: -history.now(n).bits)
        case Order.ERRORS:
            names.sort(key=lambda n: (-history.now(n).errors, -counters[n].errors))
    return names


def _head(scene: Scene, names: Sequence[str]) -> RenderableType:
    total = scene.history.total[-1] if scene.history.total else Rate()
    grid = Table.grid(padding=(0, 2), expand=True)
    for _ in range(3):
        grid.add_column(ratio=1)
    grid.add_row(
        _gauge("packets/s", total.packets, "bold cyan"),
        _gauge("bit/s", total.bits, "bold magenta"),
        _gauge("errors/s", total.errors, "bold red" if total.errors else "bold green"),
    )
    past = scene.history.total
    trends = ([r.packets for r in past], [r.bits for r in past], [r.errors for r in past])
    grid.add_row(
        *(
            Text(sparkline(values, KEPT // 2, plain=scene.plain), style)
            for values, style in zip(trends, ("cyan", "magenta", "red"), strict=True)
        )
    )
    standing = [scene.statuses.get(ObjectRef(Kind.SID, n), UNKNOWN).status for n in names]
    bad = sum(status is not InstallStatus.INSTALLED for status in standing)
    states = Text.assemble(
        (counted(len(names), "SID"), "bold"),
        (f", {bad} not installed" if bad else ", all installed", "yellow" if bad else "green"),
        "" if scene.managed else ("   srv6mgrd does not run: nothing moves", "bold red"),
        f"   {scene.about}",
    )
    title = Text.assemble(("srv6mgr", "bold"), f" on {scene.node}  {scene.clock}")
    return Panel(Group(grid, states), title=title, title_align="left", border_style="blue")


def _gauge(name: str, value: float, style: str) -> Text:
    return Text.assemble((f"{short(value):>6} ", style), (name, "dim"))


def _table(scene: Scene, names: Sequence[str]) -> RenderableType:
    table = Table(box=None, expand=True, pad_edge=False, header_style="bold")
    table.add_column("SID", style="cyan", no_wrap=True)
    table.add_column("BEHAVIOR", no_wrap=True)
    table.add_column("LEADS TO", no_wrap=True, overflow="ellipsis")
    for title in ("PKT/S", "BIT/S", "ERR/S"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column(f"LAST {_TREND} SAMPLES", style="cyan", no_wrap=True)
    for title in ("PACKETS", "ERRORS"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("STATUS", no_wrap=True)
    counters = scene.history.last.counters if scene.history.last else {}
    for name in names:
        table.add_row(*_row(scene, name, counters.get(name, SidCounters())))
    return table


def _row(scene: Scene, name: str, c: SidCounters) -> list[str | Text]:
    sid, rate = scene.declared.get(IPv6Network(name)), scene.history.now(name)
    status = scene.statuses.get(ObjectRef(Kind.SID, name), UNKNOWN)
    past = [r.packets for r in scene.history.of(name)]
    idle = "dim" if not rate.packets else ""
    return [
        name,
        behavior_of(sid) if sid else "?",
        leads_to(sid) if sid else "?",
        Text(short(rate.packets), idle),
        Text(short(rate.bits), idle),
        Text(short(rate.errors), "bold red" if rate.errors else "dim"),
        sparkline(past, _TREND, plain=scene.plain),
        short(c.packets),
        Text(short(c.errors), "red" if c.errors else "dim"),
        Text(status.status.text, _STYLES[status.status]),
    ]


def _foot(scene: Scene, names: Sequence[str], shown: Sequence[str]) -> RenderableType:
    hidden = len(names) - len(shown)
    more = f"   {scene.first + 1}-{scene.first + len(shown)} of {len(names)}" if hidden else ""
    return Text.assemble(
        ("\n q ", "reverse"), " quit  ", (" s ", "reverse"), f" by {scene.order.value}  ",
        (" p ", "reverse"), " go on  " if scene.paused else " pause  ",
        (" up down ", "reverse"), " scroll", (more, "dim"),
    )  # fmt: skip
