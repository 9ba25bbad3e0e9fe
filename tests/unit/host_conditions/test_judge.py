"""What is wrong with a host, by what was seen of it."""

from __future__ import annotations

import pytest

from srv6mgrd.host_conditions import judge
from srv6mgrd.host_conditions.judge import DAY, Certificate, Daemon, Disk
from srv6mgrd.model.condition import Severity
from srv6mgrd.model.tunnels import Tunnel

NOW = 1_800_000_000.0
GIB, MIB = 1 << 30, 1 << 20


@pytest.mark.parametrize(
    ("size", "free", "severity"),
    [
        (100 * GIB, 50 * GIB, None),
        (1000 * GIB, 5 * GIB, None),
        (8 * GIB, 500 * MIB, Severity.WARNING),
        (8 * GIB, 10 * MIB, Severity.MINOR),
        (8 * GIB, 0, Severity.MINOR),
        (0, 0, None),
    ],
)
def test_a_disk_is_judged_by_part_and_size(size: int, free: int, severity: Severity | None) -> None:
    found = list(judge.disks([Disk("/var", size, free)]))
    assert [c.severity for c in found] == ([] if severity is None else [severity])


def test_the_text_of_a_disk_stays_the_same_while_it_fills() -> None:
    texts = {c.cause for free in range(1, 9) for c in judge.disks([Disk("/v", GIB, free << 20)])}
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("ends", "severity"),
    [
        (NOW + 15 * DAY, None),
        (NOW + 14 * DAY, Severity.WARNING),
        (NOW + 1, Severity.WARNING),
        (NOW, Severity.MAJOR),
        (NOW - 9 * 365 * DAY, Severity.MAJOR),
    ],
)
def test_a_certificate_is_judged_by_its_end(ends: float, severity: Severity | None) -> None:
    found = list(judge.certificates([Certificate("/c.pem", "srv6-gnmid", ends)], NOW))
    assert [c.severity for c in found] == ([] if severity is None else [severity])
    assert all("/c.pem" in c.cause and "at once" in c.remedy for c in found)


def test_the_certificate_that_gnmid_made_is_made_anew() -> None:
    (found,) = judge.certificates([Certificate("/s", "srv6-gnmid", 1.0, is_self_signed=True)], NOW)
    assert "remove it and restart srv6-gnmid" in found.remedy


def test_a_certificate_that_can_not_be_read() -> None:
    (found,) = judge.certificates([Certificate("/c", "x", problem="Permission denied")], NOW)
    assert found.severity is Severity.MAJOR
    assert "Permission denied" in found.cause


def test_daemons_that_do_not_run_or_are_stopped() -> None:
    seen = [Daemon("a", is_running=True), Daemon("b", is_running=False), Daemon("c", True, 77)]
    down, stopped = judge.daemons(seen)
    assert (down.cause, down.remedy[:17]) == ("b does not run", "systemctl start b")
    assert "SIGSTOP" in stopped.cause
    assert "kill -CONT 77" in stopped.remedy


def test_files_with_a_problem() -> None:
    problems = {"history.sqlite": ("No space left on device; make room", 1),
                "journal.damaged": ("it was damaged and set aside; look at it", 2)}  # fmt: skip
    full, aside = judge.files(problems)
    assert (full.severity, full.remedy) == (Severity.MINOR, "make room")
    assert "history.sqlite: No space left" in full.cause
    assert full.resource.endswith("storage/problem[file='history.sqlite']")
    assert aside.severity is Severity.WARNING


def test_a_rollback_that_failed() -> None:
    (found,) = judge.rollback("one", "VRF red: it is busy; stop its user")
    assert found.severity is Severity.MAJOR
    assert found.cause.endswith("VRF red: it is busy")
    assert found.remedy.startswith("stop its user; or keep it: srv6ctl confirm one")
    assert list(judge.rollback("one", "")) == []


def test_redis_and_the_clock() -> None:
    (found,) = judge.redis("/run/redis.sock", "Connection refused")
    assert "Connection refused" in found.cause
    assert not list(judge.redis("/run/redis.sock", ""))
    assert [c.severity for c in judge.clock("set")] == [Severity.WARNING]
    assert not list(judge.clock(""))


def test_tunnels_that_are_down() -> None:
    reason = "Connection refused; see that the tunnel server runs"
    seen = [
        Tunnel("a:1", "pe1", True, NOW - 99),
        Tunnel("b:1", "pe1", False, NOW - 99, reason),
        Tunnel("c:1", "pe1", False, NOW - 1, reason),
    ]
    (found,) = judge.tunnels(seen, NOW)
    assert (found.type.value, found.resource) == ("tunnel-down", "tunnel b:1")
    assert found.cause == "the tunnel to b:1 is down: Connection refused"
    assert found.remedy == "see that the tunnel server runs"
