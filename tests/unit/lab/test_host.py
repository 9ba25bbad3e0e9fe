"""The mirror comes from the machine's own apt configuration."""

from __future__ import annotations

import pytest

from lab import host
from lab.problem import LabError

MAIN = "http://mirror.example/debian/|Debian|main|bookworm"
UPDATES = "http://mirror.example/debian/|Debian|main|bookworm-updates"
SECURITY = "http://mirror.example/debian-security/|Debian|main|bookworm-security"
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
