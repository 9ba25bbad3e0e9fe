"""How srv6ctl prints: aligned tables for people, JSON for programs; colours on terminals only."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from srv6mgrd.cli.problem import Complaint

_CODES = {
    "good": "32",
    "bad": "1;31",
    "warn": "33",
    "dim": "2",
    "head": "1",
    "name": "36",
}


class Cell(NamedTuple):
    """Text of a table and what it means: ``good``, ``bad``, ``warn``, ``dim``, ``head``, ``name``
    or nothing."""

    text: str
    style: str = ""


class Column(NamedTuple):
    """Heading of a column; numbers stand to the right."""

    title: str
    right: bool = False


# Columns that a folded text has at least; where it begins if it has not so many in its place.
_LEAST, _BELOW = 24, 4

Row = Sequence[Cell | str]


def coloured(stream: TextIO) -> bool:
    """Whether a stream gets colours (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


class Output:
    """``as_json``: programs read it, so that tables and lines are left out."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._colours = coloured(self._stream)
        # What is no terminal is read by programs, for which lines stay whole.
        self._width = shutil.get_terminal_size().columns if self._stream.isatty() else 0
        self.as_json = False

    def json(self, value: Any) -> None:
        """One document."""
        print(json.dumps(value, indent=2, ensure_ascii=False), file=self._stream)

    def line(self, *parts: Cell | str) -> None:
        print("".join(self._paint(_cell(part)) for part in parts), file=self._stream)

    def item(self, head: Sequence[Cell | str], text: str) -> None:
        """Text behind a head; on a terminal its further lines stand below its first."""
        cells = [_cell(part) for part in head]
        start = sum(len(cell.text) for cell in cells)
        first, *others = self._folded(text, start)
        self.line(*cells, first)
        for line in others:
            self.line(" " * start, line)

    def _folded(self, text: str, start: int) -> list[str]:
        """Lines of a text that begins in column ``start``; the first is empty where there is no
        room for it, and the others stand below."""
        room = self._width - start
        if not self._width or len(text) <= room:
            return [text]
        if room >= _LEAST:
            return _wrapped(text, room)
        return ["", *_wrapped(text, max(self._width - _BELOW, _LEAST))]

    def table(self, columns: Sequence[Column], rows: Iterable[Row], indent: str = "") -> None:
        """Columns as wide as their widest cell, two blanks between; on a terminal the last one is
        as wide as there is room, or stands below its row."""
        whole = [[_cell(cell) for cell in row] for row in rows]
        widths = [
            max([len(column.title), *(len(row[n].text) for row in whole)])
            for n, column in enumerate(columns)
        ]
        if any(column.title for column in columns):
            whole.insert(0, [Cell(column.title, "head") for column in columns])
        start = len(indent) + sum(widths[:-1]) + 2 * len(widths[:-1])
        for *row, last in whole:
            fitted = []
            for cell, column, width in zip(row, columns, widths, strict=False):
                pad = " " * (width - len(cell.text))
                text = self._paint(cell)
                fitted.append(pad + text if column.right else text + pad)
            text = last.text.rjust(widths[-1]) if columns[-1].right else last.text
            first, *others = self._folded(text, start)
            fitted.append(self._paint(Cell(first, last.style)))
            print((indent + "  ".join(fitted)).rstrip(), file=self._stream)
            below = start if first else len(indent) + _BELOW
            for line in others:
                print(" " * below + self._paint(Cell(line, last.style)), file=self._stream)

    def listing(
        self,
        reported: Mapping[str, Any],
        columns: Sequence[Column],
        table: Sequence[Row],
        none: str,
    ) -> None:
        """Objects as JSON or as a table; ``none`` says that there are none."""
        if self.as_json:
            self.json(reported)
        elif table:
            self.table(columns, table)
        else:
            self.note(f"srv6ctl: {none}")

    def note(self, text: str) -> None:
        """A word beside the output, for people."""
        print(text, file=sys.stderr)

    def _paint(self, cell: Cell) -> str:
        code = _CODES.get(cell.style)
        return f"\033[{code}m{cell.text}\033[0m" if code and self._colours else cell.text


def complain(complaints: Iterable[Complaint], *, as_json: bool) -> None:
    """Errors, on standard error."""
    if as_json:
        print(json.dumps({"errors": [c._asdict() for c in complaints]}), file=sys.stderr)
        return
    start, end = ("\033[1;31m", "\033[0m") if coloured(sys.stderr) else ("", "")
    for complaint in complaints:
        print(f"{start}srv6ctl:{end} {complaint}", file=sys.stderr)


def _cell(part: Cell | str) -> Cell:
    return part if isinstance(part, Cell) else Cell(part)


def _wrapped(text: str, room: int) -> list[str]:
    # An address or a command may be copied: it stays whole.
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
