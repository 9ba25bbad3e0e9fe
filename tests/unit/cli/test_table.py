"""What all tables of show have in common: filters, order, limit, and looking again."""

import io
import json
import time
from typing import NamedTuple

import pytest

from srv6mgrd.cli import watching
from srv6mgrd.cli.output import Output
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.show.table import Field, Table, View, select
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from tests.unit.cli.conftest import SID


class Row(NamedTuple):
    name: str
    vrf: str
    packets: int


TABLE = Table(
    "things",
    (
        Field("NAME", lambda r: r.name),
        Field("PACKETS", lambda r: str(r.packets), right=True, key=lambda r: r.packets),
    ),
    lambda r: r._asdict(),
    none="there is nothing",
    name=lambda r: r.name,
    filters={"vrf": lambda r: r.vrf},
)
ROWS = [Row("b", "red", 9), Row("a", "blue", 10), Row("c1", "red-2", 2)]


@pytest.mark.parametrize(
    ("view", "names"),
    [
        (View(), "b a c1"),
        (View(pattern="a"), "a"),
        (View(pattern="c*"), "c1"),
        (View(pattern="x*"), ""),
        (View(filters={"vrf": ("red",)}), "b"),
        (View(filters={"vrf": ("red*",)}), "b c1"),
        (View(filters={"vrf": ("red", "blue")}), "b a"),
        (View(filters={"vrf": ()}), "b a c1"),
        (View(sort="packets"), "c1 b a"),
        (View(sort="name"), "a b c1"),
        (View(sort="packets", reverse=True), "a b c1"),
        (View(reverse=True), "c1 a b"),
    ],
)
def test_which_rows_and_in_which_order(view, names):
    assert [row.name for row in select(TABLE, ROWS, view)] == names.split()


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(Problem, match="x: it is not there; see srv6ctl show things"):
        select(TABLE, ROWS, View(pattern="x"))


OTHER, THIRD = "fcbb:0:1:c8::/64", "fcbb:0:1:e::/64"


@pytest.fixture
def sids(ctl):
    """Three SIDs, of which one is not installed."""
    at = time.time_ns()
    statuses = {OTHER: InstallStatus.FAILED, SID: InstallStatus.INSTALLED}
    statuses[THIRD] = InstallStatus.INSTALLED
    ctl.store.set_statuses(
        {ObjectRef(Kind.SID, name): ObjectStatus(s, since=at) for name, s in statuses.items()}
    )
    return ctl


def shown(ran):
    return [line.split()[0] for line in ran.out.splitlines()[1:]]


def test_sids_are_in_the_order_of_their_numbers(sids):
    assert shown(sids.run("show", "sids")) == [THIRD, SID, OTHER]
    assert shown(sids.run("show", "sids", "--sort", "sid", "--reverse")) == [OTHER, SID, THIRD]


@pytest.mark.parametrize("wanted", [SID, "fcbb:0:1:64::", "fcbb:0:1:64:*"])
def test_a_sid_is_named_by_prefix_address_or_pattern(sids, wanted):
    assert shown(sids.run("show", "sids", wanted)) == [SID]


def test_filters_of_sids(sids):
    assert shown(sids.run("show", "sids", "--status", "failed")) == [OTHER]
    assert shown(sids.run("show", "sids", "--vrf", "r*")) == [SID]
    nothing = sids.run("show", "sids", "--status", "pending")
    assert (nothing.status, nothing.out, nothing.err) == (0, "", "srv6ctl: nothing matches\n")
    assert sids.run("show", "sids", "--status", "pending", "--json").json == {"sids": []}


def test_a_limit_says_that_there_are_more(sids):
    limited = sids.run("show", "sids", "--limit", "2")
    assert shown(limited) == [THIRD, SID]
    assert limited.err == "srv6ctl: 1 more is not shown (--limit)\n"
    assert len(sids.run("show", "sids", "-n", "2", "--json").json["sids"]) == 2


def test_a_column_that_there_is_not(sids):
    ran = sids.run("show", "sids", "--sort", "colour")
    assert ran.status == Exit.USAGE
    assert "leads-to" in ran.err


def interrupted_after(monkeypatch, times):
    """Sleeps that end with Ctrl-C."""
    left = iter(range(times))

    def sleep(_):
        if next(left, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)


def test_watching_in_a_pipe(sids, monkeypatch):
    interrupted_after(monkeypatch, 1)
    ran = sids.run("show", "sids", "--watch", "--json")
    assert ran.status == 0
    assert [len(json.loads(line)["sids"]) for line in ran.out.splitlines()] == [3, 3]
    interrupted_after(monkeypatch, 1)
    ran = sids.run("show", "sids", "--watch", "5")
    assert ran.out.count("every 5 s") == 2
    assert ran.out.count(SID) == 2


def test_what_fails_at_first_is_not_watched(ctl):
    ran = ctl.run("show", "sids", "fc00::1", "--watch")
    assert ran.status == Exit.REJECTED


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_watching_on_a_terminal(monkeypatch):
    monkeypatch.setenv("LINES", "8")
    monkeypatch.setenv("COLUMNS", "80")
    interrupted_after(monkeypatch, 2)
    terminal, rounds = Terminal(), iter(range(3))
    out = Output(terminal)

    def show():
        if (number := next(rounds)) == 1:
            raise Problem.of("srv6mgrd", "it is away", "start it")
        for line in range(20 if number else 2):
            out.line(f"round {number} line {line}")

    watching.repeat(out, 1.0, show)

    _, first, second, third = terminal.getvalue().split("\033[H")
    assert "round 0 line 1" in first
    # A restart of srv6mgrd is seen, not the end.
    assert "srv6ctl: srv6mgrd: it is away; start it" in second
    # As many lines as there is room for.
    assert third.count("\n") == 7
    assert "... 16 more lines" in third


@pytest.mark.parametrize("what", ["commits", "transactions", "statistics", "config"])
def test_what_is_no_table_is_watched_too(sids, monkeypatch, what):
    interrupted_after(monkeypatch, 1)
    ran = sids.run("show", what, "--watch", "--json")
    assert ran.status == 0
    assert len([json.loads(line) for line in ran.out.splitlines()]) == 2
