"""Memory for a function, by proxies and by the rules, tables and tunnels of the first design of the
paper on SRNK, which it calls a waste (III-C); and CPU time for a chain that is learned."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.generator import Generator
from bench.proxies import PINS, Bench, install
from bench.proxies_network import declared
from bench.report import Goal
from srv6mgrd.ebpf import libbpf
from srv6mgrd.model.behavior import Behavior

FUNCTIONS, TIMES = 1000, 9
ROUNDS, PACKETS = 60, 20_000
# What the kernel has for itself beside objects: per-CPU data, and what is mapped (programs, maps).
_FIELDS = ("Percpu", "VmallocUsed")
_SETTLED, _LONGEST = 32, 10.0


class AlternatingGenerator(Generator):
    """Packets of two chains in turn."""

    _PROGRAM = "alternate"


def goals() -> Iterator[Goal]:
    with contextlib.ExitStack() as stack:
        generator = AlternatingGenerator(PINS / f"bench-{os.getpid()}")
        stack.callback(generator.close)
        bench = Bench(stack, generator)
        yield from _memory(bench)
        yield from _learning(bench)


def _memory(bench: Bench) -> Iterator[Goal]:
    node = bench.node("memory")
    numbers = range(1, FUNCTIONS + 1)
    node.links(range(2, FUNCTIONS + 1))
    kernel = install(bench, node, peer=True)
    with node.entered():
        kernel.declare(declared(Behavior.END_AD))
        first = _pinned(kernel.folder)

        def proxies(present: bool) -> None:
            kernel.declare(declared(Behavior.END_AD, numbers=numbers if present else (1,)))

        by_proxy = _for_each(proxies)
        kernel.declare(declared(Behavior.END_AD, numbers=()))
    by_rule = _for_each(lambda present: node.first_design(FUNCTIONS, present=present))
    yield Goal(
        "SRNK: memory of programs and maps, for any number of proxies", [first], [], None, "KiB"
    )
    yield Goal(
        "SRNK: memory of a function, proxy beside rule, table and two tunnels",
        by_proxy, by_rule, 1.1, "KiB", of="median",
    )  # fmt: skip


def _pinned(folder: Path) -> float:
    """KiB of programs and maps, which one proxy needs as well as thousands."""
    octets = 0
    for pin in (p for p in folder.glob("*/*") if p.parent.name != "links"):
        if (fd := libbpf.pinned(pin)) is not None:
            lines = Path(f"/proc/self/fdinfo/{fd}").read_text().splitlines()
            octets += sum(int(line.split()[1]) for line in lines if line.startswith("memlock:"))
            os.close(fd)
    return octets / 1024


def _for_each(change: Callable[[bool], None]) -> list[float]:
    """KiB for each of FUNCTIONS, which ``change`` brings and takes."""
    found = []
    for _ in range(TIMES):
        before = _kernel_memory()
        change(True)
        found.append((_kernel_memory() - before) / FUNCTIONS)
        change(False)
    return found


def _kernel_memory() -> float:
    """KiB, when what was freed is free: it falls no more."""
    least, deadline = _read(), time.monotonic() + _LONGEST
    while time.monotonic() < deadline:
        time.sleep(0.3)
        if (now := _read()) >= least - _SETTLED:
            return min(now, least)
        least = now
    return least


def _read() -> float:
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    beside = sum(float(size) for name, size, *_ in lines if name.rstrip(":") in _FIELDS)
    # Objects in use rather than their pages, which are kept for a while: name, active, all, size.
    caches = [line.split() for line in Path("/proc/slabinfo").read_text().splitlines()[2:]]
    return beside + sum(int(active) * int(size) for _, active, _, size, *_ in caches) / 1024


def _learning(bench: Bench) -> Iterator[Goal]:
    """Packets of two chains in turn: each one teaches its chain with age 0, one in a second
    with age 1 s."""
    node = bench.node("learning")
    kernel = install(bench, node, peer=True)
    scenarios = [
        bench.add(f"two chains in turn, age {age} s", node,
                  lambda a=age: kernel.declare(declared(Behavior.END_AD, age=a)))  # type: ignore[misc]
        for age in (0, 1)
    ]  # fmt: skip
    bench.run(PACKETS, ROUNDS)
    each, seldom = (scenario.runs for scenario in scenarios)
    # Neighbor discovery may add one.
    lost = sum(max(0, scenario.lost) for scenario in scenarios)
    yield Goal("SRNK: a chain learned with each packet beside none", each, seldom, None, "ns",
               of="rounds")  # fmt: skip
    more = [a - b for a, b in zip(each, seldom, strict=True)]
    yield Goal(
        "SRNK: CPU time of a chain that is learned", [statistics.median(more)], [], None, "ns"
    )
    yield Goal("SRNK: packets lost while each teaches its chain", [lost], [], 0.0, "packets")
