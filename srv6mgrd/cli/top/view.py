"""The screen of ``top``, as rich draws it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, JustifyMethod, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from srv6mgrd.cli.rates import Rate
from srv6mgrd.cli.show.rows import UNKNOWN, behavior_of, leads_to
from srv6mgrd.cli.top.history import KEPT, sparkline
from srv6mgrd.cli.top.scene import Scene
from srv6mgrd.cli.units import counted, short
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, SidCounters

_STYLES = {
    InstallStatus.INSTALLED: "green",
    InstallStatus.PENDING: "yellow",
    InstallStatus.DRIFTED: "yellow",
    InstallStatus.UNSUPPORTED: "dim",
    InstallStatus.FAILED: "bold red",
    InstallStatus.REJECTED: "bold red",
    InstallStatus.UNKNOWN: "yellow",
}
# Samples, and the fewest that are worth a column.
_TREND, _SHORTEST_TREND = 24, 6
_PAST, _DROPS = "TREND", "DROPPED FOR"
_NUMBERS = ("PKT/S", "BIT/S", "ERR/S", "PACKETS", "ERRORS")
_TITLES = (
    "SID", "BEHAVIOR", "LEADS TO", "PKT/S", "BIT/S", "ERR/S", _DROPS, _PAST, "PACKETS", "ERRORS",
    "STATUS",
)  # fmt: skip
# What a narrow screen does without: the first to go comes first.
_SPARED = ("ERRORS", "PACKETS", _PAST, "LEADS TO", "BIT/S", _DROPS)
# Lines that are not SIDs: the panel above, the table's heading and rule, keys below.
_FRAME = 10


def screen(scene: Scene) -> RenderableType:
    """The whole screen."""
    names = scene.names
    room = max(1, scene.height - _FRAME)
    shown = names[scene.first : scene.first + room]
    return Group(_head(scene), _table(scene, shown), _foot(scene, names, shown))


def _head(scene: Scene) -> RenderableType:
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
    room = min(KEPT // 2, scene.width // 3 - 4)
    trends = ([r.packets for r in past], [r.bits for r in past], [r.errors for r in past])
    grid.add_row(
        *(
            Text(sparkline(values, room, plain=scene.plain), style)
            for values, style in zip(trends, ("cyan", "magenta", "red"), strict=True)
        )
    )
    bad = scene.bad
    states = Text.assemble(
        (counted(len(scene.names), "SID"), "bold"),
        (f", {bad} not installed" if bad else ", all installed", "yellow" if bad else "green"),
        "" if scene.managed else ("   srv6mgrd does not run: nothing moves", "bold red"),
        f"   {scene.about}",
    )
    title = Text.assemble(("srv6mgr", "bold"), f" on {scene.node}  {scene.clock}")
    return Panel(Group(grid, states), title=title, title_align="left", border_style="blue")


def _gauge(name: str, value: float, style: str) -> Text:
    return Text.assemble((f"{short(value):>6} ", style), (name, "dim"))


def _table(scene: Scene, names: Sequence[str]) -> RenderableType:
    columns = _fitting(_columns(scene, names), scene.width)
    table = Table(box=None, expand=True, pad_edge=False, header_style="bold")
    for title in columns:
        style = "cyan" if title in ("SID", _PAST) else None
        justify: JustifyMethod = "right" if title in _NUMBERS else "left"
        table.add_column(title, style=style, justify=justify, no_wrap=True, overflow="ellipsis")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def _columns(scene: Scene, names: Sequence[str]) -> dict[str, list[Text]]:
    """Cells of each column, from the left."""
    counters = scene.history.last.counters if scene.history.last else {}
    columns: dict[str, list[Text]] = {title: [] for title in _TITLES}
    for name in names:
        row = _row(scene, name, counters.get(name, SidCounters()))
        for title, cell in zip(_TITLES, row, strict=True):
            columns[title].append(cell)
    # On a node without any there is no need to say so.
    if not scene.drops:
        del columns[_DROPS]
    return columns


def _fitting(columns: dict[str, list[Text]], width: int) -> dict[str, list[Text]]:
    """The columns that fit side by side; a terminal of 80 has no room for all."""
    for title in _SPARED:
        over = _width(columns) - width
        if over <= 0:
            break
        if title == _PAST and (left := _TREND - over) >= _SHORTEST_TREND:
            columns[_PAST] = [cell[max(0, len(cell) - left) :] for cell in columns[_PAST]]
        else:
            del columns[title]
    return columns


def _width(columns: Mapping[str, Sequence[Text]]) -> int:
    widest = [max(len(title), *map(len, cells), 0) for title, cells in columns.items()]
    return sum(widest) + 2 * (len(columns) - 1)


def _row(scene: Scene, name: str, c: SidCounters) -> list[Text]:
    sid, rate = scene.declared.get(name), scene.history.now(name)
    status = scene.statuses.get(ObjectRef(Kind.SID, name), UNKNOWN)
    past = [r.packets for r in scene.history.of(name)]
    idle = "dim" if not rate.packets else ""
    return [
        Text(name),
        Text(behavior_of(sid) if sid else "?"),
        Text(leads_to(sid) if sid else "?"),
        Text(short(rate.packets), idle),
        Text(short(rate.bits), idle),
        Text(short(rate.errors), "bold red" if rate.errors else "dim"),
        Text(scene.drops.get(name, ""), "red"),
        Text(sparkline(past, _TREND, plain=scene.plain)),
        Text(short(c.packets)),
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
