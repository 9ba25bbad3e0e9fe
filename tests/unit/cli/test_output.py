"""How tables and long texts look on a terminal, and where there is none."""

import io
import os

import pytest

from srv6mgrd.cli.output import Cell, Column, Output

REASON = "something that srv6mgr did not make takes packets of it; remove it"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """What is printed on a terminal so wide; on none with 0."""
    monkeypatch.setenv("NO_COLOR", "1")

    def show(columns, call):
        monkeypatch.setattr(
            "shutil.get_terminal_size", lambda *_, **__: os.terminal_size((columns, 24))
        )
        stream = Terminal() if columns else io.StringIO()
        call(Output(stream))
        return stream.getvalue().splitlines()

    return show


def table(out):
    columns = [Column("SID"), Column("ERRORS", right=True), Column("REASON")]
    out.table(columns, [[Cell("fcbb:0:1:64::/64", "name"), "7", REASON], ["fcbb::/32", "0", ""]])


def test_a_wide_terminal_and_none_at_all(shown):
    whole = [
        "SID               ERRORS  REASON",
        f"fcbb:0:1:64::/64       7  {REASON}",
        "fcbb::/32              0",
    ]
    assert shown(0, table) == shown(120, table) == whole


def test_the_last_column_is_folded(shown):
    assert shown(64, table) == [
        "SID               ERRORS  REASON",
        "fcbb:0:1:64::/64       7  something that srv6mgr did not make",
        "                          takes packets of it; remove it",
        "fcbb::/32              0",
    ]


def test_the_last_column_stands_below_where_there_is_no_room(shown):
    assert shown(40, table) == [
        "SID               ERRORS  REASON",
        "fcbb:0:1:64::/64       7",
        "    something that srv6mgr did not make",
        "    takes packets of it; remove it",
        "fcbb::/32              0",
    ]


def test_an_item(shown):
    def item(out):
        out.item([Cell("fail", "bad"), " routes  "], "SID fcbb:0:1:64::/64 is not in table 8986")

    assert shown(0, item) == ["fail routes  SID fcbb:0:1:64::/64 is not in table 8986"]
    assert shown(45, item) == [
        "fail routes  SID fcbb:0:1:64::/64 is not in",
        "             table 8986",
    ]
