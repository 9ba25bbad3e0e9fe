"""How srv6ctl prints: aligned tables for people, JSON for programs; colours on terminals only."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
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
        self.as_json = False

    def json(self, value: Any) -> None:
        """One document."""
        print(json.dumps(value, indent=2, ensure_ascii=False), file=self._stream)

    def line(self, *parts: Cell | str) -> None:
        print("".join(self._paint(_cell(part)) for part in parts), file=self._stream)

    def table(self, columns: Sequence[Column], rows: Iterable[Row], indent: str = "") -> None:
        """Columns as wide as their widest cell, two blanks between."""
        whole = [[_cell(cell) for cell in row] for row in rows]
        widths = [
            max([len(column.title), *(len(row[n].text) for row in whole)])
            for n, column in enumerate(columns)
        ]
        if any(column.title for column in columns):
            whole.insert(0, [Cell(column.title, "head") for column in columns])
        for row in whole:
            fitted = []
            for cell, column, width in zip(row, columns, widths, strict=True):
                pad = " " * (width - len(cell.text))
                text = self._paint(cell)
                fitted.append(pad + text if column.right else text + pad)
            print((indent + "  ".join(fitted)).rstrip(), file=self._stream)

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
