"""How srv6ctl prints: aligned tables for people, JSON for programs; colours on terminals only."""

from __future__ import annotations

import io
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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
    """Heading of a column; numbers are right-aligned."""

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
    """``as_json``: programs read it, so that tables and lines are left out; ``one_line``: each
    document is a line."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._colours = coloured(self._stream)
        # What is no terminal is read by programs, for which lines stay whole.
        self._width = _terminal().columns if self._stream.isatty() else 0
        self._is_drawing = False
        self.as_json = False
        self.one_line = False

    @contextmanager
    def screen(self, heading: str) -> Iterator[None]:
        """On a terminal what is printed within takes the place of what the screen has, as far as
        there is room. Elsewhere it follows a line with the heading; JSON has none."""
        shown = self._stream
        if self.as_json or not shown.isatty():
            if not self.as_json:
                print(heading, file=shown)
            yield
            shown.flush()
            return
        size = _terminal()
        self._width, self._is_drawing = size.columns, True
        self._stream = drawn = io.StringIO()
        try:
            yield
        finally:
            self._stream, self._is_drawing = shown, False
        lines = [heading, "", *drawn.getvalue().splitlines()]
        if (cut := len(lines) - size.lines + 1) > 0:
            del lines[size.lines - 2 :]
            lines.append(f"... {cut + 1} more lines")
        # Home, long lines cut, each line cleared to its end, nothing below.
        body = "".join(f"{line}\033[K\n" for line in lines)
        shown.write(f"\033[H\033[?7l{body}\033[J\033[?7h")
        shown.flush()

    def json(self, value: Any) -> None:
        """One document."""
        indent = None if self.one_line else 2
        print(json.dumps(value, indent=indent, ensure_ascii=False), file=self._stream)

    def line(self, *parts: Cell | str) -> None:
        print("".join(self._paint(_cell(part)) for part in parts), file=self._stream)

    def item(self, head: Sequence[Cell | str], text: str) -> None:
        """Text behind a head; on a terminal its further lines are below its first."""
        cells = [_cell(part) for part in head]
        start = sum(len(cell.text) for cell in cells)
        first, *others = self._folded(text, start)
        self.line(*cells, first)
        for line in others:
            self.line(" " * start, line)

    def _folded(self, text: str, start: int) -> list[str]:
        """Lines of a text that begins in column ``start``; the first is empty where there is no
        room for it, and the others are below."""
        room = self._width - start
        if not self._width or len(text) <= room:
            return [text]
        if room >= _LEAST:
            return _wrapped(text, room)
        return ["", *_wrapped(text, max(self._width - _BELOW, _LEAST))]

    def table(self, columns: Sequence[Column], rows: Iterable[Row], indent: str = "") -> None:
        """Columns as wide as their widest cell, two blanks between; on a terminal the last one is
        as wide as there is room, or is below its row."""
        # Column by column, and printed in one piece: there may be ten thousand rows.
        cells: list[Row] = list(zip(*rows, strict=True)) or [()] * len(columns)
        if any(column.title for column in columns):
            cells = [
                (Cell(column.title, "head"), *listed)
                for column, listed in zip(columns, cells, strict=True)
            ]
        drawn, start = [], len(indent)
        for column, listed in zip(columns[:-1], cells, strict=False):
            texts = [cell if isinstance(cell, str) else cell.text for cell in listed]
            width = max(map(len, texts), default=0)
            if column.right:
                padded = [text.rjust(width) for text in texts]
            else:
                padded = [text.ljust(width) for text in texts]
            drawn.append(self._painted(padded, listed) if self._colours else padded)
            start += width + 2
        width = max(map(_length, cells[-1]), default=0) if columns[-1].right else 0
        drawn.append([self._last(_cell(cell), width, start, len(indent)) for cell in cells[-1]])
        lines = [indent + "  ".join(row) for row in zip(*drawn, strict=True)]
        if lines:
            print("\n".join(map(_stripped, lines)), file=self._stream)

    def _painted(self, texts: Iterable[str], cells: Row) -> list[str]:
        """Padded texts in the styles of their cells."""
        return [
            self._paint(Cell(text, cell.style)) if isinstance(cell, Cell) else text
            for text, cell in zip(texts, cells, strict=True)
        ]

    def _last(self, cell: Cell, width: int, start: int, indent: int) -> str:
        """The last cell of a row, with lines of its own where it is folded."""
        text = cell.text.rjust(width)
        if not self._width:
            return self._paint(Cell(text, cell.style))
        first, *others = self._folded(text, start)
        below = " " * (start if first else indent + _BELOW)
        return "\n".join(
            [
                self._paint(Cell(first, cell.style)),
                *(below + self._paint(Cell(line, cell.style)) for line in others),
            ]
        )

    def json_list(self, member: str, objects: Iterable[Any]) -> None:
        """One document with a list, each object on a line."""
        if self.one_line:
            self.json({member: list(objects)})
            return
        encode = json.JSONEncoder(ensure_ascii=False).encode
        listed = ",\n".join(f"  {encode(one)}" for one in objects)
        body = f"[\n{listed}\n]" if listed else "[]"
        print(f"{{{json.dumps(member)}: {body}}}", file=self._stream)

    def note(self, text: str) -> None:
        """A word beside the output, for people."""
        print(text, file=self._stream if self._is_drawing else sys.stderr)

    def _paint(self, cell: Cell) -> str:
        code = _CODES.get(cell.style)
        if not (code and self._colours):
            return cell.text
        # Blanks around it have no colour.
        text = cell.text.strip(" ")
        before, _, after = cell.text.partition(text) if text else ("", "", cell.text)
        return f"{before}\033[{code}m{text}\033[0m{after}" if text else cell.text


def complain(complaints: Iterable[Complaint], *, as_json: bool, program: str = "srv6ctl") -> None:
    """Errors, on standard error."""
    if as_json:
        print(json.dumps({"errors": [c._asdict() for c in complaints]}), file=sys.stderr)
        return
    start, end = ("\033[1;31m", "\033[0m") if coloured(sys.stderr) else ("", "")
    for complaint in complaints:
        print(f"{start}{program}:{end} {complaint}", file=sys.stderr)


def _terminal() -> os.terminal_size:
    import shutil  # which brings compression along

    return shutil.get_terminal_size()


def _cell(part: Cell | str) -> Cell:
    return part if isinstance(part, Cell) else Cell(part)


def _length(part: Cell | str) -> int:
    return len(part.text if isinstance(part, Cell) else part)


def _stripped(row: str) -> str:
    """A row without the blanks behind its first line."""
    line, newline, below = row.partition("\n")
    return line.rstrip() + newline + below


def _wrapped(text: str, room: int) -> list[str]:
    # An address or a command may be copied: it stays whole.
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
