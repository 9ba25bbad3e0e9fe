"""The screen of top."""

import io
import json
import time
from dataclasses import replace

import pytest
from rich.console import Console

from srv6mgrd.cli.rates import Sample
from srv6mgrd.cli.top.history import History, sparkline
from srv6mgrd.cli.top.scene import Order, Scene, main_reasons, not_installed, ordered
from srv6mgrd.cli.top.view import screen
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from tests.unit.cli.conftest import SID

NS = 1_000_000_000
OTHER = "fcbb:0:1:c8::/64"


def history(*samples):
    made = History()
    for second, counted in enumerate(samples):
        made.add(
            Sample(second * NS, {p: SidCounters(*c, discontinuity=1) for p, c in counted.items()})
        )
    return made


def scene(made, **more):
    installed = ObjectStatus(InstallStatus.INSTALLED)
    statuses = {ObjectRef(Kind.SID, SID): installed}
    declared = {SID: {"behavior": "srv6mgr-srv6:End.DT46", "vrf": "red"}}
    names = ordered(made, Order.RATE)
    more = {"names": names, "bad": not_installed(names, statuses)} | more
    return Scene("pe1", "12:00:00", "kernel 1", True, made, statuses, declared, **more)


def drawn(wanted, width=140):
    console = Console(width=width, height=40, record=True, file=io.StringIO())
    console.print(screen(replace(wanted, width=width)))
    return console.export_text()


def test_rates_are_on_the_screen():
    made = history({SID: (0, 0, 0), OTHER: (0, 0, 0)}, {SID: (50, 5000, 2), OTHER: (0, 0, 0)})
    shown = drawn(scene(made))
    assert "srv6mgr on pe1" in shown
    row = next(line for line in shown.splitlines() if line.startswith(SID))
    assert row.split()[:7] == [SID, "End.DT46", "VRF", "red", "50", "40k", "2"]
    assert row.rstrip().endswith("installed")
    assert "1 not installed" in shown  # the other one, of which nothing was reported


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_it_fits_any_terminal(width):
    made = history(*({SID: (n * n, n, 0)} for n in range(80)))
    shown = drawn(scene(made), width)
    assert all(len(line) <= width for line in shown.splitlines())
    # What is shown is whole; what has no room is not shown at all.
    assert "…" not in shown
    row = next(line for line in shown.splitlines() if line.startswith(SID))
    assert row.split()[1] == "End.DT46"
    assert row.rstrip().endswith("installed")
    assert ("PACKETS" in shown) == (width > 100)


def test_orders():
    made = history({SID: (0, 0, 0), OTHER: (0, 0, 0)}, {SID: (9, 1, 0), OTHER: (1, 9, 1)})
    found = {order: ordered(made, order)[0] for order in Order}
    assert found == {Order.RATE: SID, Order.BITS: OTHER, Order.ERRORS: OTHER, Order.SID: SID}
    assert Order.SID.next() is Order.RATE


def test_the_same_sample_twice_is_no_notifications():
    made = history({SID: (0, 0, 0)}, {SID: (5, 0, 0)})
    assert not made.add(made.last)
    assert len(made.total) == 1


def test_a_sid_that_goes_is_forgotten():
    made = history({SID: (0, 0, 0)}, {SID: (5, 0, 0)}, {})
    assert list(made.of(SID)) == []
    assert made.total[-1].packets == 0


def test_sparkline():
    assert sparkline([0, 4, 8], 5) == "  ▁▅█"
    assert sparkline([0, 8], 2, plain=True) == "_#"
    assert sparkline([0, 0], 2) == "▁▁"
    assert sparkline([], 3) == "   "


def test_without_a_terminal_it_prints_and_ends(ctl, monkeypatch):
    ctl.report(packets=1)
    at = [time.time_ns()]

    def later(_):
        at[0] += 10 * NS
        ctl.count(at[0], packets=at[0] % 1000)

    monkeypatch.setattr(time, "sleep", later)
    assert SID in ctl.run("top").out
    lines = ctl.run("top", "--json", "-n", "2").out.splitlines()
    assert [SID in json.loads(line)["rates"] for line in lines] == [True, True]


def test_the_main_reason_of_drops():
    drops = [
        {"sid": SID, "reason": "no-srh", "certainty": "certain", "packets": "3"},
        {"sid": SID, "reason": "no-route", "certainty": "likely", "packets": "20"},
        {"sid": OTHER, "reason": "hmac", "certainty": "certain", "packets": "1"},
    ]
    assert main_reasons(drops) == {SID: "no-route?", OTHER: "hmac"}
    made = history({SID: (0, 0, 0)}, {SID: (50, 5000, 2)})
    assert "no-route?" in drawn(scene(made, drops=main_reasons(drops)))
    assert "DROPPED FOR" not in drawn(scene(made))
