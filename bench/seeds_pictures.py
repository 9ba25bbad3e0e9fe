"""The figures of the texts, from the runs of ``bench.seeds``: docs/figures/NAME-THEME.svg.

Only what the last runs hold is drawn; the other pictures stay as they are.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.axes import Axes

RUNS = Path("build/bench")
FIGURES = Path("docs/figures")
_SIZE = (7.2, 3.6)
_K = 1000

# Goals of the last run by name: their runs.
Runs = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Theme:
    """Colors that differ for any kind of color vision (Okabe and Ito)."""

    name: str
    ink: str
    grid: str
    # On a bar.
    inside: str
    colors: tuple[str, ...]


THEMES = (
    Theme(
        "light",
        "#24292f",
        "#d0d7de",
        "#ffffff",
        ("#57606a", "#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    ),
    Theme(
        "dark",
        "#e6edf3",
        "#3d444d",
        "#0d1117",
        ("#9198a1", "#56b4e9", "#e69f00", "#2fbf8f", "#e29fc4"),
    ),
)
MARKS = ("o", "s", "^", "D", "v")


def main() -> int:
    curves = _read("seeds-curves.json")
    report = _read("seeds.json").get("goals", [])
    # Without the deviation, which names of scenarios have in brackets.
    runs = {goal["name"].partition(" (std")[0]: goal["ours"] for goal in report}
    drawn = [
        *_draw("throughput", curves.get("curves"), _throughput, rows=2),
        *_draw("partial-drop-rates", curves.get("rates"), _partial_drop_rates),
        *_draw("rules", curves.get("rates"), _rules),
        *_draw("goodput", _starting(runs, "SRNK: goodput, "), _goodput),
        *_draw("behaviors", _starting(runs, "as parts of IPv6: "), _behaviors),
    ]
    print(f"pictures: {', '.join(drawn) or 'no runs to draw'}")
    return 0


def _read(name: str) -> Mapping[str, object]:
    file = RUNS / name
    return json.loads(file.read_text()) if file.exists() else {}


def _starting(runs: Runs, prefix: str) -> Runs:
    return {name.removeprefix(prefix): v for name, v in runs.items() if name.startswith(prefix)}


def _draw(name: str, data: object, draw: Callable[..., None], rows: int = 1) -> list[str]:
    """One picture in each theme; the names of those that were drawn."""
    if not data:
        return []
    FIGURES.mkdir(parents=True, exist_ok=True)
    for theme in THEMES:
        mpl.rcParams.update({
            # The same runs make the same file; text stays text.
            "svg.hashsalt": "srv6mgr", "svg.fonttype": "none", "font.family": "sans-serif",
            "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"], "font.size": 9,
            "text.color": theme.ink, "axes.labelcolor": theme.ink, "axes.edgecolor": theme.grid,
            "xtick.color": theme.ink, "ytick.color": theme.ink, "grid.color": theme.grid,
            "axes.prop_cycle": mpl.cycler(color=theme.colors, marker=MARKS),
            "lines.markersize": 4, "legend.frameon": False, "axes.spines.top": False,
            "axes.spines.right": False,
        })  # fmt: skip
        figure, axes = pyplot.subplots(
            rows, 1, sharex=True, squeeze=False, layout="constrained",
            figsize=(_SIZE[0], _SIZE[1] * (1 + 0.5 * (rows - 1))),
        )  # fmt: skip
        for row in axes[:, 0]:
            row.grid(axis="y", linewidth=0.6)
            row.set_axisbelow(True)
        draw(data, theme, *axes[:, 0])
        file = FIGURES / f"{name}-{theme.name}.svg"
        figure.savefig(file, transparent=True, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    return [name]


def _throughput(
    curves: Mapping[str, Mapping[str, list[list[float]]]], theme: Theme, top: Axes, below: Axes
) -> None:
    """As Figs. 7 and 8."""
    for name, points in curves.items():
        rates = [rate / _K for (rate,) in points["rate"]]
        _line(top, rates, points["throughput"], name, _K)
        _line(below, rates, points["delivered"], name)
    top.set_ylabel("throughput [kpps]")
    top.legend()
    below.axhline(0.995, color=theme.ink, linewidth=0.8, linestyle=":", marker="")
    below.set_ylim(0.6, 1.02)
    below.set_ylabel("delivery ratio")
    below.set_xlabel("offered rate [kpps]")


def _partial_drop_rates(rates: Runs, theme: Theme, axes: Axes) -> None:
    """As Tables II and III."""
    names = [name for name in rates if "one of" not in name and "rules for" not in name]
    _bars(axes, names, [[rate / _K for rate in rates[name]] for name in names], theme)
    axes.set_xlabel("PDR at 0.5 % loss [kpps]")


def _rules(rates: Runs, theme: Theme, axes: Axes) -> None:
    """As Fig. 9."""
    for label, wanted in (("a rule for each function", "rules for"), ("proxies", "one of")):
        found = {int(_number(name)): runs for name, runs in rates.items() if wanted in name}
        _line(axes, list(found), list(found.values()), label, _K)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("PDR at 0.5 % loss [kpps]")
    axes.set_xlabel("functions")
    axes.legend()


def _goodput(runs: Runs, theme: Theme, axes: Axes) -> None:
    """Of appendix D."""
    lines: dict[str, dict[int, Sequence[float]]] = {}
    for name, values in runs.items():
        encapsulation, segments = name.rsplit(", ", 1)
        lines.setdefault(encapsulation, {})[int(_number(segments))] = values
    for encapsulation, points in lines.items():
        # The best of each: TCP sends again what a disturbed machine loses.
        _line(axes, list(points), [[max(values)] for values in points.values()], encapsulation)
    axes.set_ylabel("TCP payload of what is sent [%]")
    axes.set_xlabel("segments")
    axes.legend()


def _behaviors(runs: Runs, theme: Theme, axes: Axes) -> None:
    """The scenarios of the two commit messages. Other load changes from boot to boot, so each is a
    share of plain forwarding at the same time."""
    # Both kernels of a scenario side by side.
    names = sorted(runs, key=lambda name: name.partition(", ")[0])
    _bars(axes, names, [[100 * share for share in runs[name]] for name in names], theme)
    axes.set_xlabel("packets per second [% of plain IPv6 forwarding]")


def _number(name: str) -> str:
    return next(word for word in name.split() if word.isdecimal())


def _line(
    axes: Axes, x: Sequence[float], runs: Sequence[Sequence[float]], label: str, unit: int = 1
) -> None:
    middle = [statistics.median(values) / unit for values in runs]
    spread = [statistics.stdev(values) / unit if len(values) > 1 else 0.0 for values in runs]
    axes.errorbar(x, middle, yerr=spread if any(spread) else None, label=label, capsize=2,
                  linewidth=1.2)  # fmt: skip


def _bars(axes: Axes, names: Sequence[str], runs: Sequence[Sequence[float]], theme: Theme) -> None:
    """From top to bottom, so that long names have room."""
    middle = [statistics.fmean(values) for values in runs]
    spread = [statistics.stdev(values) for values in runs]
    bars = axes.barh(names, middle, xerr=spread, height=0.62, color=theme.colors[1],
                     ecolor=theme.ink, capsize=3)  # fmt: skip
    axes.bar_label(bars, fmt="%.3g", label_type="center", color=theme.inside)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x", linewidth=0.6)


if __name__ == "__main__":
    sys.exit(main())
