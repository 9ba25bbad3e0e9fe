"""``srv6ctl top``: live rates in the terminal."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session, is_terminal, json_option, pass_session
from srv6mgrd.counters.node import CAPABILITIES

if TYPE_CHECKING:
    from srv6mgrd.cli.state import State
    from srv6mgrd.cli.top.history import History
    from srv6mgrd.cli.top.scene import Scene
    from srv6mgrd.model.status import ObjectRef, ObjectStatus

_LOOK = 0.1


@click.command()
@click.option(
    "--interval",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 60),
    default=1.0,
    help="Time between samples (1).",
)
@click.option("--count", "-n", type=click.IntRange(1), help="End after so many samples.")
@json_option
@pass_session
def top(session: Session, interval: float, count: int | None) -> None:
    """Live rates of all SIDs.

    If the output is not a terminal, one sample is printed unless --count asks for more; with
    --json, each is one line. Keys: q quits, s changes the order, p pauses, up and down scroll.
    """
    if session.out.as_json:
        _lines(session.state, interval, count or 1)
    elif is_terminal():
        _live(session, interval, count)
    else:
        _once(session, interval, count or 1)


def _lines(state: State, interval: float, count: int) -> None:
    from srv6mgrd.cli.rates import rates
    from srv6mgrd.model.times import time_text

    before = state.sample()
    for _ in range(count):
        after = state.next_sample(before, interval)
        reported = {p: rate._asdict() for p, rate in rates(before, after).items()}
        line = {"time": time_text(after.at), "rates": reported, "drops": state.drops()}
        print(json.dumps(line), flush=True)
        before = after


def _once(session: Session, interval: float, count: int) -> None:
    from srv6mgrd.cli.top import plain
    from srv6mgrd.cli.top.history import History
    from srv6mgrd.cli.top.scene import Order, not_installed, ordered

    state, history = session.state, History()
    before = state.sample()
    history.add(before)
    for _ in range(count):
        # What is declared is read while the samples differ anyhow.
        declared = _declared(session)
        before = state.next_sample(before, interval)
        history.add(before)
        names, statuses = ordered(history, Order.RATE), state.statuses()
        scene = _scene(state, history, statuses, declared)
        plain.show(session.out, replace(scene, names=names, bad=not_installed(names, statuses)))


def _live(session: Session, interval: float, count: int | None) -> None:
    from rich.console import Console
    from rich.live import Live

    from srv6mgrd.cli.top.history import History
    from srv6mgrd.cli.top.keys import Keys
    from srv6mgrd.cli.top.scene import Order, not_installed, ordered
    from srv6mgrd.cli.top.view import screen

    gc.enable()  # it may run for days
    state, history, console = session.state, History(), Console(highlight=False)
    order, paused, first, generation, samples = Order.RATE, False, 0, -1, 0
    declared: Mapping[str, Mapping[str, Any]] = {}
    statuses: Mapping[ObjectRef, ObjectStatus] = {}
    names: Sequence[str] = ()
    bad = 0
    state.sample()  # a missing store is reported before the screen is taken
    with Keys() as keys, Live(console=console, screen=True, auto_refresh=False) as live:
        due = time.monotonic()
        while count is None or samples <= count:
            # What thousands of SIDs are gone through for is done once for a sample, not for each
            # frame.
            if not paused and time.monotonic() >= due:
                due = max(due + interval, time.monotonic())
                is_new = history.add(state.sample())
                samples += is_new
                if is_other := state.generation != generation:
                    generation, declared = state.generation, _declared(session)
                    statuses = state.statuses()
                if is_new or is_other:
                    names = ordered(history, order)
                    bad = not_installed(names, statuses)
            scene = replace(
                _scene(state, history, statuses, declared),
                names=names,
                bad=bad,
                order=order,
                paused=paused,
                first=first,
                height=console.size.height,
                width=console.size.width,
                plain="utf" not in console.encoding.lower(),
            )
            live.update(screen(scene), refresh=True)
            key = keys.pressed(max(_LOOK, due - time.monotonic()))
            if key == "q":
                return
            if key == "s":
                order, first = order.next(), 0
                names = ordered(history, order)
            elif key == "p":
                paused = not paused
            else:
                step = {"up": -1, "down": 1, "page-up": -10, "page-down": 10}.get(key, 0)
                first = min(max(0, first + step), max(0, len(names) - 1))


def _scene(
    state: State,
    history: History,
    statuses: Mapping[ObjectRef, ObjectStatus],
    declared: Mapping[str, Mapping[str, Any]],
) -> Scene:
    from srv6mgrd.cli.top.scene import Scene, main_reasons

    offered = state.node().get(CAPABILITIES, {})
    about = f"kernel {offered.get('kernel', '?')}   FRR {offered.get('frr', 'not reached')}"
    return Scene(
        node=os.uname().nodename,
        clock=time.strftime("%H:%M:%S"),
        about=about,
        managed=state.managed,
        history=history,
        statuses=statuses,
        declared=declared,
        drops=main_reasons(state.drops()),
    )


def _declared(session: Session) -> Mapping[str, Mapping[str, Any]]:
    """Declared SIDs by prefix; none where sysrepo can't be asked."""
    try:
        return session.sids()
    except Problem:
        return {}
