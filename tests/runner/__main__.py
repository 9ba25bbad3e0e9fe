"""The commands behind the Makefile's test targets."""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Sequence

from tests.runner import catalogue, near, records, report, run
from tests.runner.job import Job

STAGES = ("check", "unit", "contract", "robot")
# Seconds of tests that `make near` chooses: the checks and two CPUs make a minute of it.
NEAR_BUDGET = 60.0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.runner", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("stages", help="run all jobs of these stages")
    one.add_argument("stage", nargs="+", choices=STAGES)
    one.set_defaults(jobs=lambda given: catalogue.of_stages(given.stage))

    one = commands.add_parser("job", help="run jobs by name")
    one.add_argument("name", nargs="+", choices=sorted(catalogue.by_name()), metavar="NAME")
    one.set_defaults(jobs=lambda given: catalogue.with_needs(given.name))

    one = commands.add_parser("suite", help="run system suites on one network")
    one.add_argument("name", nargs="+")
    one.set_defaults(jobs=lambda given: catalogue.suite(given.name))

    one = commands.add_parser("one", help="run one test where it belongs")
    one.add_argument("test", metavar="TEST")
    one.set_defaults(jobs=lambda given: catalogue.one(given.test))

    one = commands.add_parser("near", help="run the tests nearest to a change")
    one.add_argument("--base", default="HEAD", help="the revision that it is compared with")
    one.set_defaults(jobs=_near)

    one = commands.add_parser("quick", help="run the checks that need no lab")
    one.set_defaults(jobs=lambda _: catalogue.quick())

    for name, text in (("soak", "run what needs long"), ("nightly", "run all that exists")):
        one = commands.add_parser(name, help=text)
        one.add_argument("--minutes", type=float, default=30)
        one.add_argument("--seed", type=int, default=random.randrange(1_000_000))
        one.set_defaults(jobs=_by_seed, target=getattr(catalogue, name))

    one = commands.add_parser("slow", help="print the durations of the last run")
    one.set_defaults(jobs=None)

    given = parser.parse_args(arguments)
    if given.jobs is None:
        return _slow()
    try:
        return run.Run(given.jobs(given)).go()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2


def _by_seed(given: argparse.Namespace) -> list[Job]:
    print(f"seed {given.seed}: the same again with SEED={given.seed}", flush=True)
    jobs: list[Job] = given.target(given.minutes * 60, given.seed)
    return jobs


def _near(given: argparse.Namespace) -> list[Job]:
    changed = near.changed_files(catalogue.CHECKOUT, given.base)
    longest: dict[str, float] = {}
    for record in records.read(run.DURATIONS):
        if record.kind == "test":
            longest[record.id] = max(record.total, longest.get(record.id, 0.0))
    seconds: dict[str, float] = defaultdict(float)
    for test, duration in longest.items():
        seconds[test.partition("::")[0]] += duration
    graph = near.import_graph(catalogue.CHECKOUT)
    choice = near.choose(graph, changed, seconds, NEAR_BUDGET)
    print(f"{len(changed)} changed files; tests in {len(choice.files)} files", flush=True)
    if choice.left_out:
        names = ", ".join(choice.left_out[:5])
        print(f"left to make test: {len(choice.left_out)} files, such as {names}", flush=True)
    return catalogue.near(choice)


def _slow() -> int:
    found = list(records.read(run.DURATIONS))
    if not found:
        print(f"{run.DURATIONS} does not exist; run make test first", file=sys.stderr)
        return 1
    print(report.slow(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
