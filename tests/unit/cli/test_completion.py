"""Completion as a shell asks for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import SID

ROOT = Path(__file__).parents[3]


@pytest.fixture
def place(ctl, tmp_path):
    """A folder with srv6ctl in it; what it completes is of the store of ``ctl``."""
    ctl.report()
    program = tmp_path / "srv6ctl"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m srv6mgrd.cli.main "$@"\n'
    )
    program.chmod(0o755)
    return tmp_path


def asked(place, script, variables=None):
    """The words that bash prints."""
    environment = {**os.environ, "PATH": f"{place}:{os.environ['PATH']}", **(variables or {})}
    ran = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=place,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def in_bash(place, *words):
    """What bash offers for the last of these words of a command line."""
    line = " ".join(f"'{word}'" for word in words)
    return asked(
        place,
        'eval "$(srv6ctl completion bash)" && complete -p srv6ctl >/dev/null || exit 1;'
        f" COMP_WORDS=({line}); COMP_CWORD={len(words) - 1};"
        ' handler=$(complete -p srv6ctl | sed "s/.*-F \\([^ ]*\\).*/\\1/");'
        ' $handler srv6ctl; printf "%s\\n" "${COMPREPLY[@]}"',
    )


def test_bash_offers_commands(place):
    assert in_bash(place, "srv6ctl", "ro") == ["rollback"]


def test_bash_offers_what_the_node_has(place, ctl):
    settings = str(place / "settings.toml")
    assert in_bash(place, "srv6ctl", "--config", settings, "explain", "fc") == [SID]


@pytest.mark.parametrize("asking", [{"COMP_CWORD": "1"}, {"COMP_CWORD": "ro"}], ids=["zsh", "fish"])
def test_what_the_scripts_of_zsh_and_fish_ask(place, request, asking):
    """The shells themselves run in the suite ``packages``."""
    shell = request.node.callspec.id
    script = f"_SRV6CTL_COMPLETE={shell}_complete COMP_WORDS='srv6ctl ro' srv6ctl"
    assert "rollback" in " ".join(asked(place, script, asking))
    reported = asked(place, f"srv6ctl completion {shell}")
    assert f"_SRV6CTL_COMPLETE={shell}_complete" in reported
