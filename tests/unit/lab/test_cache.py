"""Cache entries appear whole or not at all."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lab import cache
from lab.problem import LabError
from lab.progress import Progress

QUIET = Progress(quiet=True)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def _write(target: Path, _: Progress) -> None:
    (target / "made").write_text("x")


def test_builds_once() -> None:
    calls = []

    def build(target: Path, progress: Progress) -> None:
        calls.append(target)
        _write(target, progress)

    entry = cache.Entry("thing", "k", 1, build)
    assert (cache.ensure(entry, QUIET) / "made").read_text() == "x"
    assert cache.ensure(entry, QUIET) == entry.path
    assert len(calls) == 1


def test_two_builders_do_not_collide() -> None:
    calls = []
    inside = threading.Event()

    def build(target: Path, progress: Progress) -> None:
        calls.append(target)
        inside.set()
        _write(target, progress)

    entry = cache.Entry("thing", "k", 1, build)
    threads = [threading.Thread(target=cache.ensure, args=(entry, QUIET)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside.is_set()
    assert len(calls) == 1


def test_a_failed_build_leaves_nothing() -> None:
    def build(target: Path, _: Progress) -> None:
        (target / "half").touch()
        raise LabError("thing", "broke")

    with pytest.raises(LabError):
        cache.ensure(cache.Entry("thing", "k", 1, build), QUIET)
    assert sorted(path.name for path in cache.cache_dir().iterdir()) == [".lock", "log"]


def test_what_a_killed_build_left_is_swept() -> None:
    (cache.cache_dir() / ".building-other").mkdir(parents=True)
    cache.ensure(cache.Entry("thing", "k", 1, _write), QUIET)
    assert not list(cache.cache_dir().glob(".building-*"))


def test_what_is_built_apart_holds_up_no_other_build() -> None:
    def build(target: Path, progress: Progress) -> None:
        # Which takes the lock of all others, and sweeps.
        cache.ensure(cache.Entry("other", "k", 1, _write), QUIET)
        _write(target, progress)

    (cache.cache_dir() / ".apart-thing-killed").mkdir(parents=True)
    made = cache.ensure(cache.Entry("thing", "k", 1, build, apart=True), QUIET)
    assert (made / "made").read_text() == "x"
    assert not list(cache.cache_dir().glob(".apart-*"))


def test_says_what_space_is_missing() -> None:
    with pytest.raises(LabError, match=r"needs 1000000000 MiB in .*, \d+ MiB are free"):
        cache.ensure(cache.Entry("thing", "k", 10**9, _write), QUIET)


def test_digest_counts_borders() -> None:
    assert cache.digest("ab", "c") != cache.digest("a", "bc")
    assert cache.digest("ab") == cache.digest(b"ab")


def test_a_cache_that_cannot_be_created_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(LabError, match=r"/file/srv6mgr: cannot be created: Not a directory \(set"):
        cache.ensure(cache.Entry("thing", "k", 1, _write), QUIET)


def test_all_that_is_missing_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    entries = [cache.Entry(kind, "k", 1, _write) for kind in ("one", "two", "three")]
    cache.ensure(entries[0], QUIET)
    made = cache.ensure_all(entries, Progress())
    assert made == [entry.path for entry in entries]
    assert f"builds two, three in {cache.cache_dir()}, once" in capsys.readouterr().err
