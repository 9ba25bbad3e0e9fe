"""srv6ctl itself: commands, completion, how it ends, how long it takes to begin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from srv6mgrd.cli.problem import Exit
from srv6mgrd.cli.units import ago, ns_of, seconds_of, short
from tests.unit.cli.conftest import SID

ROOT = Path(__file__).parents[3]
# What takes long to import, or can't be everywhere.
HEAVY = ("rich", "pyroute2", "sysrepo", "libyang", "grpc", "redis")


def test_help_names_every_command(ctl):
    shown = ctl.run("--help").out
    for name in ("show", "explain", "plan", "apply", "diff", "rollback", "confirm", "completion"):
        assert f"\n  {name} " in shown


@pytest.mark.parametrize("arguments", [["nonsense"], ["show", "nonsense"], ["plan"]])
def test_usage_errors_have_status_2(ctl, arguments):
    assert ctl.run(*arguments).status == Exit.USAGE


def test_bad_settings_are_reported(ctl, tmp_path):
    (tmp_path / "settings.toml").write_text("nonsense = 1\n")
    shown = ctl.run("show", "sids")
    assert shown.status == Exit.USAGE
    assert "nonsense is unknown" in shown.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(ctl, shell):
    assert "_SRV6CTL_COMPLETE" in ctl.run("completion", shell).out


def test_sids_are_completed(ctl, monkeypatch):
    ctl.report()
    line = f"srv6ctl --config {ctl._settings} explain fc"
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", "4")
    monkeypatch.setenv("_SRV6CTL_COMPLETE", "bash_complete")
    assert SID in ctl.run().out


def test_what_is_heavy_is_imported_when_needed():
    code = (
        "import sys; sys.argv = ['srv6ctl', '--help']; from srv6mgrd.cli.main import main; main();"
        f"print(*(m for m in {HEAVY} if m in sys.modules), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stderr.strip() == ""


def test_a_reader_that_goes_is_no_error():
    command = [sys.executable, "-m", "srv6mgrd.cli.main", "--help"]
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT
    )
    os.close(writing)
    assert ran.stderr == ""
    assert ran.returncode == Exit.BROKEN_PIPE


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (7, "7"), (0.5, "0.5"), (999, "999"), (1000, "1k"), (12345, "12.3k"),
     (999_600, "1M"), (3.2e9, "3.2G")],
)  # fmt: skip
def test_short(value, text):
    assert short(value) == text


def test_times():
    assert [seconds_of(t) for t in ("90", "90s", "10m", "1h", "1d")] == [90, 90, 600, 3600, 86400]
    for text in ("", "soon", "0", "2d", "-1"):
        with pytest.raises(ValueError, match=r"time|between"):
            seconds_of(text)
    assert ago(0, 5) == "never"
    assert ago(10**9, 62 * 10**9) == "61 s"
    assert ago(10**9, 301 * 10**9) == "5 min"
    assert ns_of("1970-01-01T00:00:01.500000000+00:00") == 1_500_000_000
