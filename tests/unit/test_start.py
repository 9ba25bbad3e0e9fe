"""How a daemon starts, and the line that it ends with when it can't."""

import faulthandler
import signal
import subprocess
import sys
from dataclasses import dataclass

import pytest

from srv6mgrd.single_instance import single_instance
from srv6mgrd.start import start


@dataclass(frozen=True)
class Settings:
    folder: str
    log_level: str = "info"


class TroubleError(Exception):
    pass


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Starts a daemon with these arguments; returns the settings that it ran with, if it did."""
    ran = []

    async def noting(settings):
        ran.append(settings)

    def starting(*arguments, does=noting, settings=None, **more):
        monkeypatch.setattr(sys, "argv", ["srv6-testd", *arguments])
        given = settings or Settings(str(tmp_path))
        start("srv6-testd", "One.", lambda path: given, does, (TroubleError,), **more)
        return ran

    return starting


def test_it_runs(run, tmp_path):
    assert run(single_instance_in=lambda s: s.folder) == [Settings(str(tmp_path))]


def test_one_at_a_time_where_there_may_be_one_only(run, tmp_path):
    with single_instance(tmp_path, "srv6-testd"):
        assert run()
        with pytest.raises(SystemExit, match="srv6-testd: already running as process"):
            run(single_instance_in=lambda s: s.folder)


def test_what_it_says_when_it_fails(run):
    async def failing(_):
        raise TroubleError("redis: is down; start it")

    with pytest.raises(SystemExit, match=r"^srv6-testd: redis: is down; start it$"):
        run(does=failing)


def test_an_error_of_its_own_is_reported_whole(run):
    async def failing(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(does=failing)


def test_a_level_that_there_is_not(run):
    with pytest.raises(SystemExit, match="log_level = 'loud' is unknown; write one of debug, info"):
        run(settings=Settings("", "loud"))


def test_an_option_of_its_own(run, capsys):
    def options(parser):
        parser.add_argument("--version", action="version", version="1.2")

    with pytest.raises(SystemExit) as end:
        run("--version", options=options)
    assert (end.value.code, capsys.readouterr().out) == (0, "1.2\n")


HANGS = """
import sys, threading, time
from types import SimpleNamespace
from srv6mgrd.start import start

async def hang(_):
    threading.Thread(target=threading.Event().wait, name="other", daemon=True).start()
    print("ready", flush=True)
    time.sleep(60)

start("srv6-testd", "One.", lambda _: SimpleNamespace(log_level="info"), hang)
"""


def test_a_daemon_that_hangs_shows_where_on_sigusr1_and_goes_on():
    with subprocess.Popen(
        [sys.executable, "-c", HANGS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGUSR1)
        # Of each thread one line that begins with it; the main one comes last.
        stacks = []
        while not any("in hang" in line for line in stacks):
            stacks.append(child.stderr.readline())
        assert child.poll() is None
        child.kill()
    assert sum("hread 0x" in line for line in stacks) == 2


@pytest.fixture(autouse=True)
def _leave_the_handlers_of_pytest(monkeypatch):
    monkeypatch.setattr(faulthandler, "enable", lambda **_: None)
    monkeypatch.setattr(faulthandler, "register", lambda *_, **__: None)
