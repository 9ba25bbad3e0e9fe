"""What a run says at its end: failures, the slowest, how much of the time was waiting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tests.runner.process import CpuTimes
from tests.runner.records import Record

SLOWEST = 10


def ending(found: Sequence[Record], seconds: float, used: CpuTimes) -> str:
    """The last lines of a run; the counts stand alone on the last one."""
    tests = [r for r in found if r.kind == "test"]
    parts = []
    if len(tests) > 1:
        parts.append("slowest:\n" + "\n".join(_slowest(found, SLOWEST)))
    parts += [unsteady(found), failures(found), never_run(tests)]
    total = max(used.busy + used.waiting + used.stolen, 0.01)
    stolen = f", {used.stolen / total:.0%} taken by the host" if used.stolen > 0.02 * total else ""
    parts.append(
        f"{minutes(seconds)}; CPUs: {used.busy / total:.0%} computing, "
        f"{used.waiting / total:.0%} waiting{stolen}; durations: make slow"
    )
    parts.append(_counts(found))
    return "\n" + "\n\n".join(part for part in parts if part)


def failures(found: Iterable[Record]) -> str:
    """Each failed test with its last lines and the command that runs it alone."""
    parts = []
    for record in found:
        if record.outcome == "failed" and (record.kind != "job" or record.text):
            head = f"FAILED  {record.id}  ({record.job})"
            parts.append(f"{head}\n{indented(record.text)}\n        again: {again(record)}")
    return "\n\n".join(parts)


def unsteady(found: Iterable[Record]) -> str:
    """Each test that failed beside other jobs and passed alone, with what it said."""
    return "\n\n".join(
        f"UNSTEADY  {record.id}  ({record.job}): passed alone, failed before with\n"
        f"{indented(record.text)}"
        for record in found
        if record.outcome == "unsteady"
    )


def brief(found: Iterable[Record]) -> str:
    """The failed tests of one job, with the last line of each."""
    lines = []
    for record in found:
        if record.outcome == "failed" and (record.kind != "job" or record.text):
            cause = next((ln for ln in record.text.splitlines() if ln.startswith("E  ")), "")
            cause = cause or _cause(record.text.splitlines())
            lines.append(f"{record.id}: {cause.removeprefix('E').strip()}")
    return "\n".join(lines)


def _cause(lines: Sequence[str]) -> str:
    """The first line; where it introduces others, they too as far as there is room."""
    if lines and lines[0].endswith(":"):
        return " ".join(lines[:4])[:600]
    return lines[0] if lines else ""


def again(record: Record) -> str:
    """The command that runs this alone."""
    if record.kind == "job":
        return f"make job JOB={record.id}"
    if record.kind == "suite":
        return f"make robot SUITE={PurePath(record.id.partition('::')[0]).stem}"
    return f"make one TEST='{record.id}'"


def never_run(tests: Sequence[Record]) -> str:
    """Tests that no job ran: each skipped wherever it was met."""
    ran = {r.id for r in tests if r.outcome != "skipped"}
    reasons: dict[str, list[str]] = defaultdict(list)
    for record in tests:
        if record.outcome == "skipped" and record.id not in ran:
            reasons[record.text or "no reason"].append(record.id)
    return "\n".join(
        f"skipped: {reason}\n" + "\n".join(f"        {name}" for name in sorted(set(names))[:10])
        for reason, names in reasons.items()
    )


def slow(found: Sequence[Record]) -> str:
    """All that ``make slow`` prints."""
    lines = [f"{'job':34} {'wall s':>8} {'CPU s':>8} {'CPUs':>5}"]
    jobs = sorted((r for r in found if r.kind == "job"), key=lambda r: -r.seconds)
    for r in jobs:
        busy = r.cpu / r.seconds if r.seconds else 0.0
        lines.append(f"{r.id:34} {r.seconds:8.1f} {r.cpu:8.1f} {busy:5.2f}")
    lines.append(f"{'all':34} {'':8} {sum(r.cpu for r in jobs):8.1f}")
    lines += ["", "slowest tests (set-up + test + tear-down)", *_slowest(found, 40)]
    lines += ["", "fixtures, suites and boots: seconds, times, name"]
    spent: dict[str, list[float]] = defaultdict(list)
    for r in found:
        if r.kind in ("fixture", "suite", "boot"):
            spent[f"{r.kind} {r.id}"].append(r.total)
    ordered = sorted(spent.items(), key=lambda item: -sum(item[1]))
    lines += [f"{sum(each):8.1f} {len(each):5} {name}" for name, each in ordered[:30]]
    return "\n".join(lines)


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def indented(text: str) -> str:
    return "\n".join(f"        {line}" for line in text.splitlines())


def _slowest(found: Iterable[Record], count: int) -> list[str]:
    tests = sorted((r for r in found if r.kind == "test"), key=lambda r: -r.total)
    return [
        f"{r.total:8.1f}  {r.id}  ({r.setup:.1f} + {r.seconds:.1f} + {r.teardown:.1f})"
        for r in tests[:count]
    ]


def _counts(found: Sequence[Record]) -> str:
    """A test that one job skipped and another ran counts once, as run."""
    outcome: dict[str, str] = {}
    rank = {"skipped": 0, "passed": 1, "failed": 2}
    for r in found:
        if r.kind in ("test", "job") and r.outcome in rank:
            key = f"{r.kind} {r.id}"
            if rank[r.outcome] >= rank[outcome.get(key, "skipped")]:
                outcome[key] = r.outcome
    passed = sum(v == "passed" and k.startswith("test ") for k, v in outcome.items())
    failed = sum(r.outcome == "failed" and (r.kind != "job" or bool(r.text)) for r in found)
    skipped = sum(v == "skipped" for v in outcome.values())
    checks = sum(v == "passed" and k.startswith("job check/") for k, v in outcome.items())
    tail = f", {skipped} skipped" if skipped else ""
    return f"{passed + checks} passed, {failed} failed{tail}"
