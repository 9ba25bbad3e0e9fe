"""Which job starts next."""

from __future__ import annotations

from tests.runner.job import Job
from tests.runner.schedule import Schedule


def job(name: str, seconds: float = 10, load: float = 1.0, after: tuple[str, ...] = ()) -> Job:
    return Job(name, ("true",), seconds, load, after)


def started(schedule: Schedule) -> list[str]:
    names = []
    while following := schedule.ready():
        schedule.start(following)
        names.append(following.name)
    return names


def test_the_longest_start_first_as_far_as_there_are_cpus() -> None:
    schedule = Schedule([job("a", 5), job("b", 50), job("c", 20)], 2)
    assert started(schedule) == ["b", "c"]
    assert [j.name for j in schedule.running] == ["b", "c"]


def test_what_waits_for_half_of_the_time_leaves_room_for_another() -> None:
    schedule = Schedule([job(n, load=0.5) for n in "abcde"], 2)
    assert started(schedule) == ["a", "b", "c", "d"]


def test_a_job_that_is_larger_than_the_machine_runs_alone() -> None:
    schedule = Schedule([job("a", 50, load=9), job("b", 20)], 2)
    assert started(schedule) == ["a"]


def test_what_others_wait_for_counts_their_time() -> None:
    jobs = [job("build", 1), job("long", 100, after=("build",)), job("other", 50)]
    schedule = Schedule(jobs, 1)
    assert started(schedule) == ["build"]
    schedule.end(jobs[0], passed=True)
    assert started(schedule) == ["long"]


def test_what_needs_a_failed_job_is_blocked_with_all_behind_it() -> None:
    first, second, third = job("a"), job("b", after=("a",)), job("c", after=("b",))
    schedule = Schedule([first, second, third], 2)
    assert started(schedule) == ["a"]
    schedule.end(first, passed=False)
    assert [(j.name, need) for j, need in schedule.blocked()] == [("b", "a"), ("c", "b")]
    assert schedule.is_over


def test_what_follows_a_failed_job_runs_all_the_same() -> None:
    first, second = job("a"), Job("b", ("true",), follows=("a",))
    schedule = Schedule([first, second], 2)
    assert started(schedule) == ["a"]
    schedule.end(first, passed=False)
    assert schedule.blocked() == []
    assert started(schedule) == ["b"]


def test_a_need_that_is_not_part_of_the_run_is_taken_for_met() -> None:
    assert started(Schedule([job("b", after=("a",))], 1)) == ["b"]
