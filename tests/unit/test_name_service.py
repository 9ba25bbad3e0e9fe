"""What the system says of users and groups."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from srv6mgrd import name_service
from srv6mgrd.name_service import groups_of, name_of

# In the place of a directory that takes 2 s for each answer.
_SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
int getgrouplist(const char *user, gid_t group, gid_t *groups, int *count) {
    int (*next)(const char *, gid_t, gid_t *, int *) = dlsym(RTLD_NEXT, "getgrouplist");
    sleep(2);
    return next(user, group, groups, count);
}
"""
_PROGRAM = """
import threading, time
from srv6mgrd.name_service import groups_of
asks = threading.Thread(target=groups_of, args=("root",))
begin = last = time.monotonic()
asks.start()
gaps = [time.monotonic() - last]
while asks.is_alive():
    last = time.monotonic()
    time.sleep(0.01)
    gaps.append(time.monotonic() - last)
print(time.monotonic() - begin, max(gaps))
"""


def test_groups_of_the_system() -> None:
    assert groups_of("root") == set(subprocess.check_output(
        ["id", "-Gn", "root"], text=True
    ).split())  # fmt: skip
    for unknown in ("nobody of this system", "root\0", "", "\udcff"):
        assert groups_of(unknown) == frozenset()


def test_users_of_the_system() -> None:
    assert name_of(0) == "root"
    assert name_of(4_000_000_000) is None


def test_more_groups_than_most_have(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = groups_of("root")
    monkeypatch.setattr(name_service, "_GROUPS", 0)
    monkeypatch.setattr(name_service, "_ENTRY", 1)
    assert groups_of("root") == expected


def test_a_failure_is_not_taken_for_an_unknown_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is in no group is under none of the rules that deny by group."""

    class Failing:
        def getpwnam_r(self, *_: object) -> int:
            return errno.EMFILE

    monkeypatch.setattr(name_service, "_libc", Failing())
    with pytest.raises(OSError, match=os.strerror(errno.EMFILE)):
        groups_of("root")


def test_a_directory_that_is_slow_stops_no_other_thread(tmp_path: Path) -> None:
    source, library = tmp_path / "slow.c", tmp_path / "slow.so"
    source.write_text(_SLOW)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    said = subprocess.check_output(
        [sys.executable, "-c", _PROGRAM], env={**os.environ, "LD_PRELOAD": str(library)}, text=True
    )
    took, longest = map(float, said.split())
    assert took > 1.9
    assert longest < 1
