"""Draw recorded terminals as SVG.

terminals.py TERMINALS TARGET
"""

from __future__ import annotations

import json
import re
import sys
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import Any

import pyte
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

# The part of a long terminal to draw: from the line with the first text to that before the second.
PARTS = {"demo": ("4. 10 pings", "6. Tenants")}
# Rich's picture without the fonts that it would load from another host.
FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
<rect fill="#1d2129" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
NAMES = {"brown": "yellow"}


def main(terminals: Path, target: Path) -> int:
    target.mkdir(parents=True, exist_ok=True)
    for name, recorded in json.loads(terminals.read_text()).items():
        lines = drawn(recorded)
        if name in PARTS:
            lines = part(lines, *PARTS[name])
        (target / f"{name}.svg").write_text(svg(name, lines, recorded["columns"]))
    return 0


def drawn(recorded: dict[str, Any]) -> list[Text]:
    """The lines of the last screen that has anything on it."""
    screen = pyte.Screen(recorded["columns"], recorded["rows"])
    # A program that owns the screen gives it back when it ends.
    output = recorded["output"].partition("\x1b[?1049l")[0]
    pyte.Stream(screen).feed(output)
    lines = [line(screen.buffer[row], recorded["columns"]) for row in range(recorded["rows"])]
    while lines and not lines[-1].plain.strip():
        lines.pop()
    return lines


def line(cells: Any, columns: int) -> Text:
    text = Text()
    for style, run in groupby((cells[column] for column in range(columns)), key=look):
        text.append("".join(cell.data for cell in run), style)
    text.rstrip()
    return text


def look(cell: Any) -> Style:
    return Style(color=color(cell.fg), bgcolor=color(cell.bg), bold=cell.bold)


def color(name: str) -> str | None:
    if name == "default":
        return None
    if re.fullmatch("[0-9a-f]{6}", name):
        return f"#{name}"
    name = NAMES.get(name, name)
    return f"bright_{name[6:]}" if name.startswith("bright") else name


def part(lines: list[Text], first: str, end: str) -> list[Text]:
    plain = [text.plain for text in lines]
    start = next(at for at, text in enumerate(plain) if text.startswith(first))
    stop = next(at for at, text in enumerate(plain) if text.startswith(end))
    return lines[start : stop - 1]


def svg(name: str, lines: list[Text], columns: int) -> str:
    width = min(columns, max(len(text.plain) for text in lines) + 1)
    console = Console(record=True, width=width, file=StringIO(), force_terminal=True)
    for text in lines:
        console.print(text, no_wrap=True, crop=True)
    picture = console.export_svg(
        title=name, theme=MONOKAI, code_format=FORMAT, unique_id=f"terminal-{name}"
    )
    return re.sub(r"[ \t]+$", "", picture, flags=re.M)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
