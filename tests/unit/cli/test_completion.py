"""Completion as a shell does it: its script is loaded by the shell itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import SID

ROOT = Path(__file__).parents[3]


@pytest.fixture
def place(ctl, tmp_path):
    """A folder with srv6ctl in it; what it completes is of the store of ``ctl``."""
    ctl.tell()
    program = tmp_path / "srv6ctl"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m srv6mgrd.cli.main "$@"\n'
    )
    program.chmod(0o755)
    return tmp_path


def asked(place, shell, script):
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    environment = {**os.environ, "PATH": f"{place}:{os.environ['PATH']}"}
    ran = subprocess.run(
        [found, *(["-f"] if shell == "zsh" else []), "-c", script],
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
        "bash",
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


def test_fish_offers_commands(place):
    script = "srv6ctl completion fish | source; complete -C 'srv6ctl ro'"
    assert asked(place, "fish", script)[0] == "rollback"


def test_zsh_takes_the_script(place):
    script = (
        'autoload -Uz compinit; compinit -u -D; eval "$(srv6ctl completion zsh)";'
        " print $_comps[srv6ctl]"
    )
    assert asked(place, "zsh", script) == ["_srv6ctl_completion"]
