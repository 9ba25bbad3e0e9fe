"""The mirror comes from the machine's own apt configuration."""

from __future__ import annotations

from subprocess import CompletedProcess

import pytest

from lab import host
from lab.problem import LabError

MAIN = "http://mirror.example/debian/|Debian|main|bookworm"
UPDATES = "http://mirror.example/debian/|Debian|main|bookworm-updates"
SECURITY = "http://mirror.example/debian-security/|Debian|main|bookworm-security"
FORBIDDEN = CompletedProcess([], 1, "", "unshare: unshare failed: Operation not permitted\n")
OTHER = "https://packages.example/apt/|Example|main|stable"


def test_takes_the_main_archive() -> None:
    found = host.choose_mirror([OTHER, SECURITY, MAIN, UPDATES, "", "garbage"])
    assert found == "http://mirror.example/debian/"


def test_prefers_the_mirror_used_most() -> None:
    second = "http://second.example/debian/|Debian|main|bookworm"
    assert host.choose_mirror([second, MAIN, UPDATES]) == "http://mirror.example/debian/"


def test_knows_an_archive_without_lists_by_its_folder() -> None:
    # Before the first `apt-get update` apt prints the variable itself.
    line = "http://mirror.example/debian/|$(ORIGIN)|main|bookworm"
    assert host.choose_mirror([line]) == "http://mirror.example/debian/"


@pytest.mark.parametrize("lines", [[], [OTHER], [SECURITY]])
def test_names_the_way_out_when_there_is_none(lines: list[str]) -> None:
    with pytest.raises(LabError, match="set LAB_MIRROR"):
        host.choose_mirror(lines)


def test_override_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_MIRROR", "http://own.example/debian")
    assert host.debian_mirror() == "http://own.example/debian"


def test_missing_tools_are_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host.shutil, "which", lambda _: None)
    with pytest.raises(LabError, match=r"host tools: missing: b-tool \(install b-package\)"):
        host.require_tools({"b-tool": "b-package"}, host.Progress(quiet=True))


@pytest.mark.parametrize(
    ("lacking", "reported"),
    [
        ({"platform.system": "Darwin"}, r"Darwin: is not Linux.* \(use a Linux virtual machine\)"),
        ({"platform.machine": "aarch64"}, r"architecture aarch64: .* amd64 only \(use an x86-64"),
        ({"os.geteuid": 1000}, r"user 1000: is not root.* \(use sudo\)"),
        ({"shutil.which": None}, r"unshare: is missing \(install util-linux\)"),
        ({"subprocess.run": FORBIDDEN}, r"namespaces: unshare: .* \(in a container: start it with"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_a_prerequisite_is_missing(
    lacking: dict[str, object], reported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {
        "platform.system": "Linux", "platform.machine": "x86_64", "os.geteuid": 0,
        "shutil.which": "/bin/it", "subprocess.run": CompletedProcess([], 0),
    }  # fmt: skip
    for name, value in (there | lacking).items():
        monkeypatch.setattr(f"lab.host.{name}", lambda *_, value=value, **__: value)
    with pytest.raises(LabError, match=reported) as caught:
        host.require_host()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("E: Failed to fetch http://m.example/InRelease  Could not resolve 'm.example'",
         "http://m.example/InRelease: Could not resolve 'm.example'"),
        ("WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(x)':"
         " /simple/cffi/", "/simple/cffi/: NewConnectionError(x)"),
    ],
)  # fmt: skip
def test_a_server_that_does_not_answer_is_named(line: str, cause: str) -> None:
    found = host.unreachable(["Reading package lists...", line, "failed to run"])
    assert found is not None
    assert found[0] == cause
    assert host.unreachable(["gcc: error: x.c: No such file"]) is None
